/** Rules on the fields other than `input` (protocol §1.2, §1.3). */
import { words } from "../../../domain/text.ts";
import { isJsonObject, plainText } from "../../../domain/json.ts";
import { isOneOf, isPresent, quotedList } from "../../rule.ts";
import type { ResponsesRequest } from "./items.ts";
import type { ResponsesViolations } from "./rule.ts";

const INCLUDE_VALUES = words(`
  reasoning.encrypted_content message.output_text.logprobs message.input_image.image_url
  file_search_call.results web_search_call.results web_search_call.action.sources
  computer_call_output.output.image_url code_interpreter_call.outputs
`);

/** Fields that reasoning models refuse while they reason. */
const SAMPLING_FIELDS = ["temperature", "top_p", "top_logprobs"];

export function* includeValues({ body: { include } }: ResponsesRequest): ResponsesViolations {
  for (const [index, value] of Array.isArray(include) ? include.entries() : []) {
    if (isOneOf(value, INCLUDE_VALUES)) continue;
    yield {
      rule: "include_value",
      message: `Invalid value: '${plainText(value)}'. Supported values are: ${quotedList(INCLUDE_VALUES)}.`,
      param: `include[${index}]`,
      code: "invalid_value",
    };
  }
}

export function* samplingFields({ body }: ResponsesRequest): ResponsesViolations {
  const effort = isJsonObject(body.reasoning) ? body.reasoning.effort : undefined;
  if (typeof effort !== "string" || effort === "none") return;
  for (const name of SAMPLING_FIELDS.filter((each) => isPresent(body[each]))) {
    yield {
      rule: "unsupported_parameter",
      message: `Unsupported parameter: '${name}' is not supported with this model.`,
      param: name,
      shape: `${name} ${plainText(body.model)}`,
      ...(name === "temperature" ? {} : { grade: "docs" }),
    };
  }
}

export function* streamOptions({ body }: ResponsesRequest): ResponsesViolations {
  if (!isPresent(body.stream_options) || body.stream === true) return;
  yield {
    rule: "stream_options",
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    param: "stream_options",
  };
}

/** A `previous_response_id` that cannot name a stored response. */
export function* unstoredPrevious({ body }: ResponsesRequest): ResponsesViolations {
  const { previous_response_id: id, store } = body;
  if (typeof id !== "string" || store !== false) return;
  yield {
    rule: "previous_response",
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found",
    shape: "",
  };
}

export function* misplacedTrigger({ items }: ResponsesRequest): ResponsesViolations {
  for (const { index, type } of items.slice(0, -1)) {
    if (type !== "compaction_trigger") continue;
    yield {
      rule: "compaction_trigger_last",
      message: `Invalid 'input[${index}]': an item of type 'compaction_trigger' must be the last input item.`,
      param: `input[${index}]`,
      code: "invalid_value",
    };
  }
}
