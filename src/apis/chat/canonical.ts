/** Canonical form of Chat Completions requests. */
import { words } from "../../domain/text.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, stringMember } from "../../domain/json.ts";
import {
  callPlaces,
  type CanonicalForm,
  type CanonicalNames,
  mapMembers,
  mapObjects,
  sortedResults,
  without,
} from "../canonical.ts";

/** Caching, accounting, and padding of the stream change no answer (protocol §15.1). */
const IGNORED = new Set(words(`
  prompt_cache_key prompt_cache_options prompt_cache_retention metadata user safety_identifier
  stream_options
`));

/** Members of a message whose `null` says what their absence says (§15.2). */
const NULLABLE: ReadonlySet<string> = new Set(["content", "refusal", "audio", "function_call"]);

/** Marks of caches in a part; OpenRouter takes Anthropic's (§15.1). */
const CACHE_MARKS: ReadonlySet<string> = new Set(["prompt_cache_breakpoint", "cache_control"]);

export const chatCanonical: CanonicalForm = {
  list: "messages",
  ignored: IGNORED,
  unordered: new Set(["tools", "functions"]),
  member: (_name, value) => value,
  item: message,
  withoutOutputs,
  inCallOrder,
  path: (path) => path,
};

function message(item: JsonObject, names: CanonicalNames): JsonObject {
  return mapMembers(item, (name, value) => {
    if (value === null && NULLABLE.has(name)) return undefined;
    switch (name) {
      case "content":
        return mapObjects(
          value,
          (part) => mapMembers(part, (inner, it) => CACHE_MARKS.has(inner) ? undefined : it),
        );
      case "tool_calls":
        return mapObjects(
          value,
          (call) => mapMembers(call, (inner, it) => inner === "id" ? names.id(it) : it),
        );
      case "tool_call_id":
        return names.id(value);
      default:
        return value;
    }
  });
}

/** A message with role `tool` holds one output; the deprecated role `function` does the same (§15.2). */
function withoutOutputs(item: JsonObject): JsonObject {
  return item.role === "tool" || item.role === "function" ? without(item, "content") : item;
}

/** Sorts the messages that answer one batch of calls; ids may come again in later turns, in their own order. */
function inCallOrder(messages: readonly JsonValue[]): readonly JsonValue[] {
  const calls = callPlaces(() =>
    objectsIn(messages).flatMap(({ tool_calls: list }) => objectsIn(list).map(({ id }) => id))
  );
  return sortedResults(messages, callAnswered, calls);
}

function callAnswered(message: JsonValue): string | null {
  return isJsonObject(message) && message.role === "tool"
    ? stringMember(message, "tool_call_id") ?? ""
    : null;
}
