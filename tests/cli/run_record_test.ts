/** `run --record`: a recorded run is a fixture that plays anywhere, without the tools, the workspace and the network. */
import assert from "node:assert/strict";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import { type Json, textsBelow } from "../support/files.ts";
import { type Called, ending, events, said, Sandbox } from "../support/reprise.ts";
import { answer, rateLimited, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { httpError } from "../support/scripted_api/responses_script.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";
import { test } from "../support/test.ts";
import { assertError, HELLO, KEY, Place, readsThenAnswers } from "./harness.ts";

/** A secret of the environment, without any letter that JSON escapes. */
const CANARY = "canary-5be2c1d90f7a43e8";

/** Runs the session `one` with `--record` into a folder; returns the call and the folder. */
async function recorded(
  place: Place,
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const folder = `${place.sandbox.directory}/${name}`;
  const called = await place.call(["run", "--json", "--record", folder, ...args], { env });
  return { called, folder };
}

/** Plays a recorded run of the session `one` in a sandbox of its own, without a key. */
async function play(folder: string, sandbox: Sandbox): Promise<Called> {
  const { steps: [{ args: [verb, ...args] }] } = JSON.parse(Deno.readTextFileSync(`${folder}/session.json`));
  const files = [...textsBelow(folder, "lock")].filter(([path]) => path.startsWith("start/"));
  for (const [path, text] of files) {
    const to = path.replace("start", `${sandbox.home}/sessions/one`);
    Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(to, text, { mode: 0o600 });
  }
  const env = { TZ: "Pacific/Chatham" };
  return await sandbox.call([verb, "--json", "--fixture", folder, ...args], { cwd: sandbox.directory, env });
}

/** The turns of a session's first runs, without what a played run lacks: times, its key and the loopback port. */
function turnsOf(sandbox: Sandbox, runs = Infinity): Json[] {
  const turns = sandbox.turns("one").filter(({ run }) => run <= runs);
  const { endpoint, portless = endpoint } = turns[0].pins.fingerprint;
  const text = JSON.stringify(turns).replaceAll(endpoint, portless)
    .replaceAll(/,"(?:portless|key)":"[0-9a-f]+"/g, "");
  return (JSON.parse(text) as Json[]).map(({ at: _, prev: __, sum: ___, ...turn }) =>
    "pins" in turn ? { ...turn, pins: { ...turn.pins, workspace: "" } } : turn
  );
}

/** A 429, parallel calls, a denied call beside a long output, a refusal that is repaired, an answer. */
function eventful(): Script {
  const answers = [
    rateLimited({ retryAfter: "0.01" }),
    answer([
      reasoning("Both files"),
      ...["a.txt", "none.txt"].map((path) => functionCall("read_file", { path, offset: null, limit: null })),
    ]),
    answer([
      functionCall("shell", { command: "seq 20000", argv: null, timeout_seconds: null }),
      functionCall("write_file", { path: "b.txt", content: "b" }),
    ]),
    httpError(400, { message: "Unknown parameter: 'include'.", param: "include", code: "unknown_parameter" }),
  ];
  return () => answers.shift() ?? HELLO;
}

test.process("an eventful run of a new session, and a run that continues it, play with the same requests and turns in any directory", async () => {
  await using place = new Place(eventful(), { rules: "none" });
  const flags = ["--allow", "shell:seq 20000", "--effort", "low"];
  const first = await recorded(place, "first", ["--new", "-s", "one", ...flags, "Look around"]);
  assert.equal(first.called.code, 0, said(first.called));
  const notice = events(first.called).find((event) => event.type === "notice" && event.kind === "recorded");
  const facts = { path: first.folder, exchanges: 5, calls: 4, secrets: 0, tested: true };
  assert.deepEqual(notice, { type: "notice", kind: "recorded", ...facts });
  const { calls } = JSON.parse(Deno.readTextFileSync(`${first.folder}/tools.json`));
  assert.deepEqual(calls[2].full, { file: "tools/0001" });
  const files = textsBelow(first.folder, "lock");
  assert.match(files.get("tools/0001") ?? "", /^1\n2\n[^]*\n20000$/m);
  for (const [name, text] of files) {
    assert.ok(!text.includes(place.sandbox.directory), `a path is in ${name}`);
  }
  const second = await recorded(place, "second", ["-s", "one", "And now?"]);
  assert.equal(second.called.code, 0, said(second.called));

  const bodies = place.server.requests.map(({ text }) => JSON.parse(text));
  const sent = [...exchangesOf(first.folder), ...exchangesOf(second.folder)];
  assert.deepEqual(sent.map(({ request }) => request.body), bodies);
  assert.deepEqual(sent.slice(0, 5).map(({ response }) => response.status), [429, 200, 200, 400, 200]);
  for (const [{ folder }, runs] of [[first, 1], [first, 1], [second, 2]] as const) {
    await using there = new Sandbox();
    const played = await play(folder, there);
    assert.equal(played.code, 0, said(played));
    assert.deepEqual(turnsOf(there), turnsOf(place.sandbox, runs));
    assert.throws(() => Deno.statSync(`${there.directory}/b.txt`), Deno.errors.NotFound);
  }
});

test.process("secrets of prompt, environment and tool output are in no file of a recorded run, and a history with one is refused", async () => {
  await using place = new Place(readsThenAnswers);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, `the token is ${CANARY}\n`);
  const env = { OPENAI_CANARY_TOKEN: CANARY };
  const kept = await recorded(place, "kept", ["--new", "-s", "one", `Is it ${CANARY}?`], env);
  assert.equal(kept.called.code, 0, said(kept.called));
  for (const [name, text] of textsBelow(kept.folder, "lock")) {
    assert.ok(
      !text.includes(CANARY) && !text.includes(KEY) && !text.includes(btoa(CANARY).slice(0, 20)),
      name,
    );
  }
  assert.ok(JSON.parse(Deno.readTextFileSync(`${kept.folder}/fixture.json`)).redactions !== undefined);
  await using there = new Sandbox();
  const played = await play(kept.folder, there);
  assert.equal(played.code, 0, said(played));

  const later = await recorded(place, "later", ["-s", "one", "Go on"], env);
  // The run itself is as it would be; its history cannot be kept without the secret.
  assertError(later.called, { code: "secret_left", exit: 7, says: /start\/.*OPENAI_CANARY_TOKEN/ });
  assert.equal(ending(later.called).state, "completed");
  assert.equal(place.sandbox.turns("one").at(-1).events.at(-1).exit_code, 0);
  assert.deepEqual([...textsBelow(later.folder, "lock")], [], "nothing that could be taken for a fixture");
});

test("a secret that names a new session is replaced first, in whatever letters; one in a given name is refused", async () => {
  await using place = new Place([HELLO]);
  const secret = "Canary5BE2c1d90f7A43E8";
  const env = { OPENAI_CANARY_TOKEN: secret };
  const { called, folder } = await recorded(place, "kept", [`Is ${secret}`], env);
  assert.equal(called.code, 0, said(called));
  const files = [...textsBelow(folder, "lock")].flat().join("\n");
  assert.ok(!files.toLowerCase().includes("canary5be2"));
  const name = secret.toLowerCase();
  const refused = (await recorded(place, "other", ["--new", "-s", name, "Hi"], env)).called;
  assertError(refused, { code: "secret_left", exit: 7, says: /id of its session.*OPENAI_CANARY_TOKEN/ });
  assert.ok(!said(refused).includes(name));
  assert.equal(place.server.requests.length, 1);
});

test("a recording that cannot be played to the same end says what differs", async () => {
  await using place = new Place([HELLO]);
  // A secret that every request holds by chance: in a replay, the program sends the word itself.
  const env = { OPENAI_CANARY_TOKEN: "read_file" };
  const folder = `${place.sandbox.directory}/kept`;
  const called = await place.call(["run", "--new", "-s", "one", "--record", folder, "Hi"], { env });
  assert.equal(called.code, 0, said(called));
  assert.match(
    called.stderr,
    /: 1 exchange, 0 calls, \d+ secrets replaced; it has no expect\/: played again, step 1, request 1: differs at .*; expected: .*; received: .* \(see reprise test ".*\/kept"\)$/m,
  );
  assert.throws(() => Deno.statSync(`${folder}/expect`), Deno.errors.NotFound);
});
