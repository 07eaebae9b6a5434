/**
 * OpenAI Chat Completions and compatible servers, for recording and replay. Of its streams, only the end is known.
 *
 * @module
 */
import { chatCalls } from "./calls.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { Api } from "../api.ts";
import { openaiServers } from "../openai.ts";
import { errorOf } from "../responses/faults.ts";
import type { StreamEvent } from "../stream.ts";

/** Chat Completions (protocol §15). */
export const chatApi: Api = {
  ...openaiServers,
  name: "chat",
  ownsPath: (pathname) => /\/chat\/completions$/.test(pathname),
  recognition: null,
  calls: chatCalls,
  canonical: null,
  rules: null,
  stream: {
    readEvent,
    readDocument: () => null,
    issuedItems: () => ({ failed: false, items: [], thinking: [] }),
    missingIn: () => [],
    mayEnd: /error|\[DONE\]|"finish_reason"\s*:\s*"/,
    endsWithDone: true,
    needsEventLines: false,
    mayRestart: false,
  },
  faults: {
    ending: () => null,
    unknownEvent: null,
    keepalive: () => null,
    idsIn: () => [],
    errorOf,
  },
};

/** Reads the chunk with a finish reason, or an error, as the end: some servers send no `[DONE]` (§15.4). */
function readEvent(data: JsonObject, name?: string): StreamEvent {
  const base = { data, type: typeof data.type === "string" ? data.type : name };
  const { choices, error } = data;
  if (isJsonObject(error)) return { ...base, kind: "error", error };
  const ended = Array.isArray(choices) &&
    choices.some((choice) => isJsonObject(choice) && typeof choice.finish_reason === "string");
  return ended
    ? { ...base, kind: "end", response: undefined, items: [], failed: false }
    : { ...base, kind: "other" };
}
