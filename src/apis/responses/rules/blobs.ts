/**
 * Rules on encrypted content and stored items. What a blob holds, the judge knows who handed it out.
 *
 * @module
 */
import type { JsonObject } from "../../../domain/json.ts";
import type { PlacedItem } from "./items.ts";
import type { ResponsesViolation } from "./rule.ts";

/** One encrypted item of a request. */
export interface SentBlob {
  readonly type: "reasoning" | "compaction";
  readonly id: string | undefined;
  readonly encrypted_content: string;
  /** The model that the request asks for. */
  readonly model: string | undefined;
}

/** What a judge finds in a blob. */
export type BlobVerdict = "ok" | "undecodable" | "other_organization" | "other_model";

/** Says whether a blob is what the server handed out for that id, to this organization and model. */
export type BlobJudge = (blob: SentBlob) => BlobVerdict;

/** Blobs that the server cannot read: organization before model (protocol §13). */
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
      param: null,
      code: "invalid_encrypted_content",
    }));
}

/** References to stored items, and reasoning that only its id stands for, where nothing is stored. */
export function unstoredItems(items: readonly PlacedItem[], body: JsonObject): ResponsesViolation[] {
  if (body.store !== false) return [];
  return items.flatMap(({ type, item }): ResponsesViolation[] => {
    const referenced = type === "item_reference";
    const bare = type === "reasoning" && (item.encrypted_content ?? null) === null;
    if ((!referenced && !bare) || typeof item.id !== "string") return [];
    return [{
      rule: referenced ? "item_reference" : "reasoning_not_stored",
      message:
        `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. ` +
        "Try again with `store` set to true, or remove this item from your input.",
      param: "input",
      code: null,
      status: 404,
    }];
  });
}
