/** Runs that are stopped from outside: by signals, and by a closed pipe. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import {
  answer,
  message,
  reasoning,
  type ScriptedResponse,
  unfinished,
} from "../../support/scripted_api/responses.ts";
import { functionCall } from "../../support/scripted_api/responses_script.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { type Called, ending, events } from "../../support/reprise.ts";
import { assertAnswered, assertContinues, EXIT_OF } from "../changes.ts";
import { HELLO, ok, Place, READS_A, until } from "../harness.ts";
import { running as commandOf } from "./wrapping.ts";

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

/** Ways to be stopped: the answers before, what is printed when the signal comes, and what holds afterwards. */
const STOPS: Readonly<
  Record<
    string,
    {
      readonly signal: StopSignal;
      readonly script: readonly ScriptedResponse[];
      readonly printed: readonly [text: string, times?: number];
      readonly prepare?: (place: Place) => void;
      readonly then?: (called: Called, place: Place) => void;
    }
  >
> = {
  "SIGINT in a stream, whose deltas are not kept": {
    signal: "SIGINT",
    script: [READS_A, STALLS, HELLO],
    printed: ['"delta":"Never'],
    then: (_, { server }) => assert.ok(!server.requests.at(-1)?.text.includes("Never")),
  },
  "SIGTERM after calls of a response that did not end, which are not run and not sent": {
    signal: "SIGTERM",
    script: [STALLS_BEHIND_CALLS, HELLO],
    printed: ['"type":"function_call"', 2],
    then({ stdout }, { server }) {
      assert.ok(!stdout.includes("tool.started"));
      const sent = server.requests[1]?.input.map(({ type }) => String(type)) ?? [];
      assert.deepEqual(sent.filter((type) => type.startsWith("function_call")), []);
    },
  },
  "SIGHUP while tools run": {
    signal: "SIGHUP",
    script: [answer([reasoning("Hm"), SLOW, READ, SLOW, SLOW]), HELLO],
    printed: ["tool.started"],
    prepare: (place) => makeSlow(place, 16),
    then(called) {
      const finished = events(called).flatMap((event) =>
        event.type === "tool.finished" ? [event.status] : []
      );
      assert.ok(finished.includes("interrupted"), `a tool was stopped: ${finished}`);
    },
  },
  "SIGINT while a retry is waited for": {
    signal: "SIGINT",
    script: [{ kind: "http", status: 503, headers: { "retry-after": "50" }, body: "{}" }, HELLO],
    printed: ['"kind":"retry"'],
  },
};

for (const [name, { signal, script, printed, prepare, then }] of Object.entries(STOPS)) {
  Deno.test(`a signal ends a run as interrupted, with every call answered, and the next run continues: ${name}`, async () => {
    await using place = new Place(script);
    prepare?.(place);
    const run = place.start(NEW);
    await run.printed(...printed);
    run.process.kill(signal);
    const called = await run.ended();
    assertStopped(called, place, signal);
    await ok(place, ["fsck", "s"]);
    await assertContinues(place);
    then?.(called, place);
  });
}

Deno.test("of two causes of a stop the first counts: a signal, whose end has no reader any more", async () => {
  const command = functionCall("shell", {
    command: "echo $PPID >pid; sleep 60",
    argv: null,
    timeout_seconds: null,
  });
  await using place = new Place([answer([reasoning("Hm"), command]), HELLO]);
  // The reader goes when the command runs; the signal comes after that, and what is printed then finds no reader.
  const line = '"$@" | { until [ -s pid ]; do sleep 0.05; done; cat pid >&3; } 3>gone';
  const called = place.call([...NEW, "--allow", "shell"], { through: ["sh", "-c", line, "sh"] });
  const gone = `${place.sandbox.workspace}/gone`;
  await until(() => existsSync(gone) && Deno.readTextFileSync(gone) !== "", "the end of the reader");
  Deno.kill(Number(Deno.readTextFileSync(gone)), "SIGINT");
  await called;
  const { state, exit_code, error } = place.sandbox.turns("s").at(-1).events.at(-1);
  assert.deepEqual([state, exit_code, error.code], ["interrupted", 130, "interrupted"]);
});

Deno.test("a verb that prints more than its reader takes is exit 141, without a word", async () => {
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
  await assertContinues(place, "And now?");
});

/** A command that sends 300 requests with long paths, and prints nothing. */
const ASKS = commandOf(`
  const url = Deno.env.get("OPENAI_BASE_URL") + "/responses?x=" + "-".repeat(300);
  for (let n = 1; n <= 300; n++) {
    const body = JSON.stringify({ model: "m", input: String(n), stream: true });
    await (await fetch(url, { method: "POST", body })).text();
  }`);

Deno.test("a reader that is slow gets each line of serve and record, through a pipe that does not block as well", async () => {
  await using place = new Place([]);
  const { directory } = place.sandbox;
  const fixture = writeFixture(`${directory}/fixture`, [{ request: { body: { model: "m" } }, body: "{}" }]);
  await using upstream = new RawUpstream(answering("500 Wrong\r\ncontent-type: application/json", "{}"));
  const serve = ["serve", "--rules", "none", fixture];
  const record = ["record", "--missing", "--upstream", upstream.origin, "--out", `${directory}/out`];
  for (
    const [verb, type, says] of [[serve, "miss", /: 400, miss: /], [record, "exchange", / 500: /]] as const
  ) {
    const shown = await readLate(place, [...verb, "--", ...ASKS]);
    assert.equal(shown.code, 7, shown.stderr);
    assert.equal(shown.stderr.split("\n").filter((line) => says.test(line)).length, 300);
    const { stdout, code } = await readLate(place, [...verb, "--events", "-", "--", ...ASKS]);
    const types = stdout.trimEnd().split("\n").map((line) => JSON.parse(line).type);
    const count = types.filter((each) => each === type).length;
    assert.deepEqual([code, count, types.at(-1)], [7, 300, `${verb[0]}.ended`]);
  }
});

/** The exit code of a call whose stdout is closed after its first bytes; nothing may come on stderr. */
async function headOf(place: Place, args: readonly string[]): Promise<number> {
  const line = '{ "$@"; echo $? >code; } | head -c 1 >/dev/null';
  const called = await place.call(args, { through: ["sh", "-c", line, "sh"] });
  assert.equal(called.stderr, "");
  return Number(Deno.readTextFileSync(`${place.sandbox.workspace}/code`));
}
