import assert from "node:assert/strict";
import type { Item } from "../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../src/domain/folded.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import {
  call,
  FINGERPRINT,
  History,
  message,
  MODEL,
  reasoning,
  type ResponseFacts,
  TARGET,
} from "../../support/history.ts";

function kinds(entries: readonly FoldedEntry[]): string[] {
  return entries.map((entry) => entry.kind);
}

function loop(facts: ResponseFacts = {}): History {
  return new History().user("hello")
    .model([reasoning("rs_1"), call("call_1")], facts).results()
    .model([reasoning("rs_2"), message("msg_1", "done")], facts).ended();
}

Deno.test("fold sends all reasoning of the same origin, in order, unaltered", () => {
  const { entries, dropped } = foldHistory(loop().turns, TARGET);
  assert.deepEqual(kinds(entries), [
    "user_message",
    "reasoning",
    "tool_call",
    "tool_result",
    "reasoning",
    "assistant_message",
  ]);
  const items = entries.flatMap((entry) => entry.kind === "reasoning" ? [entry.item] : []);
  assert.deepEqual(items, [reasoning("rs_1"), reasoning("rs_2")]);
  assert.deepEqual(dropped, []);
});

const MISMATCHES: readonly (readonly [string, ResponseFacts, Partial<FoldTarget>, string | null])[] = [
  ["another endpoint", { fingerprint: { endpoint: "ffffffff" } }, {}, "other_endpoint"],
  ["another model", { asked: "gpt-6" }, {}, "other_model"],
  // The answering snapshot counts as the same model: it issued the blob.
  ["the answering snapshot asked by name", { asked: "alias", answered: MODEL }, {}, null],
  [
    "two known accounts",
    { fingerprint: { account: "a" } },
    { fingerprint: { ...FINGERPRINT, account: "b" } },
    "other_account",
  ],
  // Unknown is not a mismatch, on either side.
  ["an account unknown now", { fingerprint: { account: "a" } }, {}, null],
  ["an account unknown then", {}, { fingerprint: { ...FINGERPRINT, account: "b" } }, null],
  ["replay switched off", {}, { replay: "none" }, "replay_off"],
];

for (const [name, facts, target, reason] of MISMATCHES) {
  Deno.test(`fold and ${name}: ${reason === null ? "reasoning is sent" : `reasoning is dropped as ${reason}`}`, () => {
    const folded = foldHistory(loop(facts).turns, { ...TARGET, ...target });
    assert.deepEqual(folded.reasoning.map((decision) => decision.reason), [reason, reason]);
    assert.deepEqual(folded.dropped.map((item) => item.reason), reason === null ? [] : [reason, reason]);
    // Calls and their outputs go in any case.
    const calls = folded.entries.filter((entry) =>
      entry.kind === "tool_call" || entry.kind === "tool_result"
    );
    assert.equal(calls.length, 2);
  });
}

Deno.test("fold names another provider before any other difference", () => {
  const facts = { fingerprint: { provider: "elsewhere" as "openai", endpoint: "ffffffff" }, asked: "m" };
  assert.deepEqual(
    foldHistory(loop(facts).turns, TARGET).dropped.map((item) => item.reason),
    ["other_provider", "other_provider"],
  );
});

Deno.test("a message keeps its id directly after sent reasoning only", () => {
  const keepIds = (target: FoldTarget, items: readonly Item[]) =>
    foldHistory(new History().user("x").model(items).turns, target).entries
      .flatMap((entry) => entry.kind === "assistant_message" ? [entry.keepId] : []);
  const items = [reasoning("rs_1"), message("msg_1", "a", "commentary"), message("msg_2", "b")];
  assert.deepEqual(keepIds(TARGET, items), [true, false]);
  assert.deepEqual(keepIds({ ...TARGET, model: "gpt-6" }, items), [false, false]);
  assert.deepEqual(keepIds(TARGET, [message("msg_1", "a")]), [false]);
});

Deno.test("fold drops reasoning that nothing of its response follows", () => {
  const cut = new History().user("x").model([reasoning("rs_1"), reasoning("rs_2")], { status: "incomplete" })
    .user("y");
  const folded = foldHistory(cut.turns, TARGET);
  assert.deepEqual(folded.dropped.map(({ reason }) => reason), ["no_following_item", "no_following_item"]);
  assert.deepEqual(kinds(folded.entries), ["user_message", "user_message"]);
  // Several reasoning items before one follower all stay.
  const several = new History().user("x").model([
    reasoning("rs_1"),
    reasoning("rs_2"),
    message("msg_1", "a"),
  ]);
  assert.deepEqual(foldHistory(several.turns, TARGET).dropped, []);
  // The trailing one goes, the one with a follower stays.
  const trailing = new History().user("x").model([
    reasoning("rs_1"),
    message("msg_1", "a"),
    reasoning("rs_2"),
  ]);
  assert.deepEqual(foldHistory(trailing.turns, TARGET).dropped, [{ seq: 4, reason: "no_following_item" }]);
});

Deno.test("fold drops reasoning without encrypted content, and a second item with the same id", () => {
  const history = new History().user("x")
    .model([reasoning("rs_1", null), message("msg_1", "a")])
    .model([reasoning("rs_2"), message("msg_2", "b")])
    .model([reasoning("rs_2"), message("msg_3", "c")]);
  assert.deepEqual(
    foldHistory(history.turns, TARGET).dropped.map(({ reason }) => reason),
    ["no_encrypted_content", "duplicate_id"],
  );
});

Deno.test("hosted items go with their reasoning, and stay home without it", () => {
  const search: Item = {
    id: "ws_1",
    type: "web_search_call",
    status: "completed",
    action: { type: "search" },
  };
  const history = new History().user("x").model([reasoning("rs_1"), search, message("msg_1", "a")]);
  assert.ok(kinds(foldHistory(history.turns, TARGET).entries).includes("provider_item"));
  const elsewhere = foldHistory(history.turns, { ...TARGET, model: "gpt-6" });
  assert.deepEqual(elsewhere.dropped.map(({ reason }) => reason), ["other_model", "reasoning_dropped"]);
});

Deno.test("a client-side call that cannot be answered is not sent, nor is reasoning that only it follows", () => {
  const shell: Item = { id: "sh_1", type: "shell_call", call_id: "call_s", status: "completed", action: {} };
  const alone = foldHistory(new History().user("x").model([reasoning("rs_1"), shell]).turns, TARGET);
  assert.deepEqual(alone.dropped, [
    { seq: 2, reason: "no_following_item" },
    { seq: 3, reason: "unanswered_call" },
  ]);
  const output: Item = { id: "sho_1", type: "shell_call_output", call_id: "call_s", output: [] };
  const answered = foldHistory(
    new History().user("x").model([reasoning("rs_1"), shell, output]).turns,
    TARGET,
  );
  assert.deepEqual(answered.dropped, []);
});

Deno.test("the open content of reasoning goes only to the endpoint that returned it", () => {
  const shown: Item = { ...reasoning("rs_1"), content: [{ type: "reasoning_text", text: "Hm." }] };
  const history = new History().user("hello").model([shown, message("msg_1", "done")]).ended();
  const contentsFor = (endpoint: string) => {
    const { entries } = foldHistory(history.turns, { ...TARGET, fingerprint: { ...FINGERPRINT, endpoint } });
    return entries.flatMap((entry) =>
      "item" in entry && entry.kind === "reasoning" ? [entry.item.content] : []
    );
  };
  assert.deepEqual(contentsFor(FINGERPRINT.endpoint), [shown.content]);
  assert.deepEqual(contentsFor("ffffffff"), []);
});
