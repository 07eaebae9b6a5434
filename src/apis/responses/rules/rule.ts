/** The rules of the OpenAI Responses API, and the errors for requests that break them. */
import type { ApiRule, FoundViolation } from "../../rule.ts";

/** A violation of a rule. */
export type ResponsesViolation = FoundViolation<ResponsesRuleName>;

/** The rules, in the order of their checks (protocol §13). */
export const RESPONSES_RULES = [
  {
    name: "well_formed",
    summary: "No string holds a lone surrogate",
    section: "§6.1",
    grade: "third_party",
  },
  {
    name: "field_type",
    summary: "Fields have the type that the official types give them",
    section: "§1.2, §2.1",
    grade: "types",
  },
  {
    name: "unknown_item_type",
    summary: "Every input item has a type that the API knows",
    section: "§2.1, §2.2",
    grade: "types",
  },
  {
    name: "unknown_parameter",
    summary: "No field is sent that the item's input type does not have; Azure has refused `status`",
    section: "§2.2, §6.2",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "missing_parameter",
    summary: "Every required field of an input item is there",
    section: "§2.1, §6.2",
    grade: "types",
    exactText: true,
  },
  {
    name: "include_value",
    summary: "`include` lists known values only",
    section: "§1.3",
    grade: "types",
  },
  {
    name: "unsupported_parameter",
    summary: "`temperature`, `top_p` and `top_logprobs` are left out when reasoning is requested",
    section: "§1.2, §6.2",
    grade: "wire",
    exactText: true,
  },
  {
    name: "stream_options",
    summary: "`stream_options` comes with `stream: true` only",
    section: "§1.2",
    grade: "derived",
  },
  {
    name: "previous_response",
    summary: "`previous_response_id` names a stored response, so not one of a `store: false` session",
    section: "§4.4, §6.2",
    grade: "docs",
    exactText: true,
  },
  {
    name: "call_id_length",
    summary: "A `call_id` has 1 to 64 characters",
    section: "§2.1",
    grade: "types",
  },
  {
    name: "id_length",
    summary: "An item's `id` has at most 64 characters",
    section: "§2.3",
    grade: "third_party",
  },
  {
    name: "id_prefix",
    summary: "An item's `id` begins with the prefix of its type",
    section: "§2.3, §6.2",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "duplicate_id",
    summary: "No id occurs twice",
    section: "§2.3, §6.2",
    grade: "wire",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "item_reference",
    summary: "An `item_reference` names a stored item, so none under `store: false`",
    section: "§4.4, §6.2",
    grade: "third_party",
    exactText: true,
  },
  {
    name: "reasoning_not_stored",
    summary: "Under `store: false` a reasoning item comes with its `encrypted_content`",
    section: "§2.3, §6.2",
    grade: "uncertain",
    exactText: true,
  },
  {
    name: "encrypted_content",
    summary: "`encrypted_content` is what this organization was given for that id",
    section: "§4.3, §6.2",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "encrypted_content_model",
    summary: "`encrypted_content` is from the requested model's family (newer servers drop it instead)",
    section: "§4.3",
    grade: "uncertain",
    isOfHistory: true,
  },
  {
    name: "reasoning_following",
    summary: "A reasoning item is followed by what the model made next; a message with its id",
    section: "§6.2",
    grade: "wire",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "reasoning_required",
    summary: "An item sent with its id comes with the reasoning item that it was made after",
    section: "§2.4, §6.2",
    grade: "third_party",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "output_without_call",
    summary: "Every output comes after the one call that it answers",
    section: "§2.4, §6.2",
    grade: "wire",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "call_without_output",
    summary: "Every call is answered",
    section: "§2.4, §6.2",
    grade: "wire",
    exactText: true,
    isOfHistory: true,
  },
  {
    name: "compaction_trigger_last",
    summary: "A `compaction_trigger` is the last input item",
    section: "§2.1",
    grade: "types",
  },
] as const satisfies readonly ApiRule[];

type ResponsesRuleName = (typeof RESPONSES_RULES)[number]["name"];
