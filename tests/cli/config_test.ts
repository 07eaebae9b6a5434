/** The user's configuration: its verb, rules, profiles, default models, and the calls that ignore it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { RunEvent } from "../../src/run/events.ts";
import { type Called, ending, events } from "../support/reprise.ts";
import { startAnyApi } from "./any_api.ts";
import { calling, decisions, NEW_RUN, shellArgv, shellLine } from "./changes.ts";
import { assertError, configure, HELLO, Place, readsThenAnswers } from "./harness.ts";

/** Variables that leave the model to the configuration. */
const NO_MODEL = { REPRISE_MODEL: "" };

function configOf(place: Place): string {
  return `${place.sandbox.directory}/.config/reprise/config.json`;
}

function started(called: Called): Extract<RunEvent, { type: "run.started" }> {
  const found = events(called).find((event) => event.type === "run.started");
  if (found?.type !== "run.started") throw new Error(`No run.started: ${called.stdout}${called.stderr}`);
  return found;
}

test("config set writes a member for the user only, and config get prints it", async () => {
  await using place = new Place([]);
  const set = async (...args: readonly string[]) => {
    const called = await place.call(["config", "set", ...args]);
    assert.equal(called.code, 0, called.stderr);
    assert.equal(called.stdout, "");
  };
  await set("model", "gpt-5.6");
  await set("models.anthropic", "claude-sonnet-4");
  await set("profiles.work.base_url", "https://work.example/v1");
  await set("allow", "shell:git status", "write:src/{a,b}/**");
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(configOf(place))), {
    model: "gpt-5.6",
    models: { anthropic: "claude-sonnet-4" },
    profiles: { work: { base_url: "https://work.example/v1" } },
    allow: ["shell:git status", "write:src/{a,b}/**"],
  });
  assert.equal((Deno.statSync(configOf(place)).mode ?? 0) & 0o777, 0o600);
  const got = async (...args: readonly string[]) =>
    (await place.call(["config", args.length === 0 ? "list" : "get", ...args])).stdout;
  assert.equal(await got("model"), "gpt-5.6\n");
  assert.equal(await got("allow"), "shell:git status\nwrite:src/{a,b}/**\n");
  assert.deepEqual(JSON.parse(await got("profiles")), { work: { base_url: "https://work.example/v1" } });
  assert.deepEqual(JSON.parse(await got("--json", "models.anthropic")), "claude-sonnet-4");
  assert.equal((await place.call(["config", "path"])).stdout, `${configOf(place)}\n`);
});

test("config set without a value removes a member, and what it leaves empty", async () => {
  await using place = new Place([]);
  configure(place.sandbox, { model: "m", profiles: { work: { model: "w" } } });
  await place.call(["config", "set", "profiles.work.model"]);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(configOf(place))), { model: "m" });
  const called = await place.call(["config", "get", "--json", "profiles"]);
  assertError(called, { code: "usage", exit: 2, says: /"profiles": it is not set/ });
});

test("config set refuses what no run could use, and leaves the file unchanged", async () => {
  await using place = new Place([]);
  configure(place.sandbox, { model: "m" });
  const before = Deno.readTextFileSync(configOf(place));
  const refused = [
    [["api_key", "sk-1"], "bad_configuration", /"api_key" is not a setting/],
    [["profiles.work.api_key", "sk-1"], "bad_configuration", /"profiles.work.api_key" is not a setting/],
    [["models.nonsense", "m"], "bad_configuration", /"models.nonsense" is not a setting/],
    [["provider", "nonsense"], "usage", /provider "nonsense"/],
    [["base_url", "ftp://x"], "bad_url", /ftp/],
    [["allow", "nonsense"], "bad_configuration", /rule of the configuration.*nonsense/],
    [["model", "a", "b"], "usage", /2 values/],
    [["__proto__.x", "a"], "usage", /name of a member/],
  ] as const;
  for (const [args, code, says] of refused) {
    assertError(await place.call(["config", "set", "--json", ...args]), { code, exit: 2, says });
  }
  assert.equal(Deno.readTextFileSync(configOf(place)), before);
});

test("config set --dry-run checks the value and writes nothing", async () => {
  await using place = new Place([]);
  const called = await place.call(["config", "set", "--json", "--dry-run", "model", "m"]);
  assert.deepEqual(JSON.parse(called.stdout), {
    path: configOf(place),
    name: "model",
    value: "m",
    written: false,
    type: "dry_run",
    dry_run: true,
    verb: "config",
    changes: [{ action: "replace", what: "file", name: configOf(place) }],
  });
  assert.throws(() => Deno.statSync(configOf(place)), Deno.errors.NotFound);
});

test("config set keeps a link to the file", async () => {
  await using place = new Place([]);
  configure(place.sandbox, { model: "m" });
  const real = `${place.sandbox.directory}/dotfiles.json`;
  Deno.renameSync(configOf(place), real);
  Deno.symlinkSync(real, configOf(place));
  await place.call(["config", "set", "model", "n"]);
  assert.ok(Deno.lstatSync(configOf(place)).isSymlink);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(real)), { model: "n" });
});

test.long("rules of the user's configuration allow and deny calls, and run.started names them", async () => {
  await using place = new Place(calling(shellArgv("touch", "x"), shellArgv("rm", "a.txt"), shellLine("ls")));
  configure(place.sandbox, { allow: ["shell:touch *"], deny: ["shell:rm **"] });
  const called = await place.call([...NEW_RUN, "Go"]);
  assert.equal(called.code, 0, called.stdout);
  assert.deepEqual(started(called).config_rules, ["allow shell:touch *", "deny shell:rm **"]);
  assert.deepEqual(decisions(place), [
    "shell: allowed, allowed_by_rule (shell:touch *)",
    "shell: denied, denied_by_rule (shell:rm **)",
    "shell: denied, not_allowed",
  ]);
  assert.deepEqual(place.sandbox.turns("s")[0].pins.permissions, [
    "read",
    "allow shell:touch *",
    "deny shell:rm **",
  ]);
});

test("a denial of a flag wins over a rule of the configuration that allows", async () => {
  await using place = new Place(calling(shellArgv("touch", "x")));
  configure(place.sandbox, { allow: ["shell"] });
  await place.call([...NEW_RUN, "--deny", "shell", "Go"]);
  assert.deepEqual(decisions(place), ["shell: denied, denied_by_rule (shell)"]);
});

test("each provider has a default model of its own", async () => {
  await using api = startAnyApi();
  await using place = new Place([]);
  const env = { ...NO_MODEL, REPRISE_BASE_URL: api.origin, ANTHROPIC_API_KEY: "sk-test" };
  configure(place.sandbox, { model: "gpt-usual", models: { anthropic: "claude-usual" } });
  const modelOf = async (...args: readonly string[]) => {
    const called = await place.call(["run", "--json", ...args, "Hi"], { env });
    assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
    return started(called).model;
  };
  assert.equal(await modelOf("--new", "-s", "a"), "gpt-usual");
  assert.equal(await modelOf("-p", "anthropic", "--new", "-s", "b"), "claude-usual");
  assert.equal(await modelOf("-p", "anthropic", "-m", "claude-other", "--new", "-s", "c"), "claude-other");
  // A session keeps its model, but not for another provider.
  assert.equal(await modelOf("-s", "c"), "claude-other");
  assert.equal(await modelOf("-s", "a", "-p", "anthropic"), "claude-usual");
});

test("--profile gives the flags that are not given; the variable and the member replace other members", async () => {
  await using place = new Place(() => HELLO);
  await using other = new Place(() => HELLO);
  const env = { ...NO_MODEL, OPENAI_BASE_URL: "" };
  configure(place.sandbox, {
    model: "m-usual",
    base_url: other.server.baseUrl,
    profiles: {
      work: { model: "m-work", base_url: place.server.baseUrl, effort: "low", allow: ["shell:true"] },
      other: { model: "m-other" },
    },
  });
  const run = async (args: readonly string[], more: Record<string, string> = {}) => {
    const called = await place.call(["run", "--json", ...args, "Hi"], { env: { ...env, ...more } });
    assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
    return called;
  };
  const work = started(await run(["--profile", "work", "--new", "-s", "a"]));
  assert.deepEqual([work.model, work.config_rules], ["m-work", ["allow shell:true"]]);
  assert.equal(place.server.requests.length, 1, "the profile's base URL is asked");
  assert.equal(started(await run(["--new", "-s", "b"])).model, "m-usual");
  assert.equal(other.server.requests.length, 1);
  assert.equal(started(await run(["--new", "-s", "c"], { REPRISE_PROFILE: "other" })).model, "m-other");
  const given = await run(["--profile", "work", "-m", "m-given", "--new", "-s", "d"]);
  assert.equal(started(given).model, "m-given");
  // As with the flags themselves, a session's model and endpoint give way.
  const next = await run(["--profile", "work", "-s", "c", "--base-url", place.server.baseUrl]);
  assert.equal(started(next).model, "m-work");
  assert.equal(ending(given).resume, `reprise run -s d --profile work "…"`);
  configure(place.sandbox, { ...JSON.parse(Deno.readTextFileSync(configOf(place))), profile: "other" });
  assert.equal(started(await run(["--new", "-s", "e"])).model, "m-other");
});

test("a profile of one provider never leads the key of another to its server, or to the usual server", async () => {
  await using api = startAnyApi();
  await using place = new Place([]);
  configure(place.sandbox, {
    base_url: api.origin,
    model: "m-usual",
    profiles: {
      claude: { provider: "anthropic", model: "claude-x" },
      local: { provider: "compatible", base_url: api.origin, model: "m-local" },
    },
  });
  const env = { ...NO_MODEL, OPENAI_BASE_URL: "", ANTHROPIC_API_KEY: "sk-test" };
  const endpoint = async (profile: string, more: Record<string, string> = {}) => {
    const { stdout } = await place.call(["doctor", "--json"], {
      env: { ...env, REPRISE_PROFILE: profile, ...more },
    });
    const { checks } = JSON.parse(stdout) as { checks: readonly { name: string; detail: string }[] };
    return checks.find(({ name }) => name === "endpoint")?.detail ?? stdout;
  };
  const official = /anthropic \(\w+\) at https:\/\/api\.anthropic\.com\/v1 \(default\)/;
  assert.match(await endpoint("claude"), official);
  assert.ok((await endpoint("local")).includes(api.origin));
});

test("a profile that is not there is exit 2, with the names of those that are", async () => {
  await using place = new Place([]);
  configure(place.sandbox, { profiles: { work: { model: "m" } } });
  for (const [args, env] of [[["--profile", "wrok"], {}], [[], { REPRISE_PROFILE: "wrok" }]] as const) {
    const called = await place.call(["run", "--json", ...args, "Hi"], { env });
    assertError(called, {
      code: "bad_configuration",
      exit: 2,
      says: /profile "wrok"/,
      hint: /Profiles: work/,
    });
  }
});

test.process("run --fixture ignores rules, profiles and defaults of the user", async () => {
  await using place = new Place(readsThenAnswers);
  const folder = `${place.sandbox.directory}/fixture`;
  const recorded = await place.call([
    "run",
    "--json",
    "--new",
    "-s",
    "s",
    "--record",
    folder,
    "Look at a.txt",
  ]);
  assert.equal(recorded.code, 0, recorded.stdout);
  const play = ["run", "--json", "--new", "-s", "s", "--fixture", folder, "Look at a.txt"];
  const plain = await place.call([...play, "--home", `${place.sandbox.directory}/plain`]);
  assert.equal(plain.code, 0, plain.stdout);
  configure(place.sandbox, {
    model: "m-usual",
    effort: "high",
    provider: "anthropic",
    profile: "work",
    allow: ["shell"],
    deny: ["read"],
    models: { openai: "m-default" },
    profiles: { work: { model: "m-work", deny: ["read_file"] } },
  });
  const configured = await place.call([...play, "--home", `${place.sandbox.directory}/configured`], {
    env: { REPRISE_PROFILE: "nonsense" },
  });
  const withoutHome = ({ stdout }: Called) => stdout.replace(/"path":"[^"]*"/, "").replace(/--home \S+/, "");
  assert.equal(withoutHome(configured), withoutHome(plain));
  const tested = await place.call(["test", folder, "--reporter", "json"], { env: { REPRISE_PROFILE: "x" } });
  assert.equal(tested.code, 0, tested.stdout);
});
