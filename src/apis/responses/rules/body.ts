/** Rules on the fields other than `input` (protocol §1.2, §1.3). */
import { isJsonObject, type JsonObject, type JsonValue, plainText } from "../../../domain/json.ts";
import type { PlacedItem } from "./items.ts";
import type { ResponsesViolation } from "./rule.ts";

const INCLUDE_VALUES = [
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "message.input_image.image_url",
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
];

/** Fields that reasoning models refuse while they reason. */
const SAMPLING_FIELDS = ["temperature", "top_p", "top_logprobs"];

/** Unknown values of `include`. */
export function includeValues(body: JsonObject): ResponsesViolation[] {
  if (!Array.isArray(body.include)) return [];
  return body.include.flatMap((value: JsonValue, index: number): ResponsesViolation[] => {
    if (typeof value === "string" && INCLUDE_VALUES.includes(value)) return [];
    return [{
      rule: "include_value",
      message: `Invalid value: '${plainText(value)}'. Supported values are: ${
        INCLUDE_VALUES.map((known) => `'${known}'`).join(", ")
      }.`,
      param: `include[${index}]`,
      code: "invalid_value",
    }];
  });
}

/** Sampling fields in a request that asks for reasoning. */
export function samplingFields(body: JsonObject): ResponsesViolation[] {
  const effort = isJsonObject(body.reasoning) ? body.reasoning.effort : undefined;
  if (typeof effort !== "string" || effort === "none") return [];
  return SAMPLING_FIELDS.filter((name) => (body[name] ?? null) !== null).map((name) => ({
    rule: "unsupported_parameter",
    message: `Unsupported parameter: '${name}' is not supported with this model.`,
    param: name,
    shape: `${name} ${plainText(body.model)}`,
    ...(name === "temperature" ? {} : { grade: "docs" }),
  }));
}

/** `stream_options` without a stream. */
export function streamOptions(body: JsonObject): ResponsesViolation[] {
  if ((body.stream_options ?? null) === null || body.stream === true) return [];
  return [{
    rule: "stream_options",
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    param: "stream_options",
  }];
}

/** A `previous_response_id` that cannot name a stored response. */
export function unstoredPreviousResponse(body: JsonObject): ResponsesViolation[] {
  const { previous_response_id: id, store } = body;
  if (typeof id !== "string" || store !== false) return [];
  return [{
    rule: "previous_response",
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found",
    shape: "",
  }];
}

/** A `compaction_trigger` that is not the last item. */
export function misplacedTrigger(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.slice(0, -1).filter(({ type }) => type === "compaction_trigger").map(({ index }) => ({
    rule: "compaction_trigger_last",
    message: `Invalid 'input[${index}]': an item of type 'compaction_trigger' must be the last input item.`,
    param: `input[${index}]`,
    code: "invalid_value",
  }));
}
