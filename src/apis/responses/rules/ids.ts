/** Rules on ids (protocol §2.3), stored items and encrypted content. The judge knows which blobs the server issued. */
import type { JsonObject } from "../../../domain/json.ts";
import { ID_PREFIXES, type PlacedItem } from "./items.ts";
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

export function idLengths(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.flatMap(({ index, type, item }): ResponsesViolation[] => {
    const { id } = item;
    if (typeof id !== "string" || id.length <= MAX_ID_CHARS) return [];
    return [{ rule: "id_length", shape: type, ...lengthText(`input[${index}].id`, id) }];
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

export function idPrefixes(items: readonly PlacedItem[]): ResponsesViolation[] {
  return items.flatMap(({ index, type, item }): ResponsesViolation[] => {
    const prefix = ID_PREFIXES.get(type);
    const { id } = item;
    if (prefix === undefined || typeof id !== "string" || id.startsWith(prefix)) return [];
    const param = `input[${index}].id`;
    return [{
      rule: "id_prefix",
      shape: type,
      message: `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
      param,
      code: "invalid_value",
    }];
  });
}

/** The first duplicate id. */
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
      }];
    }
    seen.add(id);
  }
  return [];
}

/** One encrypted item of a request. */
export interface SentBlob {
  readonly type: "reasoning" | "compaction";
  readonly id: string | undefined;
  readonly encrypted_content: string;
  readonly model: string | undefined;
}

export type BlobVerdict = "ok" | "undecodable" | "other_organization" | "other_model";

/** Judges whether the server issued a blob for an id, to this organization and model. */
export type BlobJudge = (blob: SentBlob) => BlobVerdict;

/** Blobs that the server cannot read; the organization is checked before the model (protocol §13). */
export function unreadableBlobs(
  items: readonly PlacedItem[],
  body: JsonObject,
  decode: BlobJudge,
): ResponsesViolation[] {
  const found = items.flatMap((placed): { id: string; verdict: BlobVerdict }[] => {
    const { type, item } = placed;
    if ((type !== "reasoning" && type !== "compaction") || typeof item.encrypted_content !== "string") {
      return [];
    }
    const id = typeof item.id === "string" ? item.id : undefined;
    const model = typeof body.model === "string" ? body.model : undefined;
    const verdict = decode({ type, id, encrypted_content: item.encrypted_content, model });
    return [{ id: id ?? "(no id)", verdict }];
  });
  const rank = { undecodable: 0, other_organization: 0, other_model: 1, ok: 2 };
  return found.filter(({ verdict }) => verdict !== "ok")
    .sort((a, b) => rank[a.verdict] - rank[b.verdict])
    .map(({ id, verdict }) => ({
      rule: verdict === "other_model" ? "encrypted_content_model" : "encrypted_content",
      message: `The encrypted content for item ${id} could not be verified. Reason: ${
        verdict === "other_organization"
          ? "Encrypted content organization_id did not match the target organization."
          : "Encrypted content could not be decrypted or parsed."
      }`,
      code: "invalid_encrypted_content",
    }));
}

/** References to stored items, and reasoning with only an id, in requests that store nothing. */
export function unstoredItems(items: readonly PlacedItem[], body: JsonObject): ResponsesViolation[] {
  if (body.store !== false) return [];
  return items.flatMap(({ type, item }): ResponsesViolation[] => {
    const referenced = type === "item_reference";
    const bare = type === "reasoning" && (item.encrypted_content ?? null) === null;
    if ((!referenced && !bare) || typeof item.id !== "string") return [];
    return [{
      rule: referenced ? "item_reference" : "reasoning_not_stored",
      shape: "",
      message:
        `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. ` +
        "Try again with `store` set to true, or remove this item from your input.",
      param: "input",
      status: 404,
    }];
  });
}
