/** The rules of the Responses API, checked by the items that it is known to have issued and accepted. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  stringMember,
} from "../../../domain/json.ts";
import {
  AcceptedViolations,
  type ApiRules,
  type CheckedRequest,
  type IssuingAnswer,
  type KnownGood,
  type RuleSet,
  type RuleViolation,
} from "../../rule.ts";
import { responsesViolations } from "./check.ts";
import { RESPONSES_RULES, type ResponsesViolation } from "./rule.ts";

export const responsesRules: ApiRules = {
  rules: RESPONSES_RULES,
  sets: ["openai", "azure"],
  ownsPath: (pathname) => /\/responses\/?$/.test(pathname),
  headers: [],
  newKnownGood: (nameOf) => new KnownGoodItems(nameOf),
};

class KnownGoodItems implements KnownGood {
  readonly #nameOf: (blob: string) => string;
  /** The ids with which a blob was issued or accepted, by the blob's name. */
  readonly #blobs = new Map<string, Set<string>>();
  /** The reasoning before an item in its response. */
  readonly #reasoning = new Links();
  /** The item right after a reasoning item in its response. */
  readonly #following = new Links();
  readonly #accepted = new AcceptedViolations<ResponsesViolation>(
    RESPONSES_RULES,
    (json, _headers, set) => responsesViolations(json, set),
  );

  constructor(nameOf: (blob: string) => string) {
    this.#nameOf = nameOf;
  }

  add(request: CheckedRequest, { accepted, items }: IssuingAnswer): void {
    for (const copies of items) for (const copy of copies) this.#addBlob(copy);
    this.#addLinks(items);
    if (!accepted) return;
    this.#accepted.add(request);
    const { json } = request;
    // A recording may begin in the middle of a conversation: items that the API accepted are good.
    for (const item of objectsIn(isJsonObject(json) ? json.input : undefined)) this.#addBlob(item);
  }

  violations(
    json: JsonValue,
    _headers: CheckedRequest["headers"],
    set: RuleSet,
  ): readonly RuleViolation[] {
    const found = responsesViolations(json, set, {
      decode: ({ id, encrypted_content }) => {
        const ids = this.#blobs.get(this.#nameOf(encrypted_content));
        return ids !== undefined && (id === undefined || ids.has(id)) ? "ok" : "undecodable";
      },
      reasoningOf: (id) => this.#reasoning.of(id),
      followingOf: (id) => this.#following.of(id),
    });
    return this.#accepted.judge(found, set);
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
