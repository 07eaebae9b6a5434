/** A file that lacks its first prompt is imported from the first message of the user on, or from a summary. */
import assert from "node:assert/strict";
import type { AgentEntry, AgentSession } from "../../../src/agents/agent_session.ts";
import { fromFirstPrompt } from "../../../src/agents/first_prompt.ts";
import { splitLines } from "../../../src/agents/lines.ts";
import { readerOf } from "../../../src/agents/readers.ts";
import { bytesOf, summaryOf } from "./support.ts";

const user = (line: number): AgentEntry => ({
  ...{ kind: "user", line },
  content: [{ type: "input_text", text: `${line}` }],
});
const answer = (line: number): AgentEntry => ({
  ...{ kind: "response", line, provider: null, model: null, responseId: `${line}` },
  ...{ status: "completed", items: [{ type: "message" }], usage: null },
});
const result = (line: number): AgentEntry => ({
  ...{ kind: "result", line, callId: "c", isError: false, output: "" },
});
const compaction = (line: number): AgentEntry => ({
  ...{ kind: "compaction", line, summary: "So far", keptFrom: null },
});

function begun(main: readonly AgentEntry[], others: AgentSession["others"] = []) {
  return fromFirstPrompt({ agent: "codex", version: null, id: null, main, others, lost: [] });
}

Deno.test("answers and results before the first message are lost, and branches leave where they left", () => {
  const { main, others, lost } = begun([answer(1), result(2), user(3), answer(4)], [
    { name: "late", shared: 4, entries: [user(5)] },
    { name: "early", shared: 1, entries: [answer(6), user(7)] },
    { name: "empty", shared: 0, entries: [answer(8)] },
  ]);
  assert.deepEqual(main.map(({ line }) => line), [3, 4]);
  assert.deepEqual(others.map(({ name, shared, entries }) => [name, shared, entries[0]?.line]), [
    ["late", 2, 5],
    ["early", 0, 7],
  ]);
  assert.deepEqual(lost.map(({ line, what }) => [line, what]), [
    [1, "answer"],
    [2, "result"],
    [6, "answer"],
    [8, "answer"],
  ]);
});

Deno.test("a summary before the first message becomes a message; a later one stays a compaction", () => {
  const { main, lost } = begun([answer(1), compaction(2), answer(3), compaction(4)]);
  assert.deepEqual(summaryOf(main), [
    "user This is a summary of the conversation so far:\n\nSo far",
    "response 3 message",
    "compaction So far",
  ]);
  assert.deepEqual(lost.map(({ line }) => line), [1]);
  assert.deepEqual(begun([user(1), compaction(2)]).main.map(({ kind }) => kind), ["user", "compaction"]);
});

Deno.test("all readers begin with a message of the user", () => {
  const line = (type: string, uuid: string, more: unknown) => ({
    type,
    uuid,
    parentUuid: uuid,
    message: more,
  });
  const sources = [
    [{ type: "compacted", payload: { message: "So far" } }, { type: "event_msg", payload: {} }],
    [
      { type: "session", id: "one", cwd: "/srv/code" },
      { type: "compaction", id: "a", parentId: null, summary: "So far" },
    ],
    [
      { ...line("assistant", "a", { id: "m", content: [{ type: "text", text: "1" }] }), sessionId: "one" },
      { ...line("user", "b", { role: "user", content: "Two" }), parentUuid: "a" },
    ],
  ];
  for (const source of sources) {
    const bytes = bytesOf(source);
    const { main } = readerOf(bytes)?.read(
      splitLines(bytes, {
        name: "x.jsonl",
        isRecord: () => false,
      }).lines,
    ) ?? {};
    assert.equal(main?.[0]?.kind, "user", JSON.stringify(source));
  }
});
