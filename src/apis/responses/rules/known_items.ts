/** Items that the Responses API is known to have issued and accepted. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  stringMember,
} from "../../../domain/json.ts";
import type { IssuingAnswer, KnownItems } from "../../rule.ts";

/** Encrypted content that the API issued, and the order in which it issued items. */
export class KnownBlobs implements KnownItems {
  readonly #nameOf: (blob: string) => string;
  /** The ids with which a blob was issued or accepted, by the blob's name. */
  readonly #blobs = new Map<string, Set<string>>();
  readonly #reasoning = new Map<string, string | null>();
  readonly #following = new Map<string, string | null>();

  constructor(nameOf: (blob: string) => string) {
    this.#nameOf = nameOf;
  }

  issue({ items }: IssuingAnswer): void {
    for (const copies of items) for (const copy of copies) this.#addBlob(copy);
    this.#addLinks(items);
  }

  accept(json: JsonValue | undefined): void {
    for (const item of objectsIn(isJsonObject(json) ? json.input : undefined)) this.#addBlob(item);
  }

  /** True if the blob was issued for this id, or for any without one. */
  isIssued(blob: string, id: string | undefined): boolean {
    const ids = this.#blobs.get(this.#nameOf(blob));
    return ids !== undefined && (id === undefined || ids.has(id));
  }

  /** The id of the reasoning item before the item with this id; `undefined` if there was none. */
  reasoningOf(id: string): string | undefined {
    return this.#reasoning.get(id) ?? undefined;
  }

  /** The id of the item right after this reasoning item; for a call, its call id. */
  followingOf(reasoningId: string): string | undefined {
    return this.#following.get(reasoningId) ?? undefined;
  }

  #addBlob(item: JsonObject): void {
    const blob = stringMember(item, "encrypted_content");
    if (blob === undefined) return;
    const name = this.#nameOf(blob);
    const ids = this.#blobs.get(name) ?? new Set();
    ids.add(stringMember(item, "id") ?? "");
    this.#blobs.set(name, ids);
  }

  #addLinks(items: IssuingAnswer["items"]): void {
    let reasoning: string | null = null;
    items.forEach((copies, place) => {
      const item = copies.at(-1);
      const id = item && stringMember(item, "id");
      if (item === undefined || id === undefined) return;
      if (item.type !== "reasoning") {
        link(this.#reasoning, id, reasoning);
        return;
      }
      reasoning = id;
      const next = items[place + 1]?.at(-1) ?? {};
      link(this.#following, id, stringMember(next, "call_id") ?? stringMember(next, "id") ?? null);
    });
  }
}

/** Notes the partner of an id: `null` if the id was issued with different partners, as in synthetic recordings. */
function link(partners: Map<string, string | null>, id: string, partner: string | null): void {
  const known = partners.get(id);
  partners.set(id, known === undefined || known === partner ? partner : null);
}
