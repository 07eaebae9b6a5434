/** Rules on ids (protocol §2.3), stored items and encrypted content. */
import type { JsonValue } from "../../../domain/json.ts";
import { isPresent } from "../../rule.ts";
import { ID_PREFIXES, type ResponsesRequest } from "./items.ts";
import type { ResponsesViolations } from "./rule.ts";

/** The longest id and call id, in characters. */
const MAX_ID_CHARS = 64;

export function* callIdLengths({ items }: ResponsesRequest): ResponsesViolations {
  for (const { index, item: { call_id: id } } of items) {
    const param = `input[${index}].call_id`;
    if (id === "") {
      yield {
        rule: "call_id_length",
        message:
          `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
        param,
        code: "empty_string",
      };
    } else if (isTooLong(id)) yield { rule: "call_id_length", ...tooLong(param, id) };
  }
}

export function* idLengths({ items }: ResponsesRequest): ResponsesViolations {
  for (const { index, type, item: { id } } of items) {
    if (isTooLong(id)) yield { rule: "id_length", shape: type, ...tooLong(`input[${index}].id`, id) };
  }
}

function isTooLong(id: JsonValue | undefined): id is string {
  return typeof id === "string" && id.length > MAX_ID_CHARS;
}

function tooLong(param: string, { length }: string) {
  const message =
    `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_ID_CHARS}, ` +
    `but got a string with length ${length} instead.`;
  return { message, param, code: "string_above_max_length" };
}

export function* idPrefixes({ items }: ResponsesRequest): ResponsesViolations {
  for (const { index, type, item: { id } } of items) {
    const prefix = ID_PREFIXES.get(type);
    if (prefix === undefined || typeof id !== "string" || id.startsWith(prefix)) continue;
    const param = `input[${index}].id`;
    yield {
      rule: "id_prefix",
      shape: type,
      message: `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
      param,
      code: "invalid_value",
    };
  }
}

/** The first duplicate id. */
export function* duplicateIds({ items }: ResponsesRequest): ResponsesViolations {
  const seen = new Set<string>();
  for (const { item: { id } } of items) {
    if (typeof id !== "string") continue;
    if (seen.has(id)) {
      yield {
        rule: "duplicate_id",
        message: `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        param: "input",
      };
      return;
    }
    seen.add(id);
  }
}

/** Blobs that the server cannot read (protocol §13). */
export function* unreadableBlobs({ items, known }: ResponsesRequest): ResponsesViolations {
  for (const { type, item: { id, encrypted_content: blob } } of items) {
    if ((type !== "reasoning" && type !== "compaction") || typeof blob !== "string") continue;
    const sentId = typeof id === "string" ? id : undefined;
    if (known === null || known.isIssued(blob, sentId)) continue;
    yield {
      rule: "encrypted_content",
      message: `The encrypted content for item ${sentId ?? "(no id)"} could not be verified. Reason: ` +
        "Encrypted content could not be decrypted or parsed.",
      code: "invalid_encrypted_content",
    };
  }
}

/** References to stored items, and reasoning with only an id, in requests that store nothing. */
export function* unstoredItems({ items, body }: ResponsesRequest): ResponsesViolations {
  for (const { type, item } of body.store === false ? items : []) {
    const referenced = type === "item_reference";
    const bare = type === "reasoning" && !isPresent(item.encrypted_content);
    if ((!referenced && !bare) || typeof item.id !== "string") continue;
    yield {
      rule: referenced ? "item_reference" : "reasoning_not_stored",
      shape: "",
      message:
        `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. ` +
        "Try again with `store` set to true, or remove this item from your input.",
      param: "input",
      status: 404,
    };
  }
}
