/**
 * The rules of the Messages API, checked by the thinking blocks that it is known to have issued and accepted.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, plainText } from "../../../domain/json.ts";
import {
  type ApiRules,
  isAnswered,
  type IssuingAnswer,
  type KnownGood,
  objectsOf,
  RULE_GRADES,
  type RuleViolation,
} from "../../rule.ts";
import { checkMessagesRequest } from "./check.ts";
import { MESSAGES_RULES, messagesRuleOf } from "./rule.ts";
import { isThinking } from "./shapes.ts";

/** The rules of the Messages API. */
export const messagesRules: ApiRules = {
  rules: MESSAGES_RULES,
  sets: ["anthropic"],
  ownsPath: (pathname) => /\/messages\/?$/.test(pathname),
  headers: ["anthropic-version", "anthropic-beta"],
  newKnownGood: () => new KnownGoodBlocks(),
};

class KnownGoodBlocks implements KnownGood {
  readonly #thinking = new Set<string>();
  /** True if the API accepted a last message of the assistant, as older models do. */
  #allowPrefill = false;

  add(request: JsonValue | undefined, { accepted, thinking }: IssuingAnswer): void {
    for (const block of thinking) this.#thinking.add(thinkingKey(block));
    if (!accepted || !isJsonObject(request)) return;
    // A recording may begin in the middle of a conversation: items that the API accepted are good.
    const messages = objectsOf(request.messages);
    for (const block of messages.flatMap(({ content }) => objectsOf(content))) {
      if (isThinking(plainText(block.type))) this.#thinking.add(thinkingKey(block));
    }
    if (messages.at(-1)?.role === "assistant") this.#allowPrefill = true;
  }

  violations(json: JsonValue, headers: Readonly<Record<string, string>>): readonly RuleViolation[] {
    const { refusals } = checkMessagesRequest(json, headers, {
      // No recording shows whether an account's blocks are bound to their prefix.
      judge: (block) => this.#thinking.has(thinkingKey(block)) ? "ok" : "forged",
      allowPrefill: this.#allowPrefill,
      // Every violation counts here; `answered` tells them apart.
      refuse: RULE_GRADES,
    });
    return refusals.map(({ rule, grade, status, body: { error } }) => ({
      rule,
      grade,
      status,
      error: { ...error, param: null, code: null },
      answered: isAnswered({ ...messagesRuleOf(rule), grade }),
    }));
  }
}

function thinkingKey({ type, thinking, signature, data }: JsonObject): string {
  return JSON.stringify(type === "thinking" ? [thinking ?? null, signature ?? null] : [data ?? null]);
}
