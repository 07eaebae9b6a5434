/** Finds the refusals that a Messages request would get, for replay servers. A run sends its requests unchecked. */
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import { type ApiRules, type IssuingAnswer, type KnownItems, validate } from "../../rule.ts";
import * as config from "./config.ts";
import { blockRoles, blockTypes, emptyContent, firstMessage, roles } from "./content.ts";
import { missingMembers, unknownMembers, wrongMemberTypes } from "./fields.ts";
import { serverPairs, toolPairs, toolUseIds } from "./pairing.ts";
import { type MessagesRequest, messagesRequest } from "./request.ts";
import { MESSAGES_RULES, type MessagesViolations } from "./rule.ts";
import { isThinking } from "./shapes.ts";

export const messagesRules: ApiRules<KnownThinking> = {
  rules: MESSAGES_RULES,
  sets: ["anthropic"],
  ownsPath: (pathname) => /\/messages\/?$/.test(pathname),
  headers: ["anthropic-version", "anthropic-beta"],
  newItems: () => new KnownThinking(),
  check: (json, headers, _set, known) =>
    validate(json, {
      notAnObject: { rule: "body_object", message: "Input should be a valid dictionary" },
      malformed: { rule: "well_formed", message: "The request body is not valid JSON" },
      parse: (body) => messagesRequest(body, headers),
      inOrder: [
        config.versionHeader,
        missingMembers,
        wrongMemberTypes,
        unknownMembers,
        roles,
        blockTypes,
        blockRoles,
        config.versionChanges,
        config.maxTokens,
        config.thinkingConfig,
        config.outputConfig,
        config.toolChoice,
        config.toolNames,
        config.cacheBreakpoints,
        firstMessage,
        emptyContent,
        toolUseIds,
        toolPairs,
        serverPairs,
        (request) => known === null ? [] : unfitSignatures(request, known),
        config.prefill,
      ],
    }),
};

/** Thinking blocks that the API issued. No recording shows whether an account's blocks are bound to their prefix. */
class KnownThinking implements KnownItems {
  readonly #known = new Set<string>();

  issue({ thinking }: IssuingAnswer): void {
    for (const block of thinking) this.#known.add(thinkingKey(block));
  }

  accept(json: JsonValue | undefined): void {
    const messages = objectsIn(isJsonObject(json) ? json.messages : undefined);
    for (const block of messages.flatMap(({ content }) => objectsIn(content))) {
      if (isThinking(plainText(block.type))) this.#known.add(thinkingKey(block));
    }
  }

  has(block: JsonObject): boolean {
    return this.#known.has(thinkingKey(block));
  }
}

function thinkingKey({ type, thinking, signature, data }: JsonObject): string {
  return JSON.stringify(type === "thinking" ? [thinking ?? null, signature ?? null] : [data ?? null]);
}

/** Thinking that the API did not issue so, by its signature or the data of redacted thinking. */
function* unfitSignatures({ blocks }: MessagesRequest, known: KnownThinking): MessagesViolations {
  for (const { path, type, block } of blocks) {
    // The part that only the server can read.
    const secret = type === "thinking" ? "signature" : "data";
    if (!isThinking(type) || typeof block[secret] !== "string" || known.has(block)) continue;
    yield { rule: "signature", message: `${path}: Invalid \`${secret}\` in \`${type}\` block` };
  }
}
