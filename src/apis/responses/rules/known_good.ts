/**
 * The rules of the Responses API, checked by the items that it is known to have issued and accepted.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, stringMember } from "../../../domain/json.ts";
import {
  type ApiRules,
  isAnswered,
  type IssuingAnswer,
  type KnownGood,
  objectsOf,
  RULE_GRADES,
  type RuleSet,
  type RuleViolation,
} from "../../rule.ts";
import { checkResponsesRequest } from "./check.ts";
import { RESPONSES_RULES, responsesRuleOf } from "./rule.ts";

/** The rules of the Responses API. */
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

  constructor(nameOf: (blob: string) => string) {
    this.#nameOf = nameOf;
  }

  add(request: JsonValue | undefined, { accepted, items }: IssuingAnswer): void {
    for (const copies of items) for (const copy of copies) this.#addBlob(copy);
    this.#addLinks(items);
    // A recording may begin in the middle of a conversation: items that the API accepted are good.
    if (accepted && isJsonObject(request)) {
      for (const item of objectsOf(request.input)) {
        this.#addBlob(item);
      }
    }
  }

  violations(
    json: JsonValue,
    _headers: Readonly<Record<string, string>>,
    set: RuleSet,
  ): readonly RuleViolation[] {
    const { refusals } = checkResponsesRequest(json, {
      mode: set === "azure" ? "azure" : "openai",
      decode: ({ id, encrypted_content }) => {
        const ids = this.#blobs.get(this.#nameOf(encrypted_content));
        return ids !== undefined && (id === undefined || ids.has(id)) ? "ok" : "undecodable";
      },
      reasoningOf: (id) => this.#reasoning.of(id),
      followingOf: (id) => this.#following.of(id),
      // Every violation counts here; `answered` tells them apart.
      refuse: RULE_GRADES,
    });
    return refusals.map(({ rule, grade, status, body: { error } }) => ({
      rule,
      grade,
      status,
      error,
      answered: isAnswered({ ...responsesRuleOf(rule), grade }),
    }));
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
