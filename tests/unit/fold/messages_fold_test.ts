import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { Item } from "../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../src/domain/folded.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { GO_ON } from "../../../src/fold/history_fold.ts";
import { call, History, message, reasoning } from "../../support/history.ts";

const CLAUDE = { provider: "anthropic", endpoint: "c1a0de00", account: null } as const;
const MODEL = "claude-sonnet-4-5";
const BOUND = "claude-opus-5-5";
const TARGET: FoldTarget = {
  fingerprint: CLAUDE,
  needs: foldNeedsOf("anthropic"),
  model: MODEL,
  replay: "exact",
};

const thinking = (signature: string): Item => ({ type: "thinking", thinking: "hm", signature });
const text = (words: string): Item => ({ type: "text", text: words });
const toolUse = (id: string): Item => ({ type: "tool_use", id, name: "read_file", input: { path: "a" } });
const claude = (asked = MODEL) => ({ fingerprint: CLAUDE, asked });

function kinds(entries: readonly FoldedEntry[]): string[] {
  return entries.map(({ kind }) => kind);
}

const OPENAI = {
  fingerprint: { provider: "openai", endpoint: "e", account: null },
  needs: foldNeedsOf("openai"),
  model: "m",
} as const;

function reasons(history: History, target: Partial<FoldTarget> = {}): (string | null)[] {
  const needs = foldNeedsOf((target.fingerprint ?? TARGET.fingerprint).provider);
  return foldHistory(history.turns, { ...TARGET, ...target, needs }).reasoning.map(({ reason }) => reason);
}

Deno.test("any Claude model gets the thinking of any other: the server itself drops what it cannot read", () => {
  const history = new History().user("one").model([thinking("s1"), text("a")], claude()).user("two");
  for (const model of [MODEL, "claude-opus-5", "claude-fable-5-1", "some-other"]) {
    assert.deepEqual(reasons(history, { model }), [null], model);
  }
});

Deno.test("thinking goes to its own endpoint and account only", () => {
  const made = { fingerprint: { ...CLAUDE, account: "a" }, asked: MODEL };
  const history = new History().user("one").model([thinking("s1"), text("a")], made).user("two");
  assert.deepEqual(reasons(history, { fingerprint: { ...CLAUDE, endpoint: "other" } }), ["other_endpoint"]);
  assert.deepEqual(reasons(history, { fingerprint: { ...CLAUDE, account: "b" } }), ["other_account"]);
  assert.deepEqual(reasons(history, { fingerprint: { ...CLAUDE, account: "a" } }), [null]);
  assert.deepEqual(reasons(history), [null], "an account that is not known yet is no mismatch");
  assert.deepEqual(reasons(history, { replay: "none" }), ["replay_off"]);
});

Deno.test("thinking without a signature, and redacted thinking without data, stay out", () => {
  const empty: Item = { type: "redacted_thinking", data: "" };
  const history = new History().user("one").model([thinking(""), text("a")], claude())
    .user("two").model([empty, text("b")], claude()).user("three");
  assert.deepEqual(reasons(history), ["unsigned", "unsigned"]);
});

Deno.test("reasoning of the other shape stays out, whatever it carries and whatever its turn says", () => {
  const lookalike: Item = { ...reasoning("rs_1"), signature: "sig", thinking: "hm" };
  const toClaude = new History().user("one").model([lookalike, text("a")], claude()).user("two");
  assert.deepEqual(reasons(toClaude), ["other_provider"]);
  const block: Item = { ...thinking("sig"), encrypted_content: "gAAA", summary: [] };
  const toOpenai = new History().user("one").model([block, message("msg_1", "a")]).user("two");
  const openai = { provider: "openai", endpoint: "1f3a9c02", account: null } as const;
  assert.deepEqual(reasons(toOpenai, { fingerprint: openai, model: "gpt-5.6" }), ["other_provider"]);
});

Deno.test("a compatible server that shows its reasoning gets it back; OpenAI and Azure need the blob", () => {
  const shown: Item = {
    id: "r1",
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text: "hm" }],
    encrypted_content: null,
  };
  for (const [provider, reason] of [["compatible", null], ["openai", "no_encrypted_content"]] as const) {
    const fingerprint = { provider, endpoint: "e", account: null };
    const history = new History().user("one").model([shown, message("m", "a")], { fingerprint, asked: "m" })
      .user("two");
    assert.deepEqual(reasons(history, { fingerprint, model: "m" }), [reason], provider);
  }
});

Deno.test("thinking of a prefix-bound model stays out once a checkpoint came or went since it was made", () => {
  const compaction = (history: History, toTurn: number) => {
    const end = history.turns[toTurn - 1];
    assert.ok(end !== undefined);
    const pins = history.turns[0]?.kind === "user" ? history.turns[0].pins : null;
    assert.ok(pins !== null);
    return history.add({
      kind: "compaction",
      run: 1,
      pins,
      events: [{
        type: "history_compaction",
        to_seq: end.seq[1],
        to_turn: toTurn,
        previous_checkpoint: null,
        opening_turn: null,
        strategy: "deterministic",
        summary: "So far",
        limitations: [],
      }],
    });
  };
  const begun = () =>
    new History().user("one").model([thinking("s1"), text("a")], claude(BOUND))
      .user("two").model([thinking("s2"), text("b")], claude(BOUND));
  assert.deepEqual(reasons(begun().user("three"), { model: BOUND }), [null, null]);

  const compacted = compaction(begun(), 2).user("three").model([thinking("s3"), text("c")], claude(BOUND));
  assert.deepEqual(reasons(compacted.user("four")), ["before_checkpoint", "prefix_changed", null]);

  const checkpoint = compacted.turns.flatMap(({ events }) => events)
    .find(({ type }) => type === "history_compaction")?.seq ?? 0;
  compacted.add({
    kind: "harness",
    run: 1,
    events: [{ type: "compaction_withdrawn", checkpoint, restored: null }],
  });
  assert.deepEqual(reasons(compacted.user("five")), [null, null, "prefix_changed"]);

  // Older models' blocks are bound to nothing.
  const free = compaction(
    new History().user("one").model([thinking("s1"), text("a")], claude())
      .user("two").model([thinking("s2"), text("b")], claude()),
    2,
  ).user("three");
  assert.deepEqual(reasons(free, { model: BOUND }), ["before_checkpoint", null]);
});

Deno.test("Anthropic is asked to continue if a history ends with the assistant, at the same place in all later requests", () => {
  const history = new History().user("one")
    .model([text("half an ans")], { ...claude(), status: "incomplete" });
  const first = foldHistory(history.turns, TARGET).entries;
  assert.deepEqual(kinds(first), ["user_message", "assistant_message", "user_message"]);
  assert.deepEqual(first.at(-1), { kind: "user_message", content: [{ type: "input_text", text: GO_ON }] });
  history.model([text("wer.")], claude()).user("two");
  const later = foldHistory(history.turns, TARGET).entries;
  assert.deepEqual(later.slice(0, first.length), first);
  assert.equal(later.length, first.length + 2);

  assert.equal(foldHistory(history.turns, { ...TARGET, ...OPENAI }).entries.length, first.length + 1);
});

Deno.test("a response that its server paused goes back unchanged, with nothing after it", () => {
  const search: Item = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const history = new History().user("one").add({
    kind: "model",
    run: 1,
    model: { asked: MODEL, answered: null },
    fingerprint: CLAUDE,
    response: { id: "msg_1", status: "completed", paused: true },
    request: { body_sha256: "0".repeat(64), fold: 1, fields: {}, guard: { sent: 0, dropped: [] } },
    events: [{ type: "assistant_message", item: text("looking") }, { type: "provider_item", item: search }],
  });
  const expected = ["user_message", "assistant_message", "provider_item"];
  assert.deepEqual(kinds(foldHistory(history.turns, TARGET).entries), expected);
  const result: Item = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  history.model([result, text("found")], claude()).user("two");
  const later = foldHistory(history.turns, TARGET).entries;
  assert.deepEqual(kinds(later), [...expected, "provider_item", "assistant_message", "user_message"]);
});

Deno.test("a server's own call that was never answered stays out after the user's next message", () => {
  const search: Item = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const history = new History().user("one").model([text("looking"), search], { ...claude(), status: "cut" })
    .user("two");
  const folded = foldHistory(history.turns, TARGET);
  assert.deepEqual(kinds(folded.entries), ["user_message", "assistant_message", "user_message"]);
  assert.deepEqual(folded.dropped.map(({ reason }) => reason), ["unanswered_call"]);
});

Deno.test("calls and results go to every provider, and failed ones say so", () => {
  const history = new History().user("one").model([thinking("s"), toolUse("toolu_1")], claude()).results()
    .model([call("call_2")]).user("two");
  for (const target of [TARGET, { ...TARGET, ...OPENAI }]) {
    const { entries } = foldHistory(history.turns, target);
    const pairs = entries.flatMap((entry) =>
      entry.kind === "tool_call" || entry.kind === "tool_result" ? [[entry.kind, entry.callId]] : []
    );
    assert.deepEqual(pairs, [
      ["tool_call", "toolu_1"],
      ["tool_result", "toolu_1"],
      ["tool_call", "call_2"],
      ["tool_result", "call_2"],
    ]);
    const flags = entries.flatMap((entry) => entry.kind === "tool_result" ? [entry.isError ?? false] : []);
    assert.deepEqual(flags, [false, true], "the orphan is an error");
  }
});
