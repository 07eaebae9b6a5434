/** Finds the refusals that a Messages request would get, for replay servers. A run sends its requests unchecked. */
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import {
  type ApiRules,
  type CheckRequest,
  type IssuingAnswer,
  isWellFormedBody,
  type KnownItems,
} from "../../rule.ts";
import {
  cacheBreakpoints,
  maxTokens,
  outputConfig,
  prefill,
  thinkingConfig,
  toolChoice,
  toolNames,
  versionChanges,
  versionHeader,
} from "./config.ts";
import { blockRoles, blockTypes, emptyContent, firstMessage, roles } from "./content.ts";
import { missingMembers, shapedObjects, unknownMembers, wrongMemberTypes } from "./fields.ts";
import { serverPairs, toolPairs, toolUseIds } from "./pairing.ts";
import { messagesRequest, type PlacedBlock } from "./request.ts";
import { MESSAGES_RULES, type MessagesViolation } from "./rule.ts";
import { isThinking } from "./shapes.ts";

export const messagesRules: ApiRules = {
  rules: MESSAGES_RULES,
  sets: ["anthropic"],
  ownsPath: (pathname) => /\/messages\/?$/.test(pathname),
  headers: ["anthropic-version", "anthropic-beta"],
  check: (json, headers) => messagesViolations(json, headers),
  newItems: () => new KnownThinking(),
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

  readonly check: CheckRequest = (json, headers) =>
    messagesViolations(json, headers, (block) => this.#known.has(thinkingKey(block)));
}

function thinkingKey({ type, thinking, signature, data }: JsonObject): string {
  return JSON.stringify(type === "thinking" ? [thinking ?? null, signature ?? null] : [data ?? null]);
}

/**
 * Yields every violation in a request, those of each validator in turn; names of `headers` in lower case. Without a
 * `isIssued`, thinking blocks are not checked.
 */
function* messagesViolations(
  body: JsonValue,
  headers: Readonly<Record<string, string>>,
  isIssued?: (block: JsonObject) => boolean,
): Generator<readonly MessagesViolation[]> {
  if (!isJsonObject(body)) {
    yield [{ rule: "body_object", message: "Input should be a valid dictionary" }];
    return;
  }
  const request = messagesRequest(body, headers);
  const blocks = request.messages.flatMap((message) => message.blocks);
  const objects = shapedObjects(request);
  yield (yield* isWellFormedBody(body))
    ? []
    : [{ rule: "well_formed", message: "The request body is not valid JSON" } as const];
  yield versionHeader(request);
  yield missingMembers(objects, request);
  yield wrongMemberTypes(objects, request);
  yield unknownMembers(objects, request);
  yield roles(request);
  yield blockTypes(blocks);
  yield blockRoles(blocks);
  yield versionChanges(request);
  yield maxTokens(request);
  yield thinkingConfig(request);
  yield outputConfig(request);
  yield toolChoice(request);
  yield toolNames(request);
  yield cacheBreakpoints(request);
  yield firstMessage(request);
  yield emptyContent(request);
  yield toolUseIds(blocks);
  yield toolPairs(request);
  yield serverPairs(request);
  yield isIssued === undefined ? [] : unfitSignatures(blocks, isIssued);
  yield prefill(request);
}

/** Thinking that the API did not issue so, by its signature or the data of redacted thinking. */
function unfitSignatures(
  blocks: readonly PlacedBlock[],
  isIssued: (block: JsonObject) => boolean,
): MessagesViolation[] {
  return blocks.flatMap(({ path, type, block }): MessagesViolation[] => {
    // The part that only the server can read.
    const secret = type === "thinking" ? "signature" : "data";
    if (!isThinking(type) || typeof block[secret] !== "string" || isIssued(block)) return [];
    return [{ rule: "signature", message: `${path}: Invalid \`${secret}\` in \`${type}\` block` }];
  });
}
