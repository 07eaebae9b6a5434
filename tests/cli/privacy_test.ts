/** Access of other users and programs: file modes, the working directory, and the key. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message } from "../support/scripted_api/responses.ts";
import { assertError, HELLO, KEY, MODEL, ok, Place, readsThenAnswers } from "./harness.ts";
import { textsBelow } from "../support/files.ts";

/** Every path below `directory`, with its mode. */
function modes(directory: string): (readonly [string, string])[] {
  return [...Deno.readDirSync(directory)].flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    const mode = ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
    return [[path, mode] as const, ...entry.isDirectory ? modes(path) : []];
  });
}

test("nothing in the working directory steers a run: neither configuration files, nor .env, nor a home of its own", async () => {
  await using place = new Place(readsThenAnswers);
  await using stranger = new Place(() => answer([message("Mine now.")]), { key: "sk-planted" });
  const { workspace } = place.sandbox;
  const planted = { model: "m-planted", base_url: stranger.server.baseUrl, home: `${workspace}/home` };
  const environment = [
    `OPENAI_BASE_URL=${stranger.server.baseUrl}`,
    "OPENAI_API_KEY=sk-planted",
    "REPRISE_MODEL=m-planted",
    `REPRISE_HOME=${workspace}/home`,
  ].join("\n");
  for (const directory of [".reprise", ".config/reprise", "reprise"]) {
    Deno.mkdirSync(`${workspace}/${directory}`, { recursive: true });
    Deno.writeTextFileSync(`${workspace}/${directory}/config.json`, JSON.stringify(planted));
  }
  for (const name of ["config.json", "reprise.json", ".reprise.json"]) {
    Deno.writeTextFileSync(`${workspace}/${name}`, JSON.stringify(planted));
  }
  for (const name of [".env", ".env.local"]) Deno.writeTextFileSync(`${workspace}/${name}`, environment);
  const before = modes(workspace);
  await place.session("s");
  const body = place.server.requests[0]?.body as { readonly model: string };
  assert.equal(body.model, MODEL);
  assert.equal(place.sandbox.turns("s").length, 5);
  assert.equal(stranger.server.requests.length, 0);
  assert.deepEqual(modes(workspace), before, "nothing is written there either");
  const bare = await place.call(["run", "--json", "Hi"], { env: { OPENAI_API_KEY: "" } });
  assertError(bare, { code: "missing_key", exit: 2 });
});

test("nothing in the working directory steers a run: a configuration path that is not absolute is not looked up there", async () => {
  await using place = new Place([]);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/config.json`, "{");
  Deno.mkdirSync(`${place.sandbox.workspace}/reprise`);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/reprise/config.json`, "{");
  const called = await place.call(["doctor", "--json"], {
    env: { XDG_CONFIG_HOME: ".", XDG_DATA_HOME: "." },
  });
  assert.equal(called.code, 0, called.stdout);
});

test("the key goes to its server and nowhere else: no file of the home and no output holds it", async () => {
  await using place = new Place(readsThenAnswers);
  const outputs: string[] = [];
  const calls = [
    ["run", "--json", "--new", "-s", "s", "--debug", "Hi"],
    ["run", "-s", "s", "Again"],
    ["run", "-s", "s", "--dry-run", "Again"],
    ["show", "s", "--json"],
    ["run", "-s", "s", "--dry-run", "--body"],
    ["explain", "s"],
    ["fsck", "--all"],
    ["ls", "--json"],
    ["doctor", "--debug"],
  ];
  for (const args of calls) {
    const { code, stdout, stderr } = await place.call(args);
    assert.equal(code, 0, stdout + stderr);
    outputs.push(stdout, stderr);
  }
  assert.equal(place.server.requests[0]?.headers.authorization, `Bearer ${KEY}`);
  assertNowhere(place, outputs);
});

function assertNowhere(place: Place, outputs: readonly string[], key = KEY): void {
  const files = textsBelow(place.sandbox.home);
  assert.ok(files.size > 0);
  const holding = [...files].filter(([, text]) => text.includes(key)).map(([path]) => path);
  assert.deepEqual(holding, []);
  assert.deepEqual(outputs.filter((text) => text.includes(key)), []);
}

const TOKEN = "k7f3q9x2m5v8b1n4w6z0t2";
const SECRETS = { DEPLOY_TOKEN: TOKEN, DEPLOY_SECRETS: '{"password":"plum tree","user":"me"}' };

/** Secrets of a prompt; the second is in no variable and looks like one, the third is a part of a variable's value. */
for (const secret of [TOKEN, "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "plum tree"]) {
  test(`the id of a new session has no part of a secret in its prompt: ${secret}`, async () => {
    await using place = new Place(() => HELLO);
    await ok(place, ["run", `${secret} is refused, why?`], SECRETS);
    const [session] = [...Deno.readDirSync(`${place.sandbox.home}/sessions`)];
    assert.match(session?.name ?? "", /^is-refused-why-[2-9a-z]{4}$/);
    assert.ok(!(await ok(place, ["export", "@last", "--redact", "-"], SECRETS)).includes(secret));
  });
}

test("a redacted export shows no beginning of a secret that the title cuts", async () => {
  await using place = new Place(() => HELLO);
  await ok(place, ["run", "--new", "-s", "cut", `${"w".repeat(59)} ${TOKEN}`], SECRETS);
  await ok(place, ["export", "cut", "cut.jsonl", "--redact"], SECRETS);
  for (const flags of [[], ["--json"], ["--markdown"], ["--html", "-"]]) {
    const shown = await ok(place, ["show", "cut.jsonl", ...flags]);
    assert.ok(shown.includes("wwww") && !shown.includes(TOKEN.slice(0, 8)), shown);
  }
});

test.process("a variable that is not UTF-8 is named, and its value is not printed", async () => {
  await using place = new Place(() => HELLO);
  const through = ["sh", "-c", `OPENAI_API_KEY=$(printf 'sk-hidden-1234\\351') exec "$@"`, "sh"];
  const { code, stdout, stderr } = await place.call(["run", "--json", "--new", "hi"], { through });
  assert.equal(code, 2);
  assert.match(stdout + stderr, /Cannot read the variable OPENAI_API_KEY: its value is not UTF-8/);
  assert.ok(!(stdout + stderr).includes("sk-hidden"));
});
