import assert from "node:assert/strict";
import { filesBelow } from "../../src/cli/test/files.ts";
import { checkStepArguments } from "../../src/cli/step_arguments.ts";
import { readSessionFile } from "../../src/fixture/session/session_file.ts";
import { denoFiles } from "../../src/store/deno_files.ts";

const SUITE = new URL("../sessions/", import.meta.url).pathname;
const SESSIONS = [...Deno.readDirSync(SUITE)].map(({ name }) => {
  const directory = `${SUITE}${name}`;
  const textOf = (file: string) => Deno.readTextFileSync(`${directory}/${file}`);
  const files = filesBelow(directory);
  return {
    name,
    session: readSessionFile(denoFiles, directory, checkStepArguments),
    turns: files.filter((file) => /^expect\/[^/]+\/turns\//.test(file)).map(textOf).join(""),
    faults: files.filter((file) => file.endsWith("/response.json"))
      .flatMap((file) => JSON.parse(textOf(file)).fault ?? []),
  };
});
const STEPS = SESSIONS.flatMap(({ session }) => session.steps);

function assertHolds(what: string, has: ReadonlySet<unknown>, wanted: readonly unknown[]): void {
  assert.deepEqual(wanted.filter((each) => !has.has(each)), [], `no session shows ${what}`);
}

Deno.test("the sessions show every end: each state but diverged, each exit code that others cause", () => {
  const states = ["completed", "incomplete", "refused", "failed", "interrupted", "timed_out", "over_budget"];
  assertHolds("the state", new Set(STEPS.map(({ state }) => state)), states);
  const exits = [0, 3, 4, 6, 7, 8, 9, 10, 11, 13, 124, 130, 137, 143];
  assertHolds("the exit code", new Set(STEPS.map(({ exit }) => exit)), exits);
});

Deno.test("the sessions show every reason to leave an item out that is told", () => {
  for (const { name, session, turns } of SESSIONS.filter(({ name }) => name.startsWith("drop-"))) {
    const [reason] = (session.note ?? "").split(":");
    assert.ok(turns.includes(`"reason":"${reason}"`), `${name} does not show ${reason}`);
  }
  const reasons = new Set([...SESSIONS.map(({ turns }) => turns).join("").matchAll(/"reason":"(\w+)"/g)]
    .map(([, reason]) => reason));
  assertHolds("the reason", reasons, [
    ...[
      "other_provider",
      "other_endpoint",
      "other_account",
      "other_model",
      "no_encrypted_content",
      "unsigned",
    ],
    ...["prefix_changed", "no_following_item", "duplicate_id", "replay_off", "quarantined", "refused_in_run"],
    ...["outside_window", "call_refused", "reasoning_dropped", "unanswered_call"],
  ]);
});

Deno.test("the sessions show every kind of fault", () => {
  const kinds = [
    ...[
      "cut after 3 events",
      "cut after 120 bytes",
      "cut mid-line",
      "cut mid-utf8",
      "reset",
      "stall",
      "drip",
    ],
    ...[
      "error flat",
      "error nested",
      "failed",
      "incomplete",
      "no terminal event",
      "429 retry-after 1",
      "500",
    ],
    ...["503 retry-after-ms", "529", "fail", "html", "content-type", "garbage", "duplicate events"],
    ...["unknown events", "comments", "keepalives", "rotate ids", "no event lines"],
  ];
  const faults = SESSIONS.flatMap(({ faults }) => faults);
  for (const kind of kinds) {
    assert.ok(faults.some((fault) => fault.startsWith(kind)), `no session has ${kind}`);
  }
});

Deno.test("the sessions show checkpoints, forks, a switch of provider and a resumption after a kill", () => {
  const verbs = new Set(STEPS.map(({ args }) => args[0]));
  assertHolds("the verb", verbs, ["run", "compact", "uncompact", "fork", "interrupt"]);
  const switched = SESSIONS.find(({ name }) => name === "provider-switch");
  assert.match(switched?.turns ?? "", /"provider":"openai"[^]*"provider":"anthropic"/);
  const resumed = SESSIONS.filter(({ session: { steps } }) => steps[0]?.exit === 137 && steps.length === 2);
  assert.ok(resumed.length >= 3);
});

Deno.test("each session says in a line what it shows, each in other words", () => {
  const notes = SESSIONS.map(({ session }) => session.note);
  assert.ok(SESSIONS.length >= 40);
  assert.equal(new Set(notes).size, SESSIONS.length);
  for (const note of notes) assert.match(note ?? "", /^.{11,109}$/);
});
