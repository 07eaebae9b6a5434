/**
 * Rules that hold for some models only (protocol §15.6). A recording in which a model accepted such a request shows
 * that the rule does not hold for it.
 */
import { objectsIn, stringMember } from "../../../domain/json.ts";
import { isPresent } from "../../rule.ts";
import type { ChatRequest, ChatViolations } from "./rule.ts";

/** OpenAI's reasoning models, by the start of their names; a chat model of the same generation is none. */
const REASONING_MODEL = /^(?:o\d|gpt-5(?!.*-chat)|gpt-6(?!.*-chat))/;

export function* modelRules({ body, messages }: ChatRequest): ChatViolations {
  const shape = stringMember(body, "model") ?? "";
  const { temperature, reasoning_effort: effort } = body;
  const isReasoning = REASONING_MODEL.test(shape);
  if (isReasoning && isPresent(body.max_tokens)) {
    yield {
      rule: "max_tokens",
      message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
        "'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
      shape,
    };
  }
  // Without reasoning, some of these models take any temperature (§1.2).
  if (isReasoning && typeof temperature === "number" && temperature !== 1 && effort !== "none") {
    yield unsupportedValue("temperature", "temperature", String(temperature), shape);
  }
  const system = /^o1-mini/.test(shape)
    ? messages.find(({ message }) => message.role === "system")
    : undefined;
  if (system !== undefined) {
    yield unsupportedValue("system_role", `messages[${system.index}].role`, "'system'", shape);
  }
  const hasTools = objectsIn(body.tools).some(({ type }) => type === "function");
  if (/^gpt-5\.6-luna/.test(shape) && isPresent(effort) && hasTools) {
    yield {
      rule: "effort_with_tools",
      message: `Function tools with reasoning_effort are not supported for ${shape} in /v1/chat/completions.`,
      param: "reasoning_effort",
      shape,
    };
  }
}

function unsupportedValue(rule: "temperature" | "system_role", param: string, value: string, shape: string) {
  const message = `Unsupported value: '${param}' does not support ${value} with this model.`;
  return { rule, message, param, code: "unsupported_value", shape };
}
