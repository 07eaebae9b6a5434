/**
 * Canonical form of Chat Completions requests.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { type CanonicalForm, type CanonicalNames, mapMembers } from "../canonical.ts";

/** Caching, accounting, and padding of the stream change no answer (protocol §15.1). */
const IGNORED = new Set([
  ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"],
  ...["metadata", "user", "safety_identifier", "stream_options"],
]);

/** Members of a message whose `null` says what their absence says (§15.2). */
const NULLABLE: ReadonlySet<string> = new Set(["content", "refusal", "audio", "function_call"]);

/** Marks of caches in a part; OpenRouter takes Anthropic's (§15.1). */
const CACHE_MARKS: ReadonlySet<string> = new Set(["prompt_cache_breakpoint", "cache_control"]);

/** Canonical form of Chat Completions requests. */
export const chatCanonical: CanonicalForm = {
  list: "messages",
  ignored: IGNORED,
  blobMembers: [],
  member: (_name, value) => value,
  item: message,
  withoutOutputs,
  path: (path) => path,
};

function message(item: JsonObject, names: CanonicalNames): JsonObject {
  return mapMembers(item, (name, value) => {
    if (value === null && NULLABLE.has(name)) return undefined;
    switch (name) {
      case "content":
        return each(
          value,
          (part) => mapMembers(part, (inner, it) => CACHE_MARKS.has(inner) ? undefined : it),
        );
      case "tool_calls":
        return each(value, (call) => mapMembers(call, (inner, it) => inner === "id" ? names.id(it) : it));
      case "tool_call_id":
        return names.id(value);
      default:
        return value;
    }
  });
}

/** A message with role `tool` holds one output; the deprecated role `function` does the same (§15.2). */
function withoutOutputs(item: JsonObject): JsonObject {
  if (item.role !== "tool" && item.role !== "function") return item;
  return mapMembers(item, (name, value) => name === "content" ? undefined : value);
}

/** Changes the objects of a list; any other value stays. */
function each(value: JsonValue, change: (object: JsonObject) => JsonObject): JsonValue {
  return Array.isArray(value) ? value.map((entry) => isJsonObject(entry) ? change(entry) : entry) : value;
}
