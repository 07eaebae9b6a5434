/** The rules of Chat Completions, and the errors for requests that break them. */
import type { JsonObject } from "../../../domain/json.ts";
import type { ApiRule, FoundViolation } from "../../rule.ts";

/** A violation of a rule. */
export type ChatViolation = FoundViolation<ChatRuleName>;

export interface PlacedMessage {
  readonly index: number;
  readonly message: JsonObject;
}

/** The rules, in the order of their checks: shapes before the order of messages, as the paths of errors differ. */
export const CHAT_RULES = [
  {
    name: "well_formed",
    summary: "No string holds a lone surrogate",
    section: "§6.1",
    grade: "third_party",
  },
  {
    name: "missing_parameter",
    summary: "`model` and `messages` are there",
    section: "§15.1",
    grade: "types",
  },
  {
    name: "field_type",
    summary: "Fields have the type that the official types give them",
    section: "§15.1, §15.2",
    grade: "types",
  },
  {
    name: "message_role",
    summary: "Every message has a role that the API knows",
    section: "§15.2",
    grade: "types",
  },
  {
    name: "unknown_parameter",
    summary: "No field is sent that the request does not have; `reasoning` has been refused",
    section: "§15.1, §15.6",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "max_tokens",
    summary: "Reasoning models get `max_completion_tokens` instead of `max_tokens`",
    section: "§15.6",
    grade: "wire",
    exactText: true,
  },
  {
    name: "temperature",
    summary: "Reasoning models get no `temperature` but 1",
    section: "§15.6",
    grade: "third_party",
  },
  {
    name: "system_role",
    summary: "o1-mini gets no `system` message",
    section: "§15.6",
    grade: "wire",
    exactText: true,
  },
  {
    name: "effort_with_tools",
    summary: "gpt-5.6-luna gets no `reasoning_effort` beside function tools",
    section: "§15.6",
    grade: "third_party",
  },
  {
    name: "empty_tool_calls",
    summary: "`tool_calls` of a message holds at least one call",
    section: "§15.6",
    grade: "third_party",
  },
  {
    name: "tool_call_id_length",
    summary: "The id of a call has at most 40 characters",
    section: "§15.2, §15.6",
    grade: "third_party",
  },
  {
    name: "null_content",
    summary: "The `content` of an assistant is null or absent only beside calls, a refusal or audio",
    section: "§15.2, §15.6",
    grade: "types",
    exactText: true,
  },
  {
    name: "missing_tool_call_id",
    summary: "A message with role `tool` has a `tool_call_id`",
    section: "§15.2, §15.6",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "output_without_call",
    summary: "A message with role `tool` follows the message with its call",
    section: "§15.2, §15.6",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "unknown_tool_call_id",
    summary: "A `tool_call_id` is in `tool_calls` of the message before",
    section: "§15.6",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "duplicate_tool_call_id",
    summary: "No call is answered twice",
    section: "§15.6",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "call_without_output",
    summary: "Every call is answered before any other message",
    section: "§15.2, §15.6",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
] as const satisfies readonly ApiRule[];

type ChatRuleName = (typeof CHAT_RULES)[number]["name"];
