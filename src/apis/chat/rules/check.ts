/** Finds the refusals that a request of Chat Completions would get, for replay servers. */
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";
import { BODY_VIOLATIONS } from "../../openai.ts";
import { type ApiRules, type RuleSet, validate } from "../../rule.ts";
import {
  calls,
  missingFields,
  modelRules,
  nullContent,
  unknownFields,
  unknownRoles,
  wrongTypes,
} from "./fields.ts";
import { toolMessages } from "./pairing.ts";
import { CHAT_RULES, type ChatRequest } from "./rule.ts";

export const chatRules: ApiRules = {
  rules: CHAT_RULES,
  sets: ["openai", "azure"],
  ownsPath: (pathname) => /\/chat\/completions\/?$/.test(pathname),
  headers: [],
  check: (json, _headers, set) =>
    validate(json, {
      ...BODY_VIOLATIONS,
      parse: (body) => chatRequest(body, set),
      inOrder: [
        missingFields,
        wrongTypes,
        unknownRoles,
        unknownFields,
        modelRules,
        calls,
        nullContent,
        toolMessages,
      ],
    }),
};

function chatRequest(body: JsonObject, set: RuleSet): ChatRequest {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  return {
    body,
    set,
    messages: messages.flatMap((message, index) => isJsonObject(message) ? [{ index, message }] : []),
  };
}
