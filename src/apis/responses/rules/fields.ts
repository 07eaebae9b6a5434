/** Rules on the fields of input items: unknown, missing, of the wrong type. */
import { isJsonObject } from "../../../domain/json.ts";
import { words } from "../../../domain/text.ts";
import { invalidType, missingParameter, nameOfType, unknownParameter } from "../../openai.ts";
import type { RuleGrade } from "../../rule.ts";
import { isKnownItemType, ITEMS, type ResponsesRequest } from "./items.ts";
import type { ResponsesViolations } from "./rule.ts";

/** Fields of outputs only; the official client always removes them before sending (protocol §2.2). */
const OUTPUT_ONLY = new Set(["created_by", "parsed", "parsed_arguments"]);

/** Fields that OpenAI itself takes on items, though its types lack them (protocol §2.2). */
const TAKEN_BY_OPENAI = new Set(["internal_chat_message_metadata_passthrough"]);

/** Fields that are always strings or `null`. */
const STRING_FIELDS = words("id call_id name arguments input encrypted_content namespace");

export function* unknownItemTypes({ items }: ResponsesRequest): ResponsesViolations {
  for (const { index, type } of items) {
    if (isKnownItemType(type)) continue;
    yield {
      rule: "unknown_item_type",
      message: `Invalid value: '${type}'.`,
      param: `input[${index}].type`,
      code: "invalid_value",
      shape: type,
    };
  }
}

/** Unknown fields of an item's input type; on Azure, unlike OpenAI itself, also an optional `status`. */
export function* unknownItemFields({ items, set }: ResponsesRequest): ResponsesViolations {
  for (const { index, type, item } of items) {
    const shape = ITEMS.get(type);
    for (const name of Object.keys(item)) {
      const strict = set === "azure" && name === "status" && shape !== undefined &&
        !shape.required.includes(name);
      const isKnown = name === "type" || (shape?.all.includes(name) ?? true);
      if (!strict && !OUTPUT_ONLY.has(name) && isKnown) continue;
      if (set !== "azure" && TAKEN_BY_OPENAI.has(name)) continue;
      yield {
        ...unknownParameter(`input[${index}].${name}`),
        shape: `${type} ${name}`,
        // Only the refusal of `status` was reported; the others follow from the types.
        ...(strict ? {} : { grade: "derived" }),
      };
    }
  }
}

export function* missingItemFields({ items }: ResponsesRequest): ResponsesViolations {
  for (const { index, type, item } of items) {
    const required = ITEMS.get(type)?.required ?? [];
    for (const name of type === "function_call_output" ? [...required, "call_id"] : required) {
      if (Object.hasOwn(item, name)) continue;
      yield {
        ...missingParameter(`input[${index}].${name}`),
        shape: `${type} ${name}`,
        ...gradeOfMissing(type, name),
      };
    }
  }
}

function gradeOfMissing(type: string, name: string): { readonly grade?: RuleGrade } {
  if (type === "function_call" && name === "arguments") return { grade: "wire" };
  // The types require it; two reports say that the server does not (protocol §2.3).
  if (type === "reasoning" && name === "id") return { grade: "uncertain" };
  if (type === "function_call_output" && name === "call_id") return { grade: "derived" };
  return {};
}

/** The member of an item that is a list; for some types, it may be a string too. */
const LIST_FIELDS: ReadonlyMap<string, { readonly name: string; readonly isText: boolean }> = new Map([
  ["reasoning", { name: "summary", isText: false }],
  ["message", { name: "content", isText: true }],
  ["function_call_output", { name: "output", isText: true }],
]);

export function* wrongItemTypes({ body: { input }, items }: ResponsesRequest): ResponsesViolations {
  if (input !== undefined && typeof input !== "string" && !Array.isArray(input)) {
    yield invalidType("input", "a string or an array", nameOfType(input));
  }
  for (const [index, item] of Array.isArray(input) ? input.entries() : []) {
    if (!isJsonObject(item)) yield invalidType(`input[${index}]`, "an object", nameOfType(item));
  }
  for (const { index, type, item } of items) {
    for (const name of STRING_FIELDS) {
      const value = item[name];
      const mayBeNull = ITEMS.get(type)?.required.includes(name) !== true;
      if (value === undefined || typeof value === "string" || value === null && mayBeNull) continue;
      yield invalidType(`input[${index}].${name}`, "a string", nameOfType(value));
    }
    const field = LIST_FIELDS.get(type);
    const list = field && item[field.name];
    if (list === undefined || Array.isArray(list) || field?.isText === true && typeof list === "string") {
      continue;
    }
    const wanted = field?.isText === true ? "a string or an array" : "an array";
    yield invalidType(`input[${index}].${field?.name}`, wanted, nameOfType(list));
  }
}
