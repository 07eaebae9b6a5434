/** Sessions of pi: both APIs in their own shapes, branches, compactions, damaged lines. */
import type { Json } from "../../support/files.ts";
import type { Rows } from "./transcripts.ts";

const HEADER = {
  type: "session",
  version: 3,
  id: "one",
  timestamp: "2026-11-24T12:00:00.000Z",
  cwd: "/srv/code",
};
const chain = (...messages: readonly Json[]): Json[] => [
  HEADER,
  ...messages.map(({ id, parentId, ...message }, index) => ({
    ...{ type: "message", id: id ?? `m${index}` },
    ...{ parentId: parentId ?? (index === 0 ? null : `m${index - 1}`), message },
  })),
];
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const usage = { input: 100, output: 40, cacheRead: 8, cacheWrite: 12, totalTokens: 160 };
const answer = (id: string) => ({
  role: "assistant",
  content: [{ type: "text", text: id }],
  api: "x",
  responseId: id,
});
const compaction = (more: Json) => ({
  type: "compaction",
  id: "c",
  parentId: "m2",
  summary: "So far",
  ...more,
});
const THREE = ["user One", "user Two", "user Three"];

/** An answer with thinking, text and a call, of one of the APIs. */
export const answered = (api: string): Json => ({
  role: "assistant",
  content: [
    { type: "thinking", thinking: "Hm", thinkingSignature: "sig" },
    { type: "text", text: "Yes" },
    { type: "toolCall", id: "toolu_1", name: "bash", arguments: { command: "ls" } },
  ],
  ...{ api, provider: "mine", model: "m", usage, stopReason: "aborted" },
});
/** A reasoning item of the Responses API. */
export const REASONING = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" };
/** Lines with an answer of each API. */
export const RESPONSES: readonly Json[] = chain(user("Look"), {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "", thinkingSignature: JSON.stringify(REASONING) },
    { type: "text", text: "Hm", textSignature: '{"v":1,"id":"msg_1"}' },
    { type: "toolCall", id: "call_1|fc_1", name: "bash", arguments: { command: "ls" } },
  ],
  ...{ api: "openai-responses", provider: "openai", model: "gpt-5.6", usage, stopReason: "toolUse" },
  responseId: "resp_1",
}, {
  role: "toolResult",
  toolCallId: "call_1|fc_1",
  content: [{ type: "text", text: "a.txt" }],
  isError: false,
});
export const MESSAGES: readonly Json[] = chain(user("Look"), answered("anthropic-messages"));

/** See the module. */
export const PI: Rows = {
  "an answer of the Responses API has items again": {
    lines: RESPONSES,
    turns: ["user Look", "response resp_1 reasoning message function_call", "result call_1 a.txt"],
  },
  "an answer of the Messages API has blocks again": {
    lines: MESSAGES,
    turns: ["user Look", "response  thinking text tool_use interrupted", "no result toolu_1"],
  },
  "the thinking of another API is in no form that an item has": {
    lines: chain(user("Look"), answered("openai-completions")),
    turns: ["user Look", "response  message function_call interrupted", "no result toolu_1"],
    lost: ['3 part "thinking"'],
  },
  "the path to the last line is the main one, and others are beside it": {
    lines: [
      ...chain(user("One"), answer("a"), user("Left"), answer("b")),
      { type: "branch_summary", id: "s", parentId: "m1", summary: "Left it" },
      { type: "message", id: "n", parentId: "s", message: user("Two") },
      { type: "compaction", id: "c", parentId: "n", summary: "So far" },
      { type: "model_change", id: "d", parentId: "c" },
    ],
    turns: [
      ...["user One", "response a message", "user Two"],
      "compaction of turns 1 to 4, keeps the prompt of turn 4: So far",
    ],
    lost: ['6 type "branch_summary"'],
    forks: { "branch at line 4": ["user One", "response a message", "user Left", "response b message"] },
  },
  "a line that is its own parent begins the path": {
    lines: chain(user("One"), { id: "m1", parentId: "m1", ...user("Two") }, answer("a")),
    turns: ["user Two", "response a message"],
    forks: { "branch at line 2": ["user One"] },
  },
  "a compaction keeps messages from the one that it names": {
    lines: [...chain(user("One"), user("Two"), user("Three")), compaction({ firstKeptEntryId: "m1" })],
    turns: [...THREE, "compaction of turns 1 to 2: So far"],
  },
  "a compaction may name a message by its index": {
    lines: [...chain(user("One"), user("Two"), user("Three")), compaction({ firstKeptEntryIndex: 3 })],
    turns: [...THREE, "compaction of turns 1 to 4: So far"],
  },
  "a compaction that names an unknown message replaces all before it": {
    lines: [...chain(user("One"), user("Two"), user("Three")), compaction({ firstKeptEntryId: "none" })],
    turns: [...THREE, "compaction of turns 1 to 5, keeps the prompt of turn 5: So far"],
  },
  "a compaction that replaces nothing is lost": {
    lines: [...chain(user("One"), user("Two"), user("Three")), compaction({ firstKeptEntryId: "m0" })],
    turns: THREE,
    lost: ["5 compaction"],
  },
  "a later checkpoint replaces at least what the one before replaced": {
    lines: [
      ...chain(user("One"), user("Two"), user("Three")),
      compaction({ firstKeptEntryId: "m2" }),
      { type: "message", id: "n", parentId: "c", message: user("Four") },
      compaction({ id: "c2", parentId: "n", firstKeptEntryId: "m1", summary: "Later" }),
    ],
    turns: [
      ...[...THREE, "compaction of turns 1 to 4: So far", "user Four", "compaction of turns 1 to 4: Later"],
    ],
  },
  "the output of --mode json has messages in the events of their ends": {
    lines: [
      ...[HEADER, { type: "agent_start" }, { type: "message_start", message: user("One") }],
      { type: "message_end", message: user("One") },
      { type: "message_update", message: answer("a"), assistantMessageEvent: { type: "text_delta" } },
      {
        type: "message_end",
        message: { ...answer("a"), content: [{ type: "toolCall", id: "t", name: "bash" }] },
      },
      { type: "tool_execution_end", toolCallId: "t" },
      { type: "message_end", message: { role: "toolResult", toolCallId: "t", content: "x" } },
      { type: "message_end", message: answer("b") },
      { type: "agent_end", messages: [user("One"), answer("b")] },
    ],
    turns: ["user One", "response a function_call", "result t x", "response b message"],
  },
  "texts for the parts of messages and results are read": {
    lines: chain(
      { role: "user", content: "One" },
      { ...answer("a"), content: [{ type: "toolCall", id: "t1", name: "bash", arguments: {} }] },
      { role: "toolResult", toolCallId: "t1", content: "one.txt two.txt" },
      { ...answer("b"), content: [{ type: "toolCall", id: "t2", name: "bash", arguments: {} }] },
      { role: "toolResult", toolCallId: "t2", content: [{ type: "text", text: "x" }, "y", { type: "odd" }] },
      { ...answer("c"), content: "Done" },
    ),
    turns: [
      ...["user One", "response a function_call", "result t1 one.txt two.txt"],
      ...["response b function_call", "result t2 xy", "response c message"],
    ],
    lost: ['6 part "odd"'],
  },
  "lines without ids follow one another, and no line is fatal": {
    lines: [
      ...[HEADER, { type: "message", message: user("One") }],
      { type: "message", message: { role: "bashExecution", command: "ls" } },
      { type: "message", message: { role: "assistant", content: [{ type: "odd" }] } },
      { type: "message", message: { role: "toolResult", toolCallId: 5, content: "x" } },
      ...[{ type: "message" }, { type: "message", message: user("") }],
      {
        type: "message",
        message: { role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
      },
    ],
    turns: ["user One", "user input_image"],
    lost: [
      ...['3 message of "bashExecution"', '4 part "odd"', "4 answer", '5 result of ""'],
      ...['6 type "message"', '7 part "text"', '7 message of "user"'],
    ],
  },
};
