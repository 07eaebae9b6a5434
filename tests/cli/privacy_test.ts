/** Access of other users and programs: file modes, the working directory, and the key. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message } from "../support/scripted_api/responses.ts";
import { httpError } from "../support/scripted_api/responses_script.ts";
import { assertError, HELLO, KEY, MODEL, Place, readsThenAnswers } from "./harness.ts";
import { textsBelow } from "../support/files.ts";

const BINARY = Deno.env.get("REPRISE_BIN") || undefined;

/** Every path below `directory`, with its mode. */
function modes(directory: string): (readonly [string, string])[] {
  return [...Deno.readDirSync(directory)].flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    const mode = ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
    return [[path, mode] as const, ...entry.isDirectory ? modes(path) : []];
  });
}

function privateUnder(umask: string) {
  return async () => {
    await using place = new Place(readsThenAnswers);
    Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, `${"long line ".repeat(20)}\n`.repeat(400));
    const through = ["sh", "-c", `umask ${umask}; exec "$@"`, "sh"];
    for (const args of [["--new", "-s", "s", "Look"], ["-s", "s", "Again"]]) {
      const called = await place.call(["run", "--json", ...args], { through });
      assert.equal(called.code, 0, called.stdout);
    }
    const { home } = place.sandbox;
    const found = [[home, ((Deno.statSync(home).mode ?? 0) & 0o777).toString(8)] as const, ...modes(home)];
    const wrong = found.filter(([path, mode]) => mode !== (Deno.statSync(path).isDirectory ? "700" : "600"));
    assert.deepEqual(wrong, []);
    assert.ok(
      found.some(([path]) => path.includes("/blobs/")) && found.length > 12,
      "there was something to see",
    );
  };
}

test.process(
  "sessions are private files, whatever the umask: a umask that opens everything",
  privateUnder("000"),
);

test.process("sessions are private files, whatever the umask: the usual umask", privateUnder("022"));

test.process(
  "sessions are private files, whatever the umask: a umask that closes everything",
  privateUnder("077"),
);

// Of the binary alone: from source, the runtime's own cache would get such modes too.
test.process(
  "sessions are private files, whatever the umask: a umask that takes rights from the owner",
  privateUnder(BINARY === undefined ? "027" : "277"),
);

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

test("the key goes to its server and nowhere else: a server that quotes it is not quoted", async () => {
  // The second has no shape by which a key is known.
  for (const key of [KEY, "0f1e2d3c4b5a69788796a5b4c3d2e1f0"]) {
    const quoting = [
      httpError(401, { message: `Incorrect API key provided: ${key}.` }),
      httpError(400, { message: `Bad header: Bearer ${key}` }),
    ];
    for (const response of quoting) {
      await using place = new Place([response], { key });
      const env = { OPENAI_API_KEY: key };
      const { stdout, stderr } = await place.call(["run", "--json", "--debug", "Hi"], { env });
      assert.match(stdout, /Incorrect API key|Bad header/);
      assertNowhere(place, [stdout, stderr], key);
    }
  }
});

test.long("the key goes to its server and nowhere else: a run that fails to connect does not tell it", async () => {
  await using place = new Place([HELLO]);
  const called = await place.call([
    "run",
    "--debug",
    "Hi",
    "--base-url",
    "https://no-such-host.invalid/v1",
  ]);
  assert.equal(called.code, 10);
  assertNowhere(place, [called.stdout, called.stderr]);
});

function assertNowhere(place: Place, outputs: readonly string[], key = KEY): void {
  const files = textsBelow(place.sandbox.home);
  assert.ok(files.size > 0);
  const holding = [...files].filter(([, text]) => text.includes(key)).map(([path]) => path);
  assert.deepEqual(holding, []);
  assert.deepEqual(outputs.filter((text) => text.includes(key)), []);
}
