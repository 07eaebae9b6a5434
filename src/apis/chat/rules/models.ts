/**
 * Rules that hold for some models only (protocol §15.6). A recording in which a model accepted such a request shows
 * that the rule does not hold for it.
 */
import { type JsonObject, objectsIn, stringMember } from "../../../domain/json.ts";
import type { ChatViolation, PlacedChatMessage } from "./rule.ts";

/** OpenAI's reasoning models, by the start of their names; a chat model of the same generation is none. */
const REASONING_MODEL = /^(?:o\d|gpt-5(?!.*-chat)|gpt-6(?!.*-chat))/;

/** Violations of the rules of the requested model. */
export function modelRules(body: JsonObject, messages: readonly PlacedChatMessage[]): ChatViolation[] {
  const model = stringMember(body, "model") ?? "";
  const effort = body.reasoning_effort ?? null;
  const findings: ChatViolation[] = [];
  if (REASONING_MODEL.test(model)) {
    if ((body.max_tokens ?? null) !== null) {
      findings.push({
        rule: "max_tokens",
        message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
          "'max_completion_tokens' instead.",
        param: "max_tokens",
        code: "unsupported_parameter",
      });
    }
    const { temperature } = body;
    // Without reasoning, some of these models take any temperature (§1.2).
    if (typeof temperature === "number" && temperature !== 1 && effort !== "none") {
      findings.push({
        rule: "temperature",
        message: `Unsupported value: 'temperature' does not support ${temperature} with this model.`,
        param: "temperature",
        code: "unsupported_value",
      });
    }
  }
  if (/^o1-mini/.test(model)) {
    const system = messages.find(({ message }) => message.role === "system");
    if (system !== undefined) {
      const param = `messages[${system.index}].role`;
      findings.push({
        rule: "system_role",
        message: `Unsupported value: '${param}' does not support 'system' with this model.`,
        param,
        code: "unsupported_value",
      });
    }
  }
  const hasTools = objectsIn(body.tools).some(({ type }) => type === "function");
  if (/^gpt-5\.6-luna/.test(model) && effort !== null && hasTools) {
    findings.push({
      rule: "effort_with_tools",
      message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions.`,
      param: "reasoning_effort",
    });
  }
  return findings.map((violation) => ({ ...violation, shape: model }));
}
