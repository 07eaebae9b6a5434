/** Runs that are stopped from outside: by signals, and by a closed pipe. */
import assert from "node:assert/strict";
import { answer, message, reasoning, unfinished } from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { type Called, ending, events } from "../../support/reprise.ts";
import { HELLO, Place, READS_A } from "../harness.ts";

const EXIT_OF = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type StopSignal = keyof typeof EXIT_OF;

const READ = functionCall("read_file", { path: "a.txt", offset: null, limit: null });
const LIST = functionCall("list_files", { path: null, pattern: null, depth: null });
/** A search that takes long enough to be stopped in it, where {@linkcode makeSlow} was called. */
const SLOW = functionCall("search_text", {
  pattern: "Nowhere to be found",
  path: "slow.txt",
  glob: null,
  ignore_case: true,
});
/** In the middle of a message that never ends. */
const STALLS = answer([reasoning("Hm"), unfinished(message("Never to be finished"))], {
  end: { kind: "stall" },
});
/** Two calls that are whole, in a response that never ends. */
const STALLS_BEHIND_CALLS = answer([reasoning("Hm"), READ, LIST], { end: { kind: "stall" } });
const NEW = ["run", "--json", "--new", "-s", "s", "Look around"];

function makeSlow(place: Place, mebibytes: number): void {
  const line = "some words that fill a line of text\n";
  const lines = Math.ceil(mebibytes * 2 ** 20 / line.length);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/slow.txt`, line.repeat(lines));
}

/** A stopped run: how it ended is said once, at the end, and is on disk with a result for every call. */
function assertStopped(called: Called, place: Place, signal: StopSignal): void {
  assert.equal(called.code, EXIT_OF[signal], called.stdout + called.stderr);
  assert.equal(ending(called).state, "interrupted");
  assert.equal(ending(called).exit_code, EXIT_OF[signal]);
  assert.equal(events(called).filter(({ type }) => type === "run.ended").length, 1);
  assertAnswered(place);
  const last = place.sandbox.turns("s").at(-1);
  assert.equal(last.events.at(-1).type, "run_ended");
  assert.equal(last.events.at(-1).state, "interrupted");
}

function assertAnswered(place: Place, session = "s"): void {
  // deno-lint-ignore no-explicit-any
  const all = place.sandbox.turns(session).flatMap((turn): any[] => turn.events);
  const calls = all.filter(({ type }) => type === "tool_call").map(({ seq }) => seq);
  const answered = all.filter(({ type }) => type === "tool_result").map(({ call_seq }) => call_seq);
  assert.deepEqual(answered.toSorted(), calls.toSorted(), "each call has exactly one result on disk");
}

/** The next run, with or without a prompt, is accepted by the server's rules and completes. */
async function assertGoesOn(place: Place, prompt: readonly string[]): Promise<void> {
  const checked = await place.call(["fsck", "s", "--json"]);
  assert.equal(checked.code, 0, checked.stdout);
  const next = await place.call(["run", "--json", "-s", "s", ...prompt]);
  assert.equal(next.code, 0, next.stdout + next.stderr);
  assert.equal(ending(next).text, "Hello.");
  assert.deepEqual(place.server.refusals, []);
  assertAnswered(place);
}

function stoppedInStream(signal: StopSignal, prompt: readonly string[]) {
  return async () => {
    await using place = new Place([READS_A, STALLS, HELLO]);
    const run = place.start(NEW);
    await run.printed('"delta":"Never');
    run.process.kill(signal);
    assertStopped(await run.ended(), place, signal);
    await assertGoesOn(place, prompt);
    assert.ok(!place.server.requests.at(-1)?.text.includes("Never"), "deltas are not kept");
  };
}

function stoppedAfterCalls(signal: StopSignal, prompt: readonly string[]) {
  return async () => {
    await using place = new Place([STALLS_BEHIND_CALLS, HELLO]);
    const run = place.start(NEW);
    await run.printed('"type":"function_call"', 2);
    run.process.kill(signal);
    const called = await run.ended();
    assertStopped(called, place, signal);
    assert.ok(!called.stdout.includes("tool.started"), "calls of a response that did not end are not run");
    await assertGoesOn(place, prompt);
    const sent = place.server.requests[1]?.input.map(({ type }) => String(type));
    // On disk each call is answered; the next request goes without calls that were never run.
    assert.deepEqual(sent?.filter((type) => type.startsWith("function_call")), []);
  };
}

function stoppedWhileToolsRun(signal: StopSignal, prompt: readonly string[]) {
  return async () => {
    const calls = answer([reasoning("Hm"), SLOW, READ, SLOW, SLOW]);
    let stopped = false;
    await using place = new Place(({ number }) => number === 1 ? calls : stopped ? HELLO : STALLS);
    makeSlow(place, 16);
    const run = place.start(NEW);
    await run.printed("tool.started");
    run.process.kill(signal);
    const called = await run.ended();
    assertStopped(called, place, signal);
    const finished = events(called).flatMap((event) => event.type === "tool.finished" ? [event.status] : []);
    assert.ok(finished.includes("interrupted"), `a tool was stopped: ${finished}`);
    stopped = true;
    await assertGoesOn(place, prompt);
  };
}

Deno.test(
  "a signal ends a run as interrupted, with every call answered, and the next run continues: SIGINT in a stream",
  stoppedInStream("SIGINT", []),
);

Deno.test(
  "a signal ends a run as interrupted, with every call answered, and the next run continues: SIGTERM after calls that were not run",
  stoppedAfterCalls("SIGTERM", []),
);

Deno.test(
  "a signal ends a run as interrupted, with every call answered, and the next run continues: SIGHUP while tools run",
  stoppedWhileToolsRun("SIGHUP", []),
);

Deno.test("a signal ends a run as interrupted, with every call answered, and the next run continues: SIGINT while a retry is waited for", async () => {
  await using place = new Place([
    { kind: "http", status: 503, headers: { "retry-after": "50" }, body: "{}" },
    HELLO,
  ]);
  const run = place.start(NEW);
  await run.printed('"kind":"retry"');
  run.process.kill("SIGINT");
  assertStopped(await run.ended(), place, "SIGINT");
  await assertGoesOn(place, []);
});

Deno.test("a signal ends a run as interrupted, with every call answered, and the next run continues: a second signal ends the process at once, and the files are sound", async () => {
  await using place = new Place([READS_A, STALLS_BEHIND_CALLS, HELLO]);
  const run = place.start(NEW);
  await run.printed('"type":"function_call"', 3);
  run.process.kill("SIGSTOP");
  run.process.kill("SIGINT");
  run.process.kill("SIGTERM");
  run.process.kill("SIGCONT");
  const called = await run.ended();
  assert.ok([130, 143].includes(called.code), `${called.code} ${called.stderr}`);
  await assertGoesOn(place, []);
});

Deno.test("a reader that goes away ends the work: a closed stdout is exit 141, and no further request is sent", async () => {
  await using place = new Place(() => READS_A);
  assert.equal(await headOf(place, NEW), 141);
  assert.ok(place.server.requests.length <= 1, `${place.server.requests.length} requests were sent`);
  const checked = await place.call(["fsck", "s", "--json"]);
  assert.equal(checked.code, 0, checked.stdout);
  assertAnswered(place);
});

Deno.test("a reader that goes away ends the work: a verb that prints more than its reader takes is exit 141, without a word", async () => {
  await using place = new Place([answer([message("x".repeat(300_000))])]);
  await place.session("s");
  assert.equal(await headOf(place, ["show", "s", "--json"]), 141);
});

/** Makes stdout and stderr non-blocking, as Node does for pipes that it shares, and runs a command. */
const NON_BLOCKING = [
  "perl",
  "-MFcntl",
  "-e",
  "for (*STDOUT, *STDERR) { fcntl($_, F_SETFL, fcntl($_, F_GETFL, 0) | O_NONBLOCK) or die } exec @ARGV",
];

/** A call on such pipes, both read only after a while. */
async function readLate(place: Place, args: readonly string[]): Promise<Called> {
  const line =
    '{ { "$@"; echo $? >code; } 2>&3 | { sleep 1; cat; }; } 3>&1 >out | { sleep 2; cat >&2; }; cat out';
  const called = await place.call(args, { through: ["sh", "-c", line, "sh", ...NON_BLOCKING] });
  return { ...called, code: Number(Deno.readTextFileSync(`${place.sandbox.workspace}/code`)) };
}

Deno.test("a reader that is slow gets all of a run, through a pipe that does not block as well", async () => {
  const text = "x".repeat(300_000);
  await using place = new Place([answer([message(text)]), HELLO]);
  const called = await readLate(place, NEW);
  assert.equal(called.code, 0, called.stderr);
  assert.equal(ending(called).text, text);
  assert.equal((await readLate(place, ["show", "s"])).stdout.match(/x{300000}/g)?.length, 1);
  await assertGoesOn(place, ["And now?"]);
});

Deno.test("a reader that is slow gets each line of serve, through a pipe that does not block as well", async () => {
  await using place = new Place([]);
  const { directory } = place.sandbox;
  writeFixture(`${directory}/fixture`, [{ request: { body: { model: "m" } }, body: "{}" }]);
  const script = `
    const url = Deno.env.get("OPENAI_BASE_URL") + "/responses";
    for (let n = 1; n <= 600; n++) {
      const body = JSON.stringify({ model: "m", input: n + "-".repeat(200) });
      await (await fetch(url, { method: "POST", body })).text();
    }`;
  const client = [Deno.execPath(), "eval", "--quiet", script];
  const called = await readLate(place, ["serve", "--rules", "none", `${directory}/fixture`, "--", ...client]);
  assert.equal(called.code, 7);
  assert.equal(called.stderr.match(/^\d+ POST .*: 400, miss: /gm)?.length, 600);
});

/** The exit code of a call whose stdout is closed after its first bytes; nothing may come on stderr. */
async function headOf(place: Place, args: readonly string[]): Promise<number> {
  const line = '{ "$@"; echo $? >code; } | head -c 1 >/dev/null';
  const called = await place.call(args, { through: ["sh", "-c", line, "sh"] });
  assert.equal(called.stderr, "");
  return Number(Deno.readTextFileSync(`${place.sandbox.workspace}/code`));
}
