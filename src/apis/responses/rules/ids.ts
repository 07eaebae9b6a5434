/**
 * Rules on ids: their prefix, their length, and that none comes twice (protocol §2.3).
 *
 * @module
 */
import { ITEM_SHAPES, type PlacedItem } from "./items.ts";
import type { ResponsesViolation } from "./rule.ts";

/** The longest id and call id, in characters. */
const MAX_ID_CHARS = 64;

/** Call ids that are empty or too long. */
export function callIdLengths(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.flatMap(({ index, item }): ResponsesViolation[] => {
    const { call_id: id } = item;
    if (typeof id !== "string" || (id.length > 0 && id.length <= MAX_ID_CHARS)) return [];
    return [{ rule: "call_id_length", ...lengthText(`input[${index}].call_id`, id) }];
  });
}

/** Ids that are too long. */
export function idLengths(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.flatMap(({ index, item }): ResponsesViolation[] => {
    const { id } = item;
    if (typeof id !== "string" || id.length <= MAX_ID_CHARS) return [];
    return [{ rule: "id_length", ...lengthText(`input[${index}].id`, id) }];
  });
}

function lengthText(param: string, id: string) {
  return id.length === 0
    ? {
      message:
        `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
      param,
      code: "empty_string",
    }
    : {
      message:
        `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_ID_CHARS}, but got a string with length ${id.length} instead.`,
      param,
      code: "string_above_max_length",
    };
}

/** Ids that do not begin as ids of their type do. */
export function idPrefixes(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.flatMap(({ index, type, item }): ResponsesViolation[] => {
    const prefix = ITEM_SHAPES.get(type)?.prefix;
    const { id } = item;
    if (prefix === undefined || typeof id !== "string" || id.startsWith(prefix)) return [];
    const param = `input[${index}].id`;
    return [{
      rule: "id_prefix",
      message: `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
      param,
      code: "invalid_value",
    }];
  });
}

/** The first id that comes twice. */
export function duplicateIds(items: readonly PlacedItem[]): ResponsesViolation[] {
  const seen = new Set<string>();
  for (const { item } of items) {
    const { id } = item;
    if (typeof id !== "string") continue;
    if (seen.has(id)) {
      return [{
        rule: "duplicate_id",
        message: `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        param: "input",
        code: null,
      }];
    }
    seen.add(id);
  }
  return [];
}
