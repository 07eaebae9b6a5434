/** The rules of the Messages API, checked by the thinking blocks that it is known to have issued and accepted. */
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import {
  AcceptedViolations,
  type ApiRules,
  type CheckedRequest,
  type IssuingAnswer,
  type KnownGood,
  type RuleSet,
  type RuleViolation,
} from "../../rule.ts";
import { messagesViolations } from "./check.ts";
import { MESSAGES_RULES, type MessagesViolation } from "./rule.ts";
import { isThinking } from "./shapes.ts";

export const messagesRules: ApiRules = {
  rules: MESSAGES_RULES,
  sets: ["anthropic"],
  ownsPath: (pathname) => /\/messages\/?$/.test(pathname),
  headers: ["anthropic-version", "anthropic-beta"],
  newKnownGood: () => new KnownGoodBlocks(),
};

class KnownGoodBlocks implements KnownGood {
  readonly #thinking = new Set<string>();
  readonly #accepted = new AcceptedViolations<MessagesViolation>(
    MESSAGES_RULES,
    (json, headers) => messagesViolations(json, headers),
  );

  add(request: CheckedRequest, { accepted, thinking }: IssuingAnswer): void {
    for (const block of thinking) this.#thinking.add(thinkingKey(block));
    if (!accepted) return;
    this.#accepted.add(request);
    const { json } = request;
    // A recording may begin in the middle of a conversation: items that the API accepted are good.
    const messages = objectsIn(isJsonObject(json) ? json.messages : undefined);
    for (const block of messages.flatMap(({ content }) => objectsIn(content))) {
      if (isThinking(plainText(block.type))) this.#thinking.add(thinkingKey(block));
    }
  }

  violations(
    json: JsonValue,
    headers: CheckedRequest["headers"],
    set: RuleSet,
  ): readonly RuleViolation[] {
    // No recording shows whether an account's blocks are bound to their prefix.
    const found = messagesViolations(json, headers, (block) => this.#thinking.has(thinkingKey(block)));
    return this.#accepted.judge(found, set);
  }
}

function thinkingKey({ type, thinking, signature, data }: JsonObject): string {
  return JSON.stringify(type === "thinking" ? [thinking ?? null, signature ?? null] : [data ?? null]);
}
