/** OpenAI Chat Completions and compatible servers, for recording and replay. */
import { chatCalls } from "./calls.ts";
import type { ProviderKind } from "../../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, numberMember, objectsIn, stringMember } from "../../domain/json.ts";
import type { Api } from "../api.ts";
import { openaiServers } from "../openai.ts";
import type { StreamEvent } from "../stream.ts";
import { chatCanonical } from "./canonical.ts";
import { chatFaults } from "./faults.ts";
import { chatRules } from "./rules/check.ts";
import { chatStream } from "./stream.ts";

export const chatApi: Api = {
  ...openaiServers,
  name: "chat",
  ownsPath: (pathname) => /\/chat\/completions\/?$/.test(pathname),
  recognition: {
    path: "/v1/chat/completions",
    ownsEvent,
    documentPath,
    providerOf,
    createdAt(response) {
      const seconds = numberMember(response, "created") ?? 0;
      return seconds > 0 ? Math.round(seconds * 1000) : null;
    },
  },
  stream: chatStream,
  faults: chatFaults,
  calls: chatCalls,
  socket: null,
  canonical: chatCanonical,
  rules: chatRules,
};

/** Recognises a chunk by its `object`, or by a delta without a type: some servers leave `object` out. */
function ownsEvent({ type, data }: Pick<StreamEvent, "type" | "data">): boolean {
  if (data?.object === "chat.completion.chunk") return true;
  return type === undefined && objectsIn(data?.choices).some(({ delta }) => isJsonObject(delta));
}

/** Recognises a completion, and an error about a field that no other API of OpenAI has (§15.6). */
function documentPath({ object, type, error }: JsonObject): string | null {
  const param = type === undefined && isJsonObject(error) ? stringMember(error, "param") ?? "" : "";
  const isOurs = object === "chat.completion" || /^(?:max_tokens$|messages(?:$|[.[]))/.test(param);
  return isOurs ? "/v1/chat/completions" : null;
}

/**
 * Azure adds the results of its filters (protocol §15.5). The ids of OpenAI's own servers have 29 letters and digits
 * after their prefix; those of other servers with this prefix are UUIDs, numbers or hex.
 */
function providerOf(responses: readonly JsonObject[]): ProviderKind {
  const isFiltered = responses.some((response) =>
    response.prompt_filter_results !== undefined ||
    objectsIn(response.choices).some(({ content_filter_results: results }) => results !== undefined)
  );
  if (isFiltered) return "azure";
  return /^chatcmpl-[A-Za-z0-9]{29}$/.test(stringMember(responses[0] ?? {}, "id") ?? "")
    ? "openai"
    : "compatible";
}
