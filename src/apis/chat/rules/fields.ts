/** Rules on the fields of a request and its messages: unknown, missing, of the wrong type (protocol §15.1, §15.2). */
import { invalidType, missingParameter, nameOfType, unknownParameter } from "../../openai_violations.ts";
import { words } from "../../../domain/text.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectsIn } from "../../../domain/json.ts";
import type { ChatViolation, PlacedChatMessage } from "./rule.ts";

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

export function missingFields(body: JsonObject): ChatViolation[] {
  return ["model", "messages"].filter((name) => (body[name] ?? null) === null).map(missingParameter);
}

export function unknownFields(body: JsonObject): ChatViolation[] {
  return Object.keys(body).filter((name) => !FIELDS.has(name)).map((name): ChatViolation => ({
    ...unknownParameter(name),
    // Only the refusal of `reasoning` was reported; the others follow from the types.
    ...(name === "reasoning" ? {} : { grade: "derived" }),
  }));
}

type JsonType = "string" | "boolean" | "array" | "object";

export function wrongTypes(body: JsonObject, messages: readonly PlacedChatMessage[]): ChatViolation[] {
  const findings: ChatViolation[] = [];
  const expect = (value: JsonValue | undefined, param: string, ...types: readonly JsonType[]) => {
    const type = Array.isArray(value) ? "array" : typeof value;
    if ((value ?? null) === null || types.some((each) => each === type)) return;
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
    objectsIn(message.tool_calls).forEach((call, place) => {
      const of = `${at}.tool_calls[${place}]`;
      expect(call.id, `${of}.id`, "string");
      expect(call.function, `${of}.function`, "object");
      if (isJsonObject(call.function)) {
        expect(call.function.name, `${of}.function.name`, "string");
        expect(call.function.arguments, `${of}.function.arguments`, "string");
      }
    });
  }
  return findings;
}

export function unknownRoles(messages: readonly PlacedChatMessage[]): ChatViolation[] {
  return messages.flatMap(({ index, message: { role } }): ChatViolation[] => {
    if (typeof role === "string" ? ROLES.includes(role) : (role ?? null) !== null) return [];
    const param = `messages[${index}].role`;
    const isMissing = typeof role !== "string";
    return [{
      rule: "message_role",
      message: isMissing
        ? `Missing required parameter: '${param}'.`
        : `Invalid value: '${role}'. Supported values are: ${ROLES.map((name) => `'${name}'`).join(", ")}.`,
      param,
      code: isMissing ? "missing_required_parameter" : "invalid_value",
    }];
  });
}

/** Empty lists of calls, and ids that are too long. */
export function calls(messages: readonly PlacedChatMessage[]): ChatViolation[] {
  return messages.flatMap(({ index, message: { tool_calls: list } }): ChatViolation[] => {
    const param = `messages[${index}].tool_calls`;
    if (Array.isArray(list) && list.length === 0) {
      return [{
        rule: "empty_tool_calls",
        message: `Invalid '${param}': empty array. Expected an array with at least one call.`,
        param,
        code: "empty_array",
      }];
    }
    return objectsIn(list).flatMap(({ id }, place): ChatViolation[] => {
      if (typeof id !== "string" || id.length <= MAX_CALL_ID) return [];
      return [{
        rule: "tool_call_id_length",
        message: `Invalid '${param}[${place}].id': string too long. Expected a string with maximum length ` +
          `${MAX_CALL_ID}, but got one with length ${id.length}.`,
        param: `${param}[${place}].id`,
        code: "string_above_max_length",
      }];
    });
  });
}

/** Messages of the assistant without any content. */
export function nullContent(messages: readonly PlacedChatMessage[]): ChatViolation[] {
  return messages.flatMap(({ index, message }): ChatViolation[] => {
    const { role, content } = message;
    const says = ["tool_calls", "function_call", "refusal", "audio"].some((name) =>
      (message[name] ?? null) !== null
    );
    if (role !== "assistant" || (content ?? null) !== null || says) return [];
    return [{
      rule: "null_content",
      message: "Invalid value for 'content': expected a string, got null.",
      param: `messages.[${index}].content`,
    }];
  });
}
