/** The user's configuration: its verb, rules, profiles, default models, and the calls that ignore it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type Called, ending, events } from "../support/reprise.ts";
import { startAnyApi } from "./any_api.ts";
import { calling, decisions, NEW_RUN, shellArgv, shellLine } from "./changes.ts";
import { assertError, configure, HELLO, json, ok, Place, readsThenAnswers } from "./harness.ts";

/** Variables that leave the model to the configuration. */
const NO_MODEL = { REPRISE_MODEL: "" };

function configOf(place: Place): string {
  return `${place.sandbox.directory}/.config/reprise/config.json`;
}

function started(called: Called): Json {
  const found = events(called).find(({ type }) => type === "run.started");
  assert.ok(found !== undefined, `${called.stdout}${called.stderr}`);
  return found;
}

test("config set writes a member for the user only, without a value removes it, and config get prints it", async () => {
  await using place = new Place([]);
  const config = (...args: readonly string[]) => ok(place, ["config", ...args]);
  await config("set", "model", "gpt-5.6");
  await config("set", "models.anthropic", "claude-sonnet-4");
  await config("set", "profiles.work.base_url", "https://work.example/v1");
  assert.equal(await config("set", "allow", "shell:git status", "write:src/{a,b}/**"), "");
  assert.equal((Deno.statSync(configOf(place)).mode ?? 0) & 0o777, 0o600);
  assert.equal(await config("get", "model"), "gpt-5.6\n");
  assert.equal(await config("get", "allow"), "shell:git status\nwrite:src/{a,b}/**\n");
  assert.deepEqual(JSON.parse(await config("get", "profiles")), {
    work: { base_url: "https://work.example/v1" },
  });
  assert.equal(await config("get", "--json", "models.anthropic"), '"claude-sonnet-4"\n');
  assert.equal(await config("path"), `${configOf(place)}\n`);
  // The file may be a link, which stays.
  const real = `${place.sandbox.directory}/dotfiles.json`;
  Deno.renameSync(configOf(place), real);
  Deno.symlinkSync(real, configOf(place));
  await config("set", "profiles.work.base_url");
  assert.ok(Deno.lstatSync(configOf(place)).isSymlink);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(real)), {
    model: "gpt-5.6",
    models: { anthropic: "claude-sonnet-4" },
    allow: ["shell:git status", "write:src/{a,b}/**"],
  });
  const unset = await place.call(["config", "get", "--json", "profiles"]);
  assertError(unset, { code: "usage", exit: 2, says: /"profiles": it is not set/ });
});

test("config set refuses what no run could use, and --dry-run writes nothing", async () => {
  await using place = new Place([]);
  const dry = await json(place, ["config", "set", "--dry-run", "model", "m"]);
  assert.deepEqual([dry.value, dry.written], ["m", false]);
  assert.deepEqual(dry.changes, [{ action: "replace", what: "file", name: configOf(place) }]);
  const refused = [
    [["profiles.work.api_key", "sk-1"], "bad_configuration", /"profiles.work.api_key" is not a setting/],
    [["provider", "nonsense"], "usage", /provider "nonsense"/],
    [["base_url", "ftp://x"], "bad_url", /ftp/],
    [["allow", "nonsense"], "bad_configuration", /rule of the configuration.*nonsense/],
    [["__proto__.x", "a"], "usage", /name of a member/],
  ] as const;
  for (const [args, code, says] of refused) {
    assertError(await place.call(["config", "set", "--json", ...args]), { code, exit: 2, says });
  }
  assert.throws(() => Deno.statSync(configOf(place)), Deno.errors.NotFound);
});

test.long("rules of the user's configuration allow and deny calls, run.started names them, and a flag that denies wins", async () => {
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
  const { permissions } = place.sandbox.turns("s")[0].pins;
  assert.deepEqual(permissions, ["read", "allow shell:touch *", "deny shell:rm **"]);
  await ok(place, ["run", "--json", "--new", "-s", "t", "--deny", "shell", "Go"]);
  assert.deepEqual(
    new Set(decisions(place, "t").map((each) => each.split(",")[0])),
    new Set(["shell: denied"]),
  );
});

test("each provider has a default model of its own", async () => {
  await using api = startAnyApi();
  await using place = new Place([]);
  const env = { ...NO_MODEL, REPRISE_BASE_URL: api.origin, ANTHROPIC_API_KEY: "sk-test" };
  configure(place.sandbox, { model: "gpt-usual", models: { anthropic: "claude-usual" } });
  const modelOf = async (...args: readonly string[]) =>
    started(await place.call(["run", "--json", ...args, "Hi"], { env })).model;
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
  const config = {
    model: "m-usual",
    base_url: other.server.baseUrl,
    profiles: {
      work: { model: "m-work", base_url: place.server.baseUrl, effort: "low", allow: ["shell:true"] },
      other: { model: "m-other" },
    },
  };
  configure(place.sandbox, config);
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    place.call(["run", "--json", ...args, "Hi"], { env: { ...NO_MODEL, OPENAI_BASE_URL: "", ...more } });
  const work = started(await run(["--profile", "work", "--new", "-s", "a"]));
  assert.deepEqual([work.model, work.config_rules], ["m-work", ["allow shell:true"]]);
  assert.equal(place.server.requests.length, 1, "the profile's base URL is asked");
  assert.equal(started(await run(["--new", "-s", "b"])).model, "m-usual");
  assert.equal(other.server.requests.length, 1);
  assert.equal(started(await run(["--new", "-s", "c"], { REPRISE_PROFILE: "other" })).model, "m-other");
  const given = await run(["--profile", "work", "-m", "m-given", "--new", "-s", "d"]);
  assert.equal(started(given).model, "m-given");
  assert.equal(ending(given).resume, `reprise run -s d --profile work "…"`);
  // As with the flags themselves, a session's model and endpoint give way.
  const next = await run(["--profile", "work", "-s", "c", "--base-url", place.server.baseUrl]);
  assert.equal(started(next).model, "m-work");
  configure(place.sandbox, { ...config, profile: "other" });
  assert.equal(started(await run(["--new", "-s", "e"])).model, "m-other");
  for (const [args, env] of [[["--profile", "wrok"], {}], [[], { REPRISE_PROFILE: "wrok" }]] as const) {
    const hint = /Profiles: other, work|Profiles: work, other/;
    assertError(await run(args, env), { code: "bad_configuration", exit: 2, says: /profile "wrok"/, hint });
  }
});

test("a profile of one provider never leads the key of another to its server, or to the usual server", async () => {
  await using place = new Place([]);
  const local = "http://127.0.0.1:9/v1";
  configure(place.sandbox, {
    base_url: local,
    model: "m-usual",
    profiles: {
      claude: { provider: "anthropic", model: "claude-x" },
      local: { provider: "compatible", base_url: local, model: "m-local" },
    },
  });
  const endpoint = async (profile: string) => {
    const env = { ...NO_MODEL, OPENAI_BASE_URL: "", ANTHROPIC_API_KEY: "sk-test", REPRISE_PROFILE: profile };
    const { checks } = JSON.parse((await place.call(["doctor", "--json"], { env })).stdout);
    return checks.find(({ name }: Json) => name === "endpoint").detail;
  };
  const official = /anthropic \(\w+\) at https:\/\/api\.anthropic\.com\/v1 \(default\)/;
  assert.match(await endpoint("claude"), official);
  assert.ok((await endpoint("local")).includes(local));
});

test.process("run --fixture ignores rules, profiles and defaults of the user", async () => {
  await using place = new Place(readsThenAnswers);
  const folder = `${place.sandbox.directory}/fixture`;
  const run = ["run", "--json", "--new", "-s", "s"];
  await ok(place, [...run, "--record", folder, "Look at a.txt"]);
  const played = (home: string, env: Record<string, string> = {}) =>
    ok(
      place,
      [...run, "--fixture", folder, "Look at a.txt", "--home", `${place.sandbox.directory}/${home}`],
      env,
    );
  const plain = await played("plain");
  configure(place.sandbox, {
    ...{ model: "m-usual", effort: "high", provider: "anthropic", profile: "work" },
    ...{ allow: ["shell"], deny: ["read"], models: { openai: "m-default" } },
    profiles: { work: { model: "m-work", deny: ["read_file"] } },
  });
  const configured = await played("configured", { REPRISE_PROFILE: "nonsense" });
  assert.equal(configured.replaceAll("/configured", "/plain"), plain);
  await ok(place, ["test", folder, "--reporter", "json"], { REPRISE_PROFILE: "x" });
});
