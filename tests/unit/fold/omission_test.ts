/** Omitted items: in requests, in the guard of prefix-bound thinking, in summaries, and where turns may omit them. */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import { deterministicText } from "../../../src/compaction/deterministic.ts";
import { modelContract } from "../../../src/compaction/model_summary.ts";
import { scopeOf } from "../../../src/compaction/plan.ts";
import type { EventDraft, Item, StandingOmission } from "../../../src/domain/event.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { partNote } from "../../../src/fold/omissions.ts";
import { HistoryValidator } from "../../../src/store/read/validate.ts";
import { call, FINGERPRINT, History, message, MODEL, reasoning, TARGET } from "../../support/history.ts";

const PINS = {
  fingerprint: FINGERPRINT,
  model: MODEL,
  instructions: "0".repeat(64),
  tools: "0".repeat(64),
  permissions: [],
  workspace: "/workspace",
};

function omit(to: History, seqs: readonly number[], part?: number): History {
  const event: EventDraft = {
    type: "items_omitted",
    seqs,
    ...(part === undefined ? {} : { part }),
    reason: "user_request",
  };
  return to.add({ kind: "harness", run: to.run, events: [event] });
}

function withdraw(from: History, omission: number): History {
  return from.add({ kind: "harness", run: from.run, events: [{ type: "omission_withdrawn", omission }] });
}

/** image(1), notes(2), user(3), rs_1(4), call_1(5), call_2(6), results(7, 8), message(9), end(10). */
function history(): History {
  const blob = { sha256: "1".repeat(64), bytes: 2_100_000 };
  return new History().add({
    kind: "user",
    run: 1,
    pins: PINS,
    events: [
      { type: "attachment", name: "big.png", media_type: "image/png", blob },
      { type: "attachment", name: "notes", media_type: "text/plain", blob: { ...blob, bytes: 120 } },
      { type: "user_message", content: [{ type: "input_text", text: "Look at this" }] },
    ],
  }).model([reasoning("rs_1"), call("call_1"), call("call_2")]).results()
    .model([message("msg_1", "Done")]).ended();
}

/** Each entry as the `seq` of its event; a message as its texts and the names of its files. */
function sent({ turns }: History, target: FoldTarget = TARGET): unknown[] {
  const { entries, seqs } = foldHistory(turns, target);
  return entries.map((entry, index) =>
    entry.kind === "user_message" ? entry.content.map(({ text, name }) => text ?? name) : seqs[index]
  );
}

const PROMPT = ["big.png", "notes", "Look at this"];
const CASES: readonly (readonly [string, StandingOmission["seqs"], number | undefined, unknown[]])[] = [
  ["a call goes with its result and the reasoning before it", [5], undefined, [PROMPT, 6, 8, 9]],
  ["a result goes with its call", [8], undefined, [PROMPT, 4, 5, 7, 9]],
  ["reasoning goes with the item after it", [4], undefined, [PROMPT, 6, 8, 9]],
  ["a message of the model goes alone", [9], undefined, [PROMPT, 4, 5, 6, 7, 8]],
  ["a prompt leaves a note", [3], undefined, [["[omitted message]"], 4, 5, 6, 7, 8, 9]],
  [
    "a part leaves a note at its place",
    [3],
    3,
    [["big.png", "notes", "[omitted text, 12 bytes]"], 4, 5, 6, 7, 8, 9],
  ],
  ...[[[3], 1], [[1], undefined]].map(([seqs, part]) =>
    [
      "a file leaves a note at its place",
      seqs,
      part,
      [["[omitted image/png, 2.1 MB]", "notes", "Look at this"], 4, 5, 6, 7, 8, 9],
    ] as typeof CASES[number]
  ),
];

for (const [title, seqs, part, expected] of CASES) {
  Deno.test(`omit ${seqs} ${part === undefined ? "" : `part ${part}`}: ${title}, until it is withdrawn`, () => {
    const whole = history();
    const before = sent(whole);
    assert.deepEqual(sent(omit(whole, seqs, part)), expected);
    const { version, dropped, repairs } = foldHistory(whole.turns, TARGET);
    assert.equal(version, 4);
    const named = [
      ...dropped.map(({ seq, reason }) => [seq, reason]),
      ...repairs.map(({ seq, kind }) => [seq, kind]),
    ];
    assert.ok(named.length > 0 && named.every(([, why]) => why === "omitted" || why === "content_omitted"));
    assert.deepEqual(sent(withdraw(whole, 11)), before);
    assert.equal(foldHistory(whole.turns, TARGET).version, 1);
  });
}

Deno.test("the call of a server's tool goes with its output, and the output with its call", () => {
  const target: FoldTarget = {
    ...TARGET,
    fingerprint: { ...FINGERPRINT, provider: "anthropic" },
    needs: foldNeedsOf("anthropic"),
    model: "claude-sonnet-4-5",
  };
  const items: readonly Item[] = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "text", text: "Found" },
  ];
  const made = () =>
    new History().user("Search").model(items, { fingerprint: { provider: "anthropic" }, asked: target.model })
      .ended();
  const kinds = (history: History) => foldHistory(history.turns, target).entries.map(({ kind }) => kind);
  assert.equal(kinds(made()).filter((kind) => kind === "provider_item").length, 2);
  for (const seq of [2, 3]) assert.ok(!kinds(omit(made(), [seq])).includes("provider_item"), `seq ${seq}`);
});

Deno.test("notes name what they replace", () => {
  const notes: readonly (readonly [Item, string])[] = [
    [
      { type: "input_image", image_url: `data:image/jpeg;base64,${"A".repeat(4000)}` },
      "[omitted image/jpeg, 3.0 kB]",
    ],
    [{ type: "input_image", image_url: "https://example.com/a.png" }, "[omitted image]"],
    [{ type: "input_file", file_id: "file_1" }, "[omitted file]"],
    [{ type: "input_text", text: "é" }, "[omitted text, 2 bytes]"],
  ];
  for (const [part, note] of notes) assert.equal(partNote(part), note);
});

Deno.test("bound thinking after an omitted item is left out, and sent again after the withdrawal", () => {
  const target: FoldTarget = {
    ...TARGET,
    fingerprint: { ...FINGERPRINT, provider: "anthropic" },
    needs: foldNeedsOf("anthropic"),
    model: "claude-fable-5-1",
  };
  const from = { fingerprint: { provider: "anthropic" }, asked: target.model } as const;
  const thinking = (name: string) => ({ type: "thinking", thinking: name, signature: `sig-${name}` });
  const say = (text: string) => ({ type: "text", text });
  const bound = new History().user("Task").model([thinking("a"), say("one")], from).ended();
  bound.run = 2;
  bound.user("And now?").model([thinking("b"), say("two")], from).ended();
  const drops = () => foldHistory(bound.turns, target).reasoning.map(({ reason }) => reason);
  assert.deepEqual(drops(), [null, null]);
  omit(bound, [3]);
  assert.deepEqual(drops(), ["omitted", "prefix_changed"]);
  bound.run = 3;
  bound.user("Go on").model([thinking("c"), say("three")], from).ended();
  assert.deepEqual(drops(), ["omitted", "prefix_changed", null]);
  withdraw(bound, 9);
  assert.deepEqual(drops(), [null, null, "prefix_changed"]);
});

Deno.test("no checkpoint brings an omitted item back: neither its summary nor the message that it keeps", () => {
  const whole = new History().user("The password is hunter2").model([
    call("call_1", "run", '{"command":"hunter2"}'),
  ])
    .results().ended();
  omit(whole, [1, 2]);
  whole.run = 2;
  whole.add({ kind: "harness", run: 2, pins: PINS, events: [{ type: "run_continued", run: 2 }] });
  whole.model([message("msg_1", "A long answer. ".repeat(400))]);
  const target = { ...TARGET, run: 2 };
  const scope = scopeOf(whole.turns, { tailEvents: 0, target });
  assert.equal(scope.openingTurn, 1);
  const { summary } = deterministicText(whole.turns, scope);
  assert.match(summary, /First request \(seq 1\): "\[omitted message\]"/);
  for (const text of [summary, JSON.stringify(modelContract(whole.turns, scope))]) {
    assert.doesNotMatch(text, /hunter2/);
  }
});

/** Rule breaks of the turns of a history. */
function findings({ turns }: History): string[] {
  const validator = new HistoryValidator("s");
  return turns.flatMap((turn) => {
    const found = validator.check(turn);
    validator.advance(turn);
    return found.map(({ code, message }) => `${code}: ${message}`);
  });
}

Deno.test("an omission must be between runs, and name events that requests hold", () => {
  const checkpoint = {
    type: "history_compaction",
    to_seq: 3,
    to_turn: 1,
    previous_checkpoint: null,
    opening_turn: null,
    strategy: "deterministic",
    summary: "So far",
    limitations: [],
  } as const;
  const compacted = () => history().add({ kind: "compaction", run: 1, pins: PINS, events: [checkpoint] });
  const rows: readonly (readonly [History, RegExp | null])[] = [
    [omit(history(), [3, 5, 9]), null],
    [omit(history(), [3], 3), null],
    [omit(history(), [3], 4), /part 4, but it has only 3/],
    [omit(history(), [9], 1), /has no parts/],
    [omit(history(), [3, 9], 1), /one of several/],
    [omit(history(), [10]), /omits seq 10, where no event is/],
    [omit(history(), [99]), /omits seq 99, where no event is/],
    [omit(compacted(), [5]), null],
    [omit(compacted(), [3]), /omits seq 3, which the checkpoint up to seq 3 replaces/],
    [omit(new History().user("Task").model([message("msg_1", "Done")]), [1]), /inside run 1, which is open/],
    [withdraw(omit(history(), [5]), 11), null],
    [withdraw(withdraw(omit(history(), [5]), 11), 11), /withdraws seq 11, where no omission is in force/],
    [withdraw(history(), 9), /withdraws seq 9/],
    [
      history().add({
        kind: "compaction",
        run: 1,
        pins: PINS,
        events: [{ type: "items_omitted", seqs: [9], reason: "user_request" }],
      }),
      /a turn that is not the harness's/,
    ],
  ];
  for (const [index, [made, why]] of rows.entries()) {
    const found = findings(made);
    if (why === null) assert.deepEqual(found, [], `row ${index}`);
    else {
      assert.ok(found.length > 0, `row ${index}`);
      assert.match(found[0] ?? "", why);
      assert.match(found[0] ?? "", /^wrong_omission: /);
    }
  }
});
