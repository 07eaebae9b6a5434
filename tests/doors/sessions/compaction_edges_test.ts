/** Checkpoints and summaries of branches at their edges: one event, none, exactly the limit, the newest of two. */
import assert from "node:assert/strict";
import { type Json, sha256 } from "../../support/files.ts";
import { writeFixture } from "../recordings/recording_files.ts";
import { answerText, responseStream } from "../wire/streams_answers.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import {
  call,
  checkpoint,
  continued,
  ended,
  FINGERPRINT,
  type GivenTurn,
  message,
  model,
  reasoning,
  results,
  user,
} from "./session_files.ts";

const LONG = "A long text that a summary cuts. ".repeat(200);

/** The plan of `compact` by rule. */
const plan = (home: SessionHome, ...flags: readonly string[]): Promise<Json> =>
  home.json(["compact", ID, "--dry-run", "--strategy", "deterministic", ...flags]);

withHome(
  "a checkpoint may replace one event, which is the last of its turn, and keep all others or none",
  async (home) => {
    home.session([user(LONG), ended(1, "interrupted", 130), user("Again", 2), ended(2, "interrupted", 130)]);
    const one = await plan(home, "--tail-events", "3");
    assert.deepEqual([one.cut.seq, one.range.events, one.tail], [1, 1, { asked: 3, events: 3, from_seq: 2 }]);
    const all = await plan(home, "--tail-events", "0");
    assert.deepEqual([all.cut.seq, all.range.events, all.tail], [4, 4, {
      asked: 0,
      events: 0,
      from_seq: null,
    }]);
  },
);

withHome("the prompt that a checkpoint inside its run keeps stays omitted if it was", async (home) => {
  home.session([
    user(`hunter2 ${LONG}`),
    model([message("msg_1", LONG), call("call_a")]),
    results({ call_a: 3 }),
    ended(1, "interrupted", 130),
    { kind: "harness", events: [{ type: "items_omitted", seqs: [1], reason: "user_request" }] },
    continued(2),
    model([message("msg_2", LONG)], 2),
    ended(2, "interrupted", 130),
  ]);
  const { checkpoint } = await home.json([
    "compact",
    ID,
    "--strategy",
    "deterministic",
    "--tail-events",
    "4",
  ]);
  const { to_seq, opening_turn } = home.turns(ID)[checkpoint.turn - 1].events[0];
  assert.deepEqual([to_seq, opening_turn], [7, 1]);
  const body = JSON.stringify(await home.nextBody());
  assert.doesNotMatch(body, /hunter2/);
  assert.match(body, /\[omitted message\]/);
});

withHome("an image counts as 1,600 tokens, whatever its size", async (home) => {
  const session = home.session([user("Look")]);
  const image = (size: number, text: string): GivenTurn => ({
    ...user(text),
    events: [
      {
        ...{ type: "attachment", name: "a.png", media_type: "image/png" },
        blob: { sha256: session.blob("x".repeat(size)), bytes: size },
      },
      ...user(text).events,
    ],
  });
  const tokens = async (...turns: readonly GivenTurn[]) => {
    home.session([...turns, model([message("msg_1", LONG)]), ended()]);
    return (await plan(home, "--tail-events", "0")).before.tokens;
  };
  const [none, small, large] = [
    await tokens(user(LONG)),
    await tokens(image(4, LONG)),
    await tokens(image(400_000, LONG)),
  ];
  // The name of the file is text.
  assert.deepEqual([Math.floor((small - none) / 100), large - small < 10], [16, true]);
});

withHome("of two long results the longest is shortened first, and no more than needed", async (home) => {
  const { events, ...turn } = results({ call_a: 2, call_b: 3 });
  const outputs = ["a".repeat(5000), "b".repeat(9000)];
  home.session([
    user("Look"),
    model([call("call_a"), call("call_b")]),
    { ...turn, kind: "tools", events: events.map((event, index) => ({ ...event, output: outputs[index] })) },
    ended(1, "interrupted", 130),
  ]);
  const { elided } = await home.json(["compact", ID]);
  assert.deepEqual(elided.map(({ result_seq }: Json) => result_seq), [6]);
});

withHome(
  "compact --undo restores the results that the latest compaction shortened, and no others",
  async (home) => {
    const shortens = (result_seq: number): GivenTurn => ({
      kind: "compaction",
      pins: user("").pins,
      events: [{ type: "result_elided", result_seq, kept: "short" }],
    });
    home.session([
      user("Look"),
      model([call("call_a"), call("call_b")]),
      results({ call_a: 2, call_b: 3 }),
      ended(),
      shortens(5),
      shortens(6),
    ]);
    const outputs = async () =>
      (await home.nextBody()).input.flatMap(({ type, output }: Json) =>
        type === "function_call_output" ? [output] : []
      );
    assert.deepEqual(await outputs(), ["short", "short"]);
    assert.deepEqual((await home.json(["compact", ID, "--undo"])).restored_results, [6]);
    assert.deepEqual(await outputs(), ["short", "output of call_b"]);
    assert.deepEqual((await home.json(["compact", ID, "--undo"])).restored_results, [5]);
    assert.equal((await home.json(["compact", ID, "--undo"], 2)).code, "nothing_to_withdraw");
  },
);

/** Most lines of a summary of another branch: its first ones and its last ones. */
const [FIRST, LAST] = [10, 30];

for (const [lines, hidden] of [[FIRST + LAST, 0], [FIRST + LAST + 1, 1], [FIRST + LAST + 20, 20]] as const) {
  withHome(`a summary of another branch with ${lines} lines hides ${hidden} in its middle`, async (home) => {
    // The end of the run is a line too.
    const said = Array.from(
      { length: lines - 1 },
      (_, index) => message(`msg_${index}`, `Line ${index + 1}.`),
    );
    home.session([user("Hi"), model(said), ended()]);
    const { summary } = await home.json(["fork", ID, "--to-seq", "1", "--summarize", "--dry-run"]);
    const [head, ...shown] = summary.split("\n");
    assert.match(head, /events 2 to \d+/);
    const whole = [...said.map((_, index) => `- assistant: Line ${index + 1}.`), "- run 1 ended: completed"];
    const note = `- (${hidden} more ${hidden === 1 ? "line" : "lines"})`;
    assert.deepEqual(shown, hidden === 0 ? whole : [...whole.slice(0, FIRST), note, ...whole.slice(-LAST)]);
  });
}

withHome(
  "a summary of another branch quotes 600 characters, and counts those of a longer text",
  async (home) => {
    home.session([
      user("Hi"),
      model([message("msg_1", "x".repeat(600)), message("msg_2", "y".repeat(601))]),
      ended(),
    ]);
    const { summary } = await home.json(["fork", ID, "--to-seq", "1", "--summarize", "--dry-run"]);
    const [, one, two] = summary.split("\n");
    assert.deepEqual([one, two], [
      `- assistant: ${"x".repeat(600)}`,
      `- assistant: ${"y".repeat(600)}… (601 characters)`,
    ]);
  },
);

/** Hash of the key of these tests, as docs/format.md says. */
const KEY_HASH = sha256(`${ID}\nsk-test-1`).slice(0, 16);
const [OLD, NEW] = ["a".repeat(16), "b".repeat(16)];
/** Two runs with the same key, whose account had another name then. */
const RENAMED: readonly GivenTurn[] = [OLD, NEW].flatMap((account, index) => [
  user("Go", index + 1),
  model([reasoning(`rs_${index}`), message(`msg_${index}`, LONG)], index + 1, {
    fingerprint: { ...FINGERPRINT, account, key: KEY_HASH },
  }),
  ended(index + 1),
]);

withHome(
  "the account of a later turn counts, not the older one that a checkpoint after it repeats",
  async (home) => {
    const accounts = [{ provider: "openai", endpoint: FINGERPRINT.endpoint, key: KEY_HASH, account: OLD }];
    home.session([...RENAMED, checkpoint({ turn: 3, seq: 5 }, null, { accounts })]);
    const called = await home.call(["explain", ID, "--json"], { env: { OPENAI_API_KEY: "sk-test-1" } });
    assert.equal(JSON.parse(called.stdout).next.account, NEW);
  },
);

withHome("a played run has the newest account of the session, whatever its key", async (home) => {
  home.session(
    RENAMED.map((turn) =>
      turn.fingerprint?.account === OLD
        ? { ...turn, fingerprint: { ...turn.fingerprint, key: "0".repeat(16) } }
        : turn
    ),
  );
  const body = responseStream([answerText("Done.")]);
  const fixture = writeFixture(`${home.directory}/fixture`, [{ body }], {
    base_url: "https://api.openai.com/v1",
  });
  const play = ["--fixture", fixture, "--match", "sequence", "-m", "gpt-5.6", "Go on"];
  const called = await home.call(["run", "-s", ID, ...play]);
  assert.equal(called.code, 0, called.stderr);
  const { request } = home.turns(ID).findLast(({ kind }) => kind === "model");
  assert.deepEqual(request.guard.dropped.map(({ seq, reason }: Json) => [seq, reason]), [[
    2,
    "other_account",
  ]]);
});
