/**
 * Rules on the fields of a request and its messages: unknown, missing, of the wrong type (protocol §15.1, §15.2), and
 * refused by some models (§15.6).
 */
import { invalidType, missingParameter, nameOfType, unknownParameter } from "../../openai.ts";
import { words } from "../../../domain/text.ts";
import { isJsonObject, type JsonValue, objectsIn, stringMember } from "../../../domain/json.ts";
import { isPresent, quotedList } from "../../rule.ts";
import type { ChatRequest, ChatViolations } from "./rule.ts";

const FIELDS: ReadonlySet<string> = new Set(words(`
  model messages tools tool_choice parallel_tool_calls response_format stream reasoning_effort
  verbosity max_completion_tokens max_tokens temperature top_p presence_penalty frequency_penalty
  logit_bias logprobs top_logprobs n stop seed prediction modalities audio web_search_options
  functions function_call stream_options moderation metadata user safety_identifier store
  service_tier prompt_cache_key prompt_cache_options prompt_cache_retention
`));

const ROLES = ["developer", "system", "user", "assistant", "tool", "function"];

/** The longest id of a call that OpenAI takes. */
const MAX_CALL_ID = 40;

export function* missingFields({ body, set }: ChatRequest): ChatViolations {
  // Paths of Azure name the model.
  const required = set === "azure" ? ["messages"] : ["model", "messages"];
  for (const name of required) if (!isPresent(body[name])) yield missingParameter(name);
}

/** Unknown fields; Azure has fields of its own. */
export function* unknownFields({ body, set }: ChatRequest): ChatViolations {
  if (set === "azure") return;
  for (const name of Object.keys(body)) {
    if (FIELDS.has(name)) continue;
    // Only the refusal of `reasoning` was reported; the others follow from the types.
    yield { ...unknownParameter(name), ...(name === "reasoning" ? {} : { grade: "derived" }) };
  }
}

type JsonType = "string" | "boolean" | "array" | "object";

export function wrongTypes({ body, messages }: ChatRequest): ChatViolations {
  const findings: ReturnType<typeof invalidType>[] = [];
  /** Checks a member that may be absent. */
  const expect = (value: JsonValue | undefined, param: string, ...types: readonly JsonType[]) => {
    const type = Array.isArray(value) ? "array" : typeof value;
    if (!isPresent(value) || types.some((each) => each === type)) return;
    const wanted = types.map((each) => /^[ao]/.test(each) ? `an ${each}` : `a ${each}`).join(" or ");
    findings.push(invalidType(param, wanted, type === "number" ? "a number" : nameOfType(value)));
  };
  expect(body.model, "model", "string");
  expect(body.messages, "messages", "array");
  if (Array.isArray(body.messages)) {
    body.messages.forEach((message, index) => expect(message, `messages[${index}]`, "object"));
  }
  expect(body.tools, "tools", "array");
  expect(body.stream, "stream", "boolean");
  for (const { index, message } of messages) {
    const at = `messages[${index}]`;
    expect(message.role, `${at}.role`, "string");
    expect(message.content, `${at}.content`, "string", "array");
    expect(message.tool_calls, `${at}.tool_calls`, "array");
    expect(message.tool_call_id, `${at}.tool_call_id`, "string");
    for (const [place, call] of objectsIn(message.tool_calls).entries()) {
      const of = `${at}.tool_calls[${place}]`;
      expect(call.id, `${of}.id`, "string");
      expect(call.function, `${of}.function`, "object");
      if (!isJsonObject(call.function)) continue;
      expect(call.function.name, `${of}.function.name`, "string");
      expect(call.function.arguments, `${of}.function.arguments`, "string");
    }
  }
  return findings;
}

export function* unknownRoles({ messages }: ChatRequest): ChatViolations {
  for (const { index, message: { role } } of messages) {
    const param = `messages[${index}].role`;
    if (!isPresent(role)) yield { ...missingParameter(param), rule: "message_role" };
    else if (typeof role === "string" && !ROLES.includes(role)) {
      yield {
        rule: "message_role",
        message: `Invalid value: '${role}'. Supported values are: ${quotedList(ROLES)}.`,
        param,
        code: "invalid_value",
      };
    }
  }
}

/** Empty lists of calls, and ids that are too long. */
export function* calls({ messages }: ChatRequest): ChatViolations {
  for (const { index, message: { tool_calls: list } } of messages) {
    const param = `messages[${index}].tool_calls`;
    if (Array.isArray(list) && list.length === 0) {
      yield {
        rule: "empty_tool_calls",
        message: `Invalid '${param}': empty array. Expected an array with at least one call.`,
        param,
        code: "empty_array",
      };
    }
    for (const [place, { id }] of objectsIn(list).entries()) {
      if (typeof id !== "string" || id.length <= MAX_CALL_ID) continue;
      yield {
        rule: "tool_call_id_length",
        message: `Invalid '${param}[${place}].id': string too long. Expected a string with maximum length ` +
          `${MAX_CALL_ID}, but got one with length ${id.length}.`,
        param: `${param}[${place}].id`,
        code: "string_above_max_length",
      };
    }
  }
}

export function* nullContent({ messages }: ChatRequest): ChatViolations {
  for (const { index, message } of messages) {
    const says = ["content", "tool_calls", "function_call", "refusal", "audio"].some((name) =>
      isPresent(message[name])
    );
    if (message.role !== "assistant" || says) continue;
    yield {
      rule: "null_content",
      message: "Invalid value for 'content': expected a string, got null.",
      param: `messages.[${index}].content`,
    };
  }
}

/** OpenAI's reasoning models, by the start of their names; a chat model of the same generation is none. */
const REASONING_MODEL = /^(?:o\d|gpt-5(?!.*-chat)|gpt-6(?!.*-chat))/;

/**
 * Fields that some models refuse (protocol §15.6). A recording in which a model accepted such a request shows that the
 * rule does not hold for it.
 */
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
