/** Sessions of pi become sessions: both APIs in their own shapes, branches, compactions, damaged lines. */
import assert from "node:assert/strict";
import { readPi } from "../../../src/agents/pi/read.ts";
import { sessionOf, summaryOf } from "./support.ts";

const HEADER = {
  type: "session",
  version: 3,
  id: "one",
  timestamp: "2026-11-24T12:00:00.000Z",
  cwd: "/srv/code",
};

function chain(...messages: readonly Record<string, unknown>[]) {
  return [
    HEADER,
    ...messages.map(({ id, parentId, ...message }, index) => ({
      type: "message",
      id: id ?? `m${index}`,
      parentId: parentId ?? (index === 0 ? null : `m${index - 1}`),
      message,
    })),
  ];
}

const user = (text: string, more = {}) => ({ role: "user", content: [{ type: "text", text }], ...more });
const usage = { input: 100, output: 40, cacheRead: 8, cacheWrite: 12, totalTokens: 160 };
const REASONING = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" };

Deno.test("answers of the Responses API are items again, with their ids and reasoning", () => {
  const session = sessionOf(
    readPi,
    chain(
      user("Look"),
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", thinkingSignature: JSON.stringify(REASONING) },
          { type: "text", text: "Hm", textSignature: '{"v":1,"id":"msg_1"}' },
          { type: "toolCall", id: "call_1|fc_1", name: "bash", arguments: { command: "ls" } },
        ],
        ...{ api: "openai-responses", provider: "openai", model: "gpt-5.6", usage, stopReason: "toolUse" },
        responseId: "resp_1",
      },
      {
        role: "toolResult",
        toolCallId: "call_1|fc_1",
        content: [{ type: "text", text: "a.txt" }],
        isError: false,
      },
    ),
  );
  assert.deepEqual(session.main[1], {
    kind: "response",
    line: 3,
    provider: "openai",
    model: "gpt-5.6",
    responseId: "resp_1",
    status: "completed",
    items: [
      REASONING,
      {
        ...{ type: "message", role: "assistant", id: "msg_1", status: "completed" },
        content: [{ type: "output_text", text: "Hm", annotations: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "bash", arguments: '{"command":"ls"}' },
    ],
    usage: {
      ...{ input_tokens: 108, input_tokens_details: { cached_tokens: 8 } },
      ...{ output_tokens: 40, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 148 },
    },
  });
  assert.deepEqual(summaryOf(session.main).slice(2), ["result call_1 a.txt"]);
  assert.deepEqual([session.lost, session.others, session.version], [[], [], "format 3"]);
});

Deno.test("answers of the Messages API are blocks again; a server of the user's own is no provider", () => {
  const answered = (api: string) => ({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm", thinkingSignature: "sig" },
      { type: "text", text: "Yes" },
      { type: "toolCall", id: "toolu_1", name: "bash", arguments: { command: "ls" } },
    ],
    ...{ api, provider: "mine", model: "m", usage, stopReason: "aborted" },
  });
  const [, response] = sessionOf(readPi, chain(user("Look"), answered("anthropic-messages"))).main;
  assert.ok(response?.kind === "response");
  assert.deepEqual([response.provider, response.status], ["anthropic", "interrupted"]);
  assert.deepEqual(response.items, [
    { type: "thinking", thinking: "Hm", signature: "sig" },
    { type: "text", text: "Yes" },
    { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls" } },
  ]);
  assert.deepEqual(response.usage, {
    ...{ input_tokens: 100, cache_creation_input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 40 },
  });
  // The thinking of another API is not in the form of an item.
  const other = sessionOf(readPi, chain(user("Look"), answered("openai-completions")));
  const [, converted] = other.main;
  assert.ok(converted?.kind === "response");
  assert.deepEqual([converted.provider, converted.items.map(({ type }) => type)], [
    "compatible",
    ["message", "function_call"],
  ]);
  assert.deepEqual(other.lost.map(({ what }) => what), ['part "thinking"']);
});

Deno.test("the path to the last line is the main one, and others are kept beside it", () => {
  const answer = (id: string) => ({
    role: "assistant",
    content: [{ type: "text", text: id }],
    api: "x",
    responseId: id,
  });
  const session = sessionOf(readPi, [
    ...chain(user("One"), answer("a"), user("Left"), answer("b")),
    { type: "branch_summary", id: "s", parentId: "m1", summary: "Left it" },
    { type: "message", id: "n", parentId: "s", message: user("Two") },
    { type: "compaction", id: "c", parentId: "n", summary: "So far" },
    { type: "model_change", id: "d", parentId: "c" },
  ]);
  assert.deepEqual(summaryOf(session.main), [
    "user One",
    "response a message",
    "user Two",
    "compaction So far",
  ]);
  assert.deepEqual(session.others.map(({ shared, entries }) => [shared, summaryOf(entries)]), [
    [2, ["user Left", "response b message"]],
  ]);
  assert.deepEqual(session.lost.map(({ what }) => what), ['type "branch_summary"']);
});

Deno.test("a compaction keeps messages from the one that it names; one that replaces nothing is lost", () => {
  const compacted = (more: Record<string, unknown>) =>
    sessionOf(readPi, [
      ...chain(user("One"), user("Two"), user("Three")),
      { type: "compaction", id: "c", parentId: "m2", summary: "So far", ...more },
    ]);
  const compactionOf = (more: Record<string, unknown>) => summaryOf(compacted(more).main)[3];
  assert.equal(compactionOf({ firstKeptEntryId: "m1" }), "compaction So far from line 3");
  assert.equal(compactionOf({ firstKeptEntryIndex: 3 }), "compaction So far from line 4");
  assert.equal(compactionOf({ firstKeptEntryId: "none" }), "compaction So far");
  const whole = compacted({ firstKeptEntryId: "m0" });
  assert.deepEqual([whole.main.length, whole.lost.map(({ what }) => what)], [3, ["compaction"]]);
});

Deno.test("lines without ids follow one another, and no line is fatal", () => {
  const session = sessionOf(readPi, [
    HEADER,
    { type: "message", message: user("One") },
    { type: "message", message: { role: "bashExecution", command: "ls" } },
    { type: "message", message: { role: "assistant", content: [{ type: "odd" }] } },
    { type: "message", message: { role: "toolResult", toolCallId: 5, content: "x" } },
    { type: "message" },
    { type: "message", message: user("") },
    {
      type: "message",
      message: { role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
    },
  ]);
  assert.deepEqual(summaryOf(session.main), ["user One", "user input_image"]);
  assert.deepEqual(session.lost.map(({ line }) => line), [3, 4, 4, 5, 6, 7, 7]);
});
