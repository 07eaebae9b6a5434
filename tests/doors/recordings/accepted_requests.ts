/** Requests that the three APIs take, by the items that a fixture shows. */
import type { Json } from "../../support/files.ts";
import { answered, calls, talk, user as asks } from "./chat_rules.ts";
import {
  assistant,
  BINDING,
  found,
  HEADERS,
  OLD_VERSION,
  request,
  result as done,
  results,
  search,
  secret,
  thought as thinking,
  tool,
  use,
  user as person,
  words,
} from "./messages_rules.ts";
import { call, reply, result, stateless, thought, user } from "./responses_rules.ts";
import { sent } from "./served.ts";

const second = (item: Json) => ({ ...item, call_id: "call_2" });
const use2 = { ...use, id: "toolu_2" };
const done2 = { ...done, tool_use_id: "toolu_2" };
const cached = { cache_control: { type: "ephemeral", ttl: "5m" } };
const DROP = { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } };
const thread = { ...HEADERS, "anthropic-beta": "message-threads-2026-08-12" };

/** By path. */
export const ACCEPTED: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  "/v1/responses": {
    "text alone": { model: "m", input: "hello" },
    "reasoning for two calls, answered after both": stateless([
      user,
      thought,
      call,
      second(call),
      result,
      second(result),
    ]),
    "reasoning for two calls, answered one by one": stateless([
      user,
      thought,
      call,
      result,
      second(call),
      second(result),
    ]),
    "a message with its id after reasoning": stateless([user, thought, reply, user]),
    "ids and status of calls": stateless([user, thought, { ...call, id: "fc_1", status: null }, result]),
    "a field of Codex CLI": stateless([{
      ...user,
      internal_chat_message_metadata_passthrough: { turn_id: "t" },
    }]),
    "a call id that comes again once it was answered": stateless([user, call, result, call, result]),
    "a compaction with its trigger": stateless([user, {
      type: "compaction_trigger",
    }]),
    "a call of the server's own tool": stateless([{
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: {},
    }, user]),
    "an output after a stored response": { model: "m", previous_response_id: "resp_1", input: [result] },
    "a reference to a stored item": { model: "m", input: [user, { type: "item_reference", id: "msg_1" }] },
    "a temperature without reasoning": stateless([user], { reasoning: { effort: "none" }, temperature: 0.5 }),
  },
  "/v1/messages": {
    "nothing but a warmed cache": request([user], { max_tokens: 0 }),
    "results in another order, before text": request([
      person,
      assistant(thinking, secret, words, use, use2),
      results(done2, done, words),
    ]),
    "neighbours of one role": request([
      person,
      person,
      assistant(thinking),
      assistant(use, use2),
      results(done),
      results(done2),
    ]),
    "a system message": request([person, { role: "system", content: "Be brief." }, person]),
    "the server's own tool with its result": request([person, assistant(search, found, words), person]),
    "the caller of a use": request([
      person,
      assistant({ ...use, caller: { type: "direct" } }),
      results(done),
    ]),
    "a failed result with an image": request([
      person,
      assistant(use),
      results({ ...done, is_error: true, content: [words, { type: "image", source: {} }] }),
    ]),
    "a compaction": request([
      person,
      assistant({ type: "compaction", content: "So far.", any: 1 }, words),
      person,
    ]),
    "all settings": request([results({ ...words, ...cached })], {
      ...cached,
      system: [{ type: "text", text: "Be brief.", ...cached }],
      tools: [{ ...tool, description: "", strict: true, ...cached }, {
        type: "web_search_20260318",
        name: "web_search",
      }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
      output_config: { effort: "xhigh", format: { type: "json_schema", schema: {} } },
      metadata: { user_id: "u" },
      stop_sequences: ["."],
    }),
    ...Object.fromEntries(
      ["adaptive", "disabled", "between_tools"].map((
        type,
      ) => [`${type} thinking`, request([person], { thinking: { type } })]),
    ),
    "binding controls with their header": sent(request([person], DROP), { headers: BINDING }),
    "a turn of a thread that the server holds": sent(
      request([results(done)], { thread: { type: "continue", previous_message_id: "msg_1" } }),
      { headers: thread },
    ),
    "sampling and citations under the older version": sent(
      request([results({ ...words, citations: [] }), assistant({ type: "document", source: {} }), person], {
        ...{ temperature: 1, top_p: 0.99 },
      }),
      { headers: OLD_VERSION },
    ),
  },
  "/v1/chat/completions": {
    "parallel calls in another order of outputs": talk(
      asks,
      calls("a", "b"),
      answered("b"),
      answered("a"),
      asks,
    ),
    "calls of two turns with one id": talk(asks, calls("a"), answered("a"), calls("a"), answered("a")),
    "a call without content": talk(asks, { ...calls("a"), content: undefined }, answered("a")),
    "a refusal without content": talk(asks, { role: "assistant", content: null, refusal: "No" }, asks),
    "max_tokens for a model without reasoning": { ...talk(asks), max_tokens: 5, temperature: 0.5 },
    "a chat model of a reasoning generation": { ...talk(asks), model: "gpt-5-chat-latest", max_tokens: 5 },
  },
};

/** A form that an API took in one request is allowed in every other one of the fixture; something like it is not. */
export const TAKEN: readonly (readonly [path: string, did: Json, other: Json])[] = [
  ...[
    [{ thinking: { type: "adaptive", display: "updates" } }, {
      thinking: { type: "adaptive", display: "full" },
    }],
    [{ system: "a", max_tokens: "9" }, { system: "a", max_tokens: [] }],
    [{ output_config: { effort: "ultra" } }, { output_config: { effort: "giga" } }],
    [{ mood: 1 }, { tone: 1 }],
    [{ tool_choice: { type: "some" } }, { tool_choice: { type: "few" } }],
    [{ messages: [results({ ...words, mood: "x" })] }, { messages: [results({ ...words, tone: "x" })] }],
    [{ messages: [results({ type: "video" })] }, { messages: [results({ type: "audio" })] }],
  ].map(([did, other]) => ["/v1/messages", request([person], did), request([person], other)] as const),
  ...[
    [stateless([user, { type: "dream" }]), stateless([user, { type: "vision" }])],
    [
      stateless([user, { type: "custom_tool_call", name: "x", input: "" }]),
      stateless([user, { type: "shell_call", action: {} }]),
    ],
    [stateless([user], { include: ["message.mood"] }), stateless([user], { include: ["message.tone"] })],
    [stateless([user, { ...call, id: "call-1" }, result]), stateless([user, { ...reply, id: "x-1" }])],
    [stateless([user], { temperature: 0.5 }), stateless([user], { top_p: 0.5 })],
  ].map(([did, other]) => ["/v1/responses", did, other] as const),
  ...[
    [talk({ role: "critic", content: "a" }), talk({ role: "judge", content: "a" })],
    [talk({ ...asks, content: { text: "a" } }), { ...talk(asks), stream: "yes" }],
    [{ ...talk(asks), reasoning: {} }, { ...talk({ role: "system", content: "a" }), model: "o1-mini" }],
    [{ ...talk(asks), model: "gpt-5.6", max_tokens: 5 }, { ...talk(asks), model: "o3", max_tokens: 5 }],
  ].map(([did, other]) => ["/v1/chat/completions", did, other] as const),
];
