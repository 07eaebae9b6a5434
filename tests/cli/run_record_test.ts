import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { livePorts } from "../../src/cli/live_ports.ts";
import { createScratch } from "../../src/cli/test/scratch.ts";
import { playStep } from "../../src/cli/test/step.ts";
import { checkStepArguments } from "../../src/cli/step_arguments.ts";
import { sha256Hex } from "../../src/domain/hash.ts";
import { readFixture } from "../../src/fixture/read.ts";
import { unsealed } from "../../src/fixture/seal.ts";
import { scanForValues } from "../../src/fixture/secrets/scan.ts";
import { readSessionFile, type SessionStep } from "../../src/fixture/session/session_file.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { ending, events, Sandbox } from "../support/reprise.ts";
import { answer, rateLimited, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { functionCall, httpError } from "../support/scripted_api/responses_script.ts";
import { assertError, HELLO, KEY, Place, READS_A } from "./harness.ts";
import { bytesBelow } from "../support/files.ts";

/** A secret of the environment, without any letter that JSON escapes. */
const CANARY = "canary-5be2c1d90f7a43e8";
/** The members of a turn that a played run writes otherwise: times, and what hangs together with them. */
const TIMES = ["at", "prev", "sum"];
const WORDS = "Look around";

/** Plays the one step of `fixture` twice: as a process in `sandbox`, and as a step of a test, for what it asks. */
async function play(fixture: string, sandbox: Sandbox) {
  const step = readSessionFile(denoFiles, fixture, checkStepArguments).steps[0] as SessionStep;
  const [verb = "", ...args] = step.args;
  const id = args[args.indexOf("-s") + 1];
  if (bytesBelow(fixture, "lock").has("start/manifest.json")) {
    await copyTo(`${fixture}/start`, `${sandbox.home}/sessions/${id}`);
  }
  const called = await sandbox.call([verb, "--json", "--fixture", fixture, ...args], {
    cwd: sandbox.directory,
    env: { TZ: "Pacific/Chatham" },
  });
  const { signal } = new AbortController();
  const ports = livePorts();
  using scratch = await createScratch(ports, fixture);
  const end = await playStep(step, { ports, scratch, fixture, clock: "2000-01-01T00:00:00.000Z", signal });
  assert.equal(end.exit, called.code, end.said);
  return { called, step, id: String(id), asked: end.requests };
}

async function copyTo(from: string, to: string): Promise<void> {
  for (const [name, bytes] of bytesBelow(from, "lock")) {
    const path = `${to}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    await Deno.writeFile(path, bytes, { mode: 0o600 });
  }
}

/**
 * The turns of a session's first runs, without what a played run cannot have the same: it has no key, and no loopback
 * port in its endpoint.
 */
function turnsOf(sandbox: Sandbox, session: string, without: readonly string[] = TIMES, runs = Infinity) {
  const turns = sandbox.turns(session);
  const { endpoint, portless = endpoint } = turns[0].pins.fingerprint;
  const played = JSON.stringify(turns).replaceAll(endpoint, portless)
    .replaceAll(/,"(?:portless|key)":"[0-9a-f]+"/g, "");
  return (JSON.parse(played) as typeof turns).filter(({ run }) => run <= runs).map((turn) => {
    const kept = Object.fromEntries(Object.entries(turn).filter(([name]) => !without.includes(name)));
    return "pins" in turn ? { ...kept, pins: { ...turn.pins, workspace: "" } } : kept;
  });
}

const sentSums = (fixture: string) =>
  readFixture(denoFiles, fixture).exchanges.map(({ request }) => request.bodySha256);

/** Parallel calls after a 429, a denied one beside a command with a long output, a refusal that is repaired, an answer. */
function eventful(): Script {
  let asked = 0;
  return () => {
    asked += 1;
    if (asked === 1) return rateLimited({ retryAfter: "0.01" });
    if (asked === 2) {
      return answer([
        reasoning("Both files"),
        functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
        functionCall("read_file", { path: "none.txt", offset: null, limit: null }),
      ]);
    }
    if (asked === 3) {
      return answer([
        functionCall("shell", { command: "seq 20000", argv: null, timeout_seconds: null }),
        functionCall("write_file", { path: "b.txt", content: "b" }),
      ]);
    }
    if (asked === 4) {
      return httpError(400, {
        message: "Unknown parameter: 'include'.",
        param: "include",
        code: "unknown_parameter",
      });
    }
    return HELLO;
  };
}

test.process("a recorded run is a fixture that plays anywhere, without the tools, the workspace and the network: an eventful run of a new session, then a run that continues it, with the same requests and files", async () => {
  await using place = new Place(eventful(), { rules: "none" });
  const first = `${place.sandbox.directory}/first`;
  const args = ["--allow", "shell:seq 20000", "--effort", "low", "--record", first];
  const live = await place.call(["run", "--json", "--new", "-s", "one", ...args, WORDS]);
  assert.equal(live.code, 0, live.stdout + live.stderr);
  const reported = events(live).find((event) => event.type === "notice" && event.kind === "recorded");
  const facts = { path: first, exchanges: 5, calls: 4, secrets: 0, tested: true };
  assert.deepEqual(reported, { type: "notice", kind: "recorded", ...facts });
  assert.deepEqual(unsealed(denoFiles, first), { added: [], changed: [], removed: [] });
  const fixture = readFixture(denoFiles, first);
  assert.deepEqual(fixture.exchanges.map(({ response }) => response.status), [429, 200, 200, 400, 200]);
  assert.deepEqual(sentSums(first), place.server.requests.map(({ text }) => sha256Hex(text)));
  const { file, ...big } = JSON.parse(Deno.readTextFileSync(`${first}/tools.json`)).calls[2].full;
  assert.deepEqual([file, big], ["tools/0001", {}]);
  assert.match(Deno.readTextFileSync(`${first}/${file}`), /^1\n2\n[^]*\n20000$/m);
  for (const [name, bytes] of bytesBelow(first, "lock")) {
    const shown = new TextDecoder().decode(bytes);
    assert.ok(!shown.includes(place.sandbox.directory), `${name} holds a path of the machine`);
  }

  const second = `${place.sandbox.directory}/second`;
  const again = await place.call(["run", "--json", "-s", "one", "--record", second, "And now?"]);
  assert.equal(again.code, 0, again.stdout + again.stderr);

  for (const [recorded, runs] of [[first, 1], [second, 2]] as const) {
    await using there = new Sandbox();
    const played = await play(recorded, there);
    assert.equal(played.called.code, 0, played.called.stdout + played.called.stderr);
    assert.deepEqual([played.step.exit, played.step.state], [0, "completed"]);
    assert.deepEqual(played.asked.map(({ body }) => sha256Hex(body)), sentSums(recorded));
    const lived = turnsOf(place.sandbox, "one", TIMES, runs);
    assert.deepEqual(turnsOf(there, "one"), lived);
    assert.throws(() => Deno.statSync(`${there.directory}/b.txt`), Deno.errors.NotFound);
    if (runs === 2) continue;
    await using elsewhere = new Sandbox();
    await play(recorded, elsewhere);
    assert.deepEqual(turnsOf(elsewhere, "one", []), turnsOf(there, "one", []), "byte for byte the same");
  }
});

test.process("a recorded run is a fixture that plays anywhere, without the tools, the workspace and the network: secrets of prompt, environment and tool output are in no file of it", async () => {
  await using place = new Place(({ input }) => input.at(-1)?.type === "message" ? READS_A : HELLO);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, `the token is ${CANARY}\n`);
  const folder = `${place.sandbox.directory}/kept`;
  const called = await place.call(
    ["run", "--json", "--new", "-s", "one", "--record", folder, `Is it ${CANARY}?`],
    { env: { OPENAI_CANARY_TOKEN: CANARY } },
  );
  assert.equal(called.code, 0, called.stdout + called.stderr);
  const values = [{ name: "canary", value: CANARY }, { name: "key", value: KEY }];
  for (const [name, bytes] of bytesBelow(folder, "lock")) {
    assert.deepEqual(scanForValues(bytes, values), [], name);
  }
  assert.ok(JSON.parse(Deno.readTextFileSync(`${folder}/fixture.json`)).redactions !== undefined);
  await using there = new Sandbox();
  const played = await play(folder, there);
  assert.equal(played.called.code, 0, played.called.stdout);
  assert.deepEqual(played.asked.map(({ body }) => sha256Hex(body)), sentSums(folder));

  const later = `${place.sandbox.directory}/later`;
  const again = await place.call(["run", "--json", "-s", "one", "--record", later, "Go on"], {
    env: { OPENAI_CANARY_TOKEN: CANARY },
  });
  // The run itself is as it would be; its history cannot be kept without the secret.
  assertError(again, { code: "secret_left", exit: 7, says: /start\/.*OPENAI_CANARY_TOKEN/ });
  assert.equal(ending(again).state, "completed");
  assert.equal(place.sandbox.turns("one").at(-1).events.at(-1).exit_code, 0);
  assert.deepEqual([...bytesBelow(later, "lock").keys()], [], "nothing that could be taken for a fixture");
});

test("a recorded run is a fixture that plays anywhere, without the tools, the workspace and the network: a secret that names a new session is replaced first, in whatever letters; one in a given name is refused", async () => {
  await using place = new Place([HELLO]);
  const secret = "Canary5BE2c1d90f7A43E8";
  const env = { OPENAI_CANARY_TOKEN: secret };
  const folder = `${place.sandbox.directory}/kept`;
  const called = await place.call(["run", "--json", "--record", folder, `Is ${secret}`], { env });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  const reported = events(called).find((event) => event.type === "notice" && event.kind === "recorded");
  assert.deepEqual([reported?.tested, Number(reported?.secrets) > 0], [true, true]);
  for (const [name, bytes] of bytesBelow(folder, "lock")) {
    assert.ok(!`${name} ${new TextDecoder().decode(bytes)}`.toLowerCase().includes("canary5be2"), name);
  }
  const other = `${place.sandbox.directory}/other`;
  const name = secret.toLowerCase();
  const refused = await place.call(["run", "--json", "--new", "-s", name, "--record", other, "Hi"], {
    env,
  });
  assertError(refused, {
    code: "secret_left",
    exit: 7,
    says: /id of its session.*OPENAI_CANARY_TOKEN/,
  });
  assert.ok(!`${refused.stdout}${refused.stderr}`.includes(name));
  assert.equal(place.server.requests.length, 1);
});

test("a recorded run is a fixture that plays anywhere, without the tools, the workspace and the network: a recording that cannot be played to the same end says what differs", async () => {
  await using place = new Place([HELLO]);
  const folder = `${place.sandbox.directory}/kept`;
  // A secret that every request holds by chance: in a replay, the program sends the word itself.
  const env = { OPENAI_CANARY_TOKEN: "read_file" };
  const called = await place.call(["run", "--new", "-s", "one", "--record", folder, "Hi"], { env });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  const notice = called.stderr.split("\n").find((line) => line.includes("recorded into")) ?? "";
  assert.match(
    notice,
    /: 1 exchange, 0 calls, \d+ secrets replaced; it has no expect\/: played again, step 1, request 1: differs at /,
  );
  assert.match(notice, /; expected: .*; received: .* \(see reprise test ".*\/kept"\)$/);
  assert.throws(() => Deno.statSync(`${folder}/expect`), Deno.errors.NotFound);
});

test.process("a recorded call answers only the call that it was recorded for: a call without a record is a miss: exit 7, and the run can continue", async () => {
  await using place = new Place(({ input }) => input.at(-1)?.type === "message" ? READS_A : HELLO);
  const folder = `${place.sandbox.directory}/kept`;
  await place.call(["run", "--json", "--new", "-s", "one", "--record", folder, "Hi"]);
  const tools = `${folder}/tools.json`;
  Deno.writeTextFileSync(tools, Deno.readTextFileSync(tools).replace('"read_file"', '"list_files"'));
  const { files, ...header } = JSON.parse(Deno.readTextFileSync(`${folder}/fixture.json`));
  const sums = { ...files, "tools.json": sha256Hex(Deno.readTextFileSync(tools)) };
  Deno.writeTextFileSync(`${folder}/fixture.json`, JSON.stringify({ ...header, files: sums }));
  await using there = new Sandbox();
  const { called, asked } = await play(folder, there);
  assertError(called, { code: "fixture_miss", exit: 7, says: /"read_file".*"list_files"/ });
  assert.deepEqual([asked.length, sentSums(folder).length], [1, 2]);
  assert.equal(there.turns("one").at(-1).events[0].status, "not_run");
});
