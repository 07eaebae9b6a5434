/** The rules of the Responses API, checked by the items that it is known to have issued and accepted. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  stringMember,
} from "../../../domain/json.ts";
import type { ApiRules, CheckRequest, IssuingAnswer, KnownItems } from "../../rule.ts";
import { responsesViolations } from "./check.ts";
import { RESPONSES_RULES } from "./rule.ts";

export const responsesRules: ApiRules = {
  rules: RESPONSES_RULES,
  sets: ["openai", "azure"],
  ownsPath: (pathname) => /\/responses\/?$/.test(pathname),
  headers: [],
  check: (json, _headers, set) => responsesViolations(json, set),
  newItems: (nameOf) => new KnownBlobs(nameOf),
};

/** Encrypted content that the API issued, and the order in which it issued items. */
class KnownBlobs implements KnownItems {
  readonly #nameOf: (blob: string) => string;
  /** The ids with which a blob was issued or accepted, by the blob's name. */
  readonly #blobs = new Map<string, Set<string>>();
  /** The reasoning before an item in its response. */
  readonly #reasoning = new Links();
  /** The item right after a reasoning item in its response. */
  readonly #following = new Links();

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

  readonly check: CheckRequest = (json, _headers, set) =>
    responsesViolations(json, set, {
      decode: ({ id, encrypted_content }) => {
        const ids = this.#blobs.get(this.#nameOf(encrypted_content));
        return ids !== undefined && (id === undefined || ids.has(id)) ? "ok" : "undecodable";
      },
      reasoningOf: (id) => this.#reasoning.of(id),
      followingOf: (id) => this.#following.of(id),
    });

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
        this.#reasoning.add(id, reasoning);
        return;
      }
      reasoning = id;
      const next = items[place + 1]?.at(-1);
      this.#following.add(
        id,
        next === undefined ? null : stringMember(next, "call_id") ?? stringMember(next, "id") ?? null,
      );
    });
  }
}

/** The partner of an id; none if the id was issued with different partners, as in synthetic recordings. */
class Links {
  readonly #links = new Map<string, string | null>();

  add(id: string, other: string | null): void {
    const known = this.#links.get(id);
    this.#links.set(id, known === undefined || known === other ? other : null);
  }

  of(id: string): string | undefined {
    return this.#links.get(id) ?? undefined;
  }
}
