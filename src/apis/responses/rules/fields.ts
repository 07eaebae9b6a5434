/** Rules on the fields of input items: unknown, missing, of the wrong type. */
import { isJsonObject, type JsonValue } from "../../../domain/json.ts";
import { words } from "../../../domain/text.ts";
import { invalidType, missingParameter, nameOfType, unknownParameter } from "../../openai_violations.ts";
import type { RuleSet } from "../../rule.ts";
import { isKnownItemType, itemMembers, type PlacedItem } from "./items.ts";
import type { ResponsesViolation } from "./rule.ts";

/** Fields of outputs only; the official client always removes them before sending (protocol §2.2). */
const OUTPUT_ONLY = new Set(["created_by", "parsed", "parsed_arguments"]);

/** Fields that OpenAI itself takes on items, though its types lack them (protocol §2.2). */
const TAKEN_BY_OPENAI = new Set(["internal_chat_message_metadata_passthrough"]);

/** Fields that are always strings or `null`. */
const STRING_FIELDS = words("id call_id name arguments input encrypted_content namespace");

export function unknownItemTypes(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.filter(({ type }) => !isKnownItemType(type)).map(({ index, type }) => ({
    rule: "unknown_item_type",
    message: `Invalid value: '${type}'.`,
    param: `input[${index}].type`,
    code: "invalid_value",
    shape: type,
  }));
}

/** Unknown fields of an item's input type; on Azure, unlike OpenAI itself, also an optional `status`. */
export function unknownItemFields(items: readonly PlacedItem[], set: RuleSet): ResponsesViolation[] {
  return items.flatMap(({ index, type, item }) => {
    const shape = itemMembers(type);
    const known = shape && new Set(["type", ...shape.required, ...shape.optional]);
    return Object.keys(item).flatMap((name): ResponsesViolation[] => {
      const strict = set === "azure" && name === "status" && shape !== undefined &&
        !shape.required.includes(name);
      if (!strict && !OUTPUT_ONLY.has(name) && (known?.has(name) ?? true)) return [];
      if (set !== "azure" && TAKEN_BY_OPENAI.has(name)) return [];
      return [{
        ...unknownParameter(`input[${index}].${name}`),
        shape: `${type} ${name}`,
        // Only the refusal of `status` was reported; the others follow from the types.
        ...(strict ? {} : { grade: "derived" }),
      }];
    });
  });
}

export function missingItemFields(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.flatMap(({ index, type, item }) => {
    const missing = (itemMembers(type)?.required ?? []).filter((name) => !Object.hasOwn(item, name));
    const unpaired = type === "function_call_output" && !Object.hasOwn(item, "call_id") ? ["call_id"] : [];
    return [...missing, ...unpaired].map((name): ResponsesViolation => ({
      ...missingParameter(`input[${index}].${name}`),
      shape: `${type} ${name}`,
      ...gradeOfMissing(type, name),
    }));
  });
}

function gradeOfMissing(type: string, name: string): Pick<ResponsesViolation, "grade"> {
  if (type === "function_call" && name === "arguments") return { grade: "wire" };
  // The types require it; two reports say that the server does not (protocol §2.3).
  if (type === "reasoning" && name === "id") return { grade: "uncertain" };
  if (type === "function_call_output" && name === "call_id") return { grade: "derived" };
  return {};
}

export function wrongItemTypes(
  input: JsonValue | undefined,
  items: readonly PlacedItem[],
): ResponsesViolation[] {
  const findings: ResponsesViolation[] = [];
  const expect = (fits: boolean, param: string, wanted: string, value: JsonValue | undefined) => {
    if (!fits) findings.push(invalidType(param, wanted, nameOfType(value)));
  };
  if (input !== undefined && typeof input !== "string") {
    expect(Array.isArray(input), "input", "a string or an array", input);
  }
  if (Array.isArray(input)) {
    input.forEach((item, index) => expect(isJsonObject(item), `input[${index}]`, "an object", item));
  }
  for (const { index, type, item } of items) {
    const at = (name: string) => `input[${index}].${name}`;
    for (const name of STRING_FIELDS) {
      const value = item[name];
      if (value === undefined || value === null && !(itemMembers(type)?.required ?? []).includes(name)) {
        continue;
      }
      expect(typeof value === "string", at(name), "a string", value);
    }
    if (type === "reasoning" && item.summary !== undefined) {
      expect(Array.isArray(item.summary), at("summary"), "an array", item.summary);
    }
    if (type === "message" && item.content !== undefined) {
      const fits = typeof item.content === "string" || Array.isArray(item.content);
      expect(fits, at("content"), "a string or an array", item.content);
    }
    if (type === "function_call_output" && item.output !== undefined) {
      const fits = typeof item.output === "string" || Array.isArray(item.output);
      expect(fits, at("output"), "a string or an array", item.output);
    }
  }
  return findings;
}
