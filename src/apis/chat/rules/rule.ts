/** The rules of Chat Completions, and the parsed request that they are checked on. */
import type { JsonObject } from "../../../domain/json.ts";
import { type FoundViolation, type RuleSet, rulesOf } from "../../rule.ts";

export type ChatViolations = Iterable<FoundViolation<ChatRuleName>>;

export interface ChatRequest {
  readonly body: JsonObject;
  readonly set: RuleSet;
  /** The objects among its messages, with their places. */
  readonly messages: readonly { readonly index: number; readonly message: JsonObject }[];
}

/** The rules, in the order of their checks: shapes before the order of messages, as the paths of errors differ. */
export const CHAT_RULES = rulesOf({
  well_formed: ["§6.1: third_party", "No string holds a lone surrogate"],
  missing_parameter: ["§15.1: types", "`model` and `messages` are there"],
  field_type: ["§15.1, §15.2: types", "Fields have the type that the official types give them"],
  message_role: ["§15.2: types", "Every message has a role that the API knows"],
  unknown_parameter: [
    "§15.1, §15.6: third_party exact",
    "No field is sent that the request does not have; `reasoning` has been refused",
  ],
  max_tokens: ["§15.6: wire exact", "Reasoning models get `max_completion_tokens` instead of `max_tokens`"],
  temperature: ["§15.6: third_party", "Reasoning models get no `temperature` but 1"],
  system_role: ["§15.6: wire exact", "o1-mini gets no `system` message"],
  effort_with_tools: ["§15.6: third_party", "gpt-5.6-luna gets no `reasoning_effort` beside function tools"],
  empty_tool_calls: ["§15.6: third_party", "`tool_calls` of a message holds at least one call"],
  tool_call_id_length: ["§15.2, §15.6: third_party", "The id of a call has at most 40 characters"],
  null_content: [
    "§15.2, §15.6: types exact",
    "The `content` of an assistant is null or absent only beside calls, a refusal or audio",
  ],
  missing_tool_call_id: [
    "§15.2, §15.6: third_party exact",
    "A message with role `tool` has a `tool_call_id`",
  ],
  output_without_call: [
    "§15.2, §15.6: third_party exact history",
    "A message with role `tool` follows the message with its call",
  ],
  unknown_tool_call_id: [
    "§15.6: third_party exact history",
    "A `tool_call_id` is in `tool_calls` of the message before",
  ],
  duplicate_tool_call_id: ["§15.6: third_party exact history", "No call is answered twice"],
  call_without_output: [
    "§15.2, §15.6: third_party exact history",
    "Every call is answered before any other message",
  ],
});

type ChatRuleName = (typeof CHAT_RULES)[number]["name"];
