/** The rules of the OpenAI Responses API, and the errors for requests that break them. */
import { type FoundViolation, rulesOf } from "../../rule.ts";

export type ResponsesViolations = Iterable<FoundViolation<ResponsesRuleName>>;

/** The rules, in the order of their checks (protocol §13). */
export const RESPONSES_RULES = rulesOf({
  well_formed: ["§6.1: third_party", "No string holds a lone surrogate"],
  field_type: ["§1.2, §2.1: types", "Fields have the type that the official types give them"],
  unknown_item_type: ["§2.1, §2.2: types", "Every input item has a type that the API knows"],
  unknown_parameter: [
    "§2.2, §6.2: third_party exact",
    "No field is sent that the item's input type does not have; Azure has refused `status`",
  ],
  missing_parameter: ["§2.1, §6.2: types exact", "Every required field of an input item is there"],
  include_value: ["§1.3: types", "`include` lists known values only"],
  unsupported_parameter: [
    "§1.2, §6.2: wire exact",
    "`temperature`, `top_p` and `top_logprobs` are left out when reasoning is requested",
  ],
  stream_options: ["§1.2: derived", "`stream_options` comes with `stream: true` only"],
  previous_response: [
    "§4.4, §6.2: docs exact",
    "`previous_response_id` names a stored response, so not one of a `store: false` session",
  ],
  call_id_length: ["§2.1: types", "A `call_id` has 1 to 64 characters"],
  id_length: ["§2.3: third_party", "An item's `id` has at most 64 characters"],
  id_prefix: ["§2.3, §6.2: third_party exact", "An item's `id` begins with the prefix of its type"],
  duplicate_id: ["§2.3, §6.2: wire exact history", "No id occurs twice"],
  item_reference: [
    "§4.4, §6.2: third_party exact",
    "An `item_reference` names a stored item, so none under `store: false`",
  ],
  reasoning_not_stored: [
    "§2.3, §6.2: uncertain exact",
    "Under `store: false` a reasoning item comes with its `encrypted_content`",
  ],
  encrypted_content: [
    "§4.3, §6.2: third_party exact history",
    "`encrypted_content` is what this organization was given for that id",
  ],
  encrypted_content_model: [
    "§4.3: uncertain history",
    "`encrypted_content` is from the requested model's family (newer servers drop it instead)",
  ],
  reasoning_following: [
    "§6.2: wire exact history",
    "A reasoning item is followed by what the model made next; a message with its id",
  ],
  reasoning_required: [
    "§2.4, §6.2: third_party exact history",
    "An item sent with its id comes with the reasoning item that it was made after",
  ],
  output_without_call: [
    "§2.4, §6.2: wire exact history",
    "Every output comes after the one call that it answers",
  ],
  call_without_output: ["§2.4, §6.2: wire exact history", "Every call is answered"],
  compaction_trigger_last: ["§2.1: types", "A `compaction_trigger` is the last input item"],
});

type ResponsesRuleName = (typeof RESPONSES_RULES)[number]["name"];
