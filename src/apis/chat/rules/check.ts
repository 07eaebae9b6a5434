/** Finds the refusals that a request of Chat Completions would get, for replay servers. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { malformedText, NOT_AN_OBJECT } from "../../openai_violations.ts";
import type { ApiRules, RuleSet } from "../../rule.ts";
import { calls, missingFields, nullContent, unknownFields, unknownRoles, wrongTypes } from "./fields.ts";
import { modelRules } from "./models.ts";
import { toolMessages } from "./pairing.ts";
import { CHAT_RULES, type ChatViolation, type PlacedChatMessage } from "./rule.ts";

export const chatRules: ApiRules = {
  rules: CHAT_RULES,
  sets: ["openai", "azure"],
  ownsPath: (pathname) => /\/chat\/completions\/?$/.test(pathname),
  headers: [],
  check: (json, _headers, set) => chatViolations(json, set),
};

/**
 * Yields every violation in a request, in the order of {@linkcode CHAT_RULES}. Azure has paths that name the model,
 * and fields of its own.
 */
function* chatViolations(body: JsonValue, set: RuleSet): Generator<readonly ChatViolation[]> {
  if (!isJsonObject(body)) {
    yield [NOT_AN_OBJECT];
    return;
  }
  const messages = placedMessages(body);
  yield* malformedText(body);
  yield missingFields(body).filter(({ param }) => set !== "azure" || param !== "model");
  yield wrongTypes(body, messages);
  yield unknownRoles(messages);
  yield set === "azure" ? [] : unknownFields(body);
  yield modelRules(body, messages);
  yield calls(messages);
  yield nullContent(messages);
  yield toolMessages(messages);
}

function placedMessages({ messages }: JsonObject): PlacedChatMessage[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message, index) => isJsonObject(message) ? [{ index, message }] : []);
}
