/**
 * Properties that both APIs of OpenAI and compatible servers share, and violations that both report in the same words
 * (protocol §6.1, §15).
 */
import { isJsonObject, type JsonValue } from "../domain/json.ts";
import type { Api } from "./api.ts";
import type { Validators } from "./rule.ts";

/** Error bodies with all four members (protocol §6.1), and headers. */
export const openaiServers: Pick<Api, "errors" | "recordedHeaders" | "keyHeader"> = {
  errors: {
    idHeader: "x-request-id",
    body: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  },
  recordedHeaders: {
    request: ["openai-beta"],
    response: /^openai-(?:organization|project|version|model|processing-ms)$/,
  },
  // Sent by Azure.
  keyHeader: "api-key",
};

export const BODY_VIOLATIONS = {
  notAnObject: {
    rule: "field_type",
    message: "Invalid body: expected a JSON object.",
    code: "invalid_type",
  },
  malformed: {
    rule: "well_formed",
    message: "We could not parse the JSON body of your request: it is not valid Unicode.",
  },
} as const satisfies Pick<Validators<unknown, string>, "notAnObject" | "malformed">;

export function missingParameter(param: string) {
  const message = `Missing required parameter: '${param}'.`;
  return { rule: "missing_parameter", message, param, code: "missing_required_parameter" } as const;
}

export function unknownParameter(param: string) {
  const message = `Unknown parameter: '${param}'.`;
  return { rule: "unknown_parameter", message, param, code: "unknown_parameter" } as const;
}

/** A value of another type than `wanted`; both are texts such as `a string or an array`. */
export function invalidType(param: string, wanted: string, got: string) {
  const message = `Invalid type for '${param}': expected ${wanted}, but got ${got} instead.`;
  return { rule: "field_type", message, param, code: "invalid_type" } as const;
}

export function nameOfType(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "an array";
  if (isJsonObject(value)) return "an object";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeof value === "boolean" ? "a boolean" : "a string";
}
