/** Requests of Chat Completions that the API refuses, and those that it takes (protocol §15.1, §15.2, §15.6). */
import assert from "node:assert/strict";
import { chatRules } from "../../../../../src/apis/chat/rules/known_good.ts";
import { CHAT_RULES } from "../../../../../src/apis/chat/rules/rule.ts";
import type { RuleSet } from "../../../../../src/apis/rule.ts";
import type { JsonObject, JsonValue } from "../../../../../src/domain/json.ts";
import { createReplayer } from "../../../../../src/fixture/serve/replayer.ts";
import { fixture, request } from "../../../fixture/serve/given.ts";

const user: JsonObject = { role: "user", content: "Hi" };
const call = (...ids: readonly string[]): JsonObject => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const output = (tool_call_id: string): JsonObject => ({ role: "tool", tool_call_id, content: "ok" });
const talk = (...messages: readonly JsonValue[]): JsonObject => ({ model: "gpt-4o", messages });

function violationsIn(body: JsonValue, set: RuleSet = "openai") {
  return chatRules.newKnownGood((blob) => blob).violations(body, {}, set);
}

const unanswered = (ids: string) =>
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
  `The following tool_call_ids did not have response messages: ${ids}`;

/** A mistake, its rule, the error, and whether the error is answered. */
const MISTAKES: readonly (readonly [
  what: string,
  body: JsonValue,
  rule: string,
  message: string,
  param: string | null,
  code: string | null,
  answered: boolean,
])[] = [
  [
    "an unanswered call",
    talk(user, call("a", "b"), output("a")),
    "call_without_output",
    unanswered("b"),
    "messages",
    null,
    true,
  ],
  [
    "a call that is answered after another message",
    talk(user, call("a"), user, output("a")),
    "output_without_call",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "messages.[3].role",
    null,
    true,
  ],
  [
    "an output of another call",
    talk(user, call("a"), output("b")),
    "unknown_tool_call_id",
    "Invalid parameter: 'tool_call_id' of 'b' not found in 'tool_calls' of previous message.",
    "messages.[2].tool_call_id",
    null,
    true,
  ],
  [
    "two outputs of one call",
    talk(user, call("a"), output("a"), output("a")),
    "duplicate_tool_call_id",
    "Invalid parameter: Duplicate value for 'tool_call_id' of 'a'",
    "messages.[3].tool_call_id",
    null,
    true,
  ],
  [
    "an output without the id of its call",
    talk(user, call("a"), { role: "tool", content: "ok" }),
    "missing_tool_call_id",
    "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    "messages.[2].tool_call_id",
    null,
    true,
  ],
  [
    "a message without any content",
    talk(user, { role: "assistant", content: null }),
    "null_content",
    "Invalid value for 'content': expected a string, got null.",
    "messages.[1].content",
    null,
    true,
  ],
  [
    "max_tokens for a reasoning model",
    { ...talk(user), model: "gpt-5.6", max_tokens: 5 },
    "max_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "max_tokens",
    "unsupported_parameter",
    true,
  ],
  [
    "a system message for o1-mini",
    { model: "o1-mini", messages: [{ role: "system", content: "Be nice" }, user] },
    "system_role",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "messages[0].role",
    "unsupported_value",
    true,
  ],
  [
    "the reasoning of another API",
    { ...talk(user), reasoning: {} },
    "unknown_parameter",
    "Unknown parameter: 'reasoning'.",
    "reasoning",
    "unknown_parameter",
    true,
  ],
  [
    "an unknown field",
    { ...talk(user), wishes: {} },
    "unknown_parameter",
    "Unknown parameter: 'wishes'.",
    "wishes",
    "unknown_parameter",
    false,
  ],
  [
    "a request without messages",
    { model: "gpt-4o" },
    "missing_parameter",
    "Missing required parameter: 'messages'.",
    "messages",
    "missing_required_parameter",
    true,
  ],
  [
    "content that is a number",
    talk({ role: "user", content: 3 }),
    "field_type",
    "Invalid type for 'messages[0].content': expected a string or an array, but got a number instead.",
    "messages[0].content",
    "invalid_type",
    true,
  ],
  [
    "an unknown role",
    talk({ role: "robot", content: "Hi" }),
    "message_role",
    "Invalid value: 'robot'. Supported values are: 'developer', 'system', 'user', 'assistant', 'tool', 'function'.",
    "messages[0].role",
    "invalid_value",
    true,
  ],
];

for (const [what, body, rule, message, param, code, answered] of MISTAKES) {
  Deno.test(`chat: ${what} ${answered ? "gets the API's error" : "is a warning"}`, () => {
    const [found] = violationsIn(body).filter((one) => one.rule === rule);
    assert.deepEqual(found?.error, { type: "invalid_request_error", message, param, code });
    assert.deepEqual([found?.status, found?.answered], [400, answered]);
  });
}

/** Mistakes whose texts are known in part only. */
const WARNED: readonly (readonly [what: string, body: JsonValue, rule: string])[] = [
  ["an id of 41 characters", talk(user, call("x".repeat(41)), output("x".repeat(41))), "tool_call_id_length"],
  [
    "an empty list of calls",
    talk(user, { role: "assistant", content: "Hi", tool_calls: [] }),
    "empty_tool_calls",
  ],
  ["a temperature of a reasoning model", { ...talk(user), model: "o3", temperature: 0.5 }, "temperature"],
  [
    "effort beside tools",
    {
      ...talk(user),
      model: "gpt-5.6-luna",
      reasoning_effort: "low",
      tools: [{ type: "function", function: { name: "f" } }],
    },
    "effort_with_tools",
  ],
];
for (const [what, body, rule] of WARNED) {
  Deno.test(`chat: ${what} is a warning, as the text of the error is not known`, () => {
    assert.deepEqual(violationsIn(body).map((found) => [found.rule, found.answered]), [[rule, false]]);
  });
}

/** Input that the API accepts. */
const ACCEPTED: readonly (readonly [what: string, body: JsonObject])[] = [
  ["a plain request", talk(user)],
  ["parallel calls in another order of outputs", talk(user, call("a", "b"), output("b"), output("a"), user)],
  ["calls of two turns with the same id", talk(user, call("a"), output("a"), call("a"), output("a"))],
  ["a call without content", talk(user, { ...call("a"), content: undefined }, output("a"))],
  ["a refusal without content", talk(user, { role: "assistant", content: null, refusal: "No" }, user)],
  ["max_tokens for a model without reasoning", { ...talk(user), max_tokens: 5, temperature: 0.5 }],
  ["a chat model of a reasoning generation", { ...talk(user), model: "gpt-5-chat-latest", max_tokens: 5 }],
];
for (const [what, body] of ACCEPTED) {
  Deno.test(`chat: ${what} breaks no rule`, () => assert.deepEqual(violationsIn(body), []));
}

Deno.test("chat: Azure takes the model from its path, and fields of its own", () => {
  const body = { messages: [user], data_sources: [] };
  assert.deepEqual(violationsIn(body, "azure"), []);
  assert.deepEqual(violationsIn(body).map(({ rule }) => rule), ["missing_parameter", "unknown_parameter"]);
});

Deno.test("chat: what a recorded model accepted is no mistake with it; pairing stays one", () => {
  const known = chatRules.newKnownGood((blob) => blob);
  const nothing = { accepted: true, items: [], thinking: [] };
  const asked = (json: JsonObject) => ({ json, headers: {} });
  known.add(asked({ ...talk(user, call("a")), model: "gpt-5.6", max_tokens: 5 }), nothing);
  known.add(asked({ ...talk(user), model: "o3", max_tokens: 5 }), { ...nothing, accepted: false });
  const rulesOf = (body: JsonObject) => known.violations(body, {}, "openai").map(({ rule }) => rule);
  assert.deepEqual(rulesOf({ ...talk(user), model: "gpt-5.6", max_tokens: 9 }), []);
  assert.deepEqual(rulesOf({ ...talk(user), model: "o3", max_tokens: 9 }), ["max_tokens"]);
  assert.deepEqual(rulesOf({ ...talk(user, call("b")), model: "gpt-5.6" }), ["call_without_output"]);
});

Deno.test("chat: every rule has its own name, and a fact", () => {
  assert.equal(new Set(CHAT_RULES.map(({ name }) => name)).size, CHAT_RULES.length);
  for (const { section } of CHAT_RULES) assert.match(section, /^§/);
});

Deno.test("chat: serve answers a forgotten output with the API's error, for OpenAI and not for other servers", () => {
  const path = "/v1/chat/completions";
  const response = { object: "chat.completion", choices: [{ index: 0, message: call("a") }], usage: {} };
  for (
    const [provider, kind] of [["openai", "refused"], ["azure", "refused"], ["compatible", "miss"]] as const
  ) {
    const recorded = fixture([{ path, request: talk(user), response }], { provider });
    const replayer = createReplayer([recorded], { match: "semantic", rules: null });
    const answer = replayer.answer(request(talk(user, call("a"), user), { path }));
    assert.equal(answer.kind, kind, provider);
  }
});
