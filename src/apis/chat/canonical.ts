/** Canonical form of Chat Completions requests. */
import { words } from "../../domain/text.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, stringMember } from "../../domain/json.ts";
import { type CanonicalForm, type CanonicalNames, mapMembers, sortedResults } from "../canonical.ts";

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
  blobMembers: [],
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

/** Sorts the messages that answer one batch of calls; ids may come again in later turns, in their own order. */
function inCallOrder(messages: readonly JsonValue[]): readonly JsonValue[] {
  let calls: ReadonlyMap<string, number> | null = null;
  return sortedResults(messages, callAnswered, (id) => (calls ??= callsIn(messages)).get(id));
}

function callAnswered(message: JsonValue): string | null {
  return isJsonObject(message) && message.role === "tool"
    ? stringMember(message, "tool_call_id") ?? ""
    : null;
}

function callsIn(messages: readonly JsonValue[]): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const { tool_calls: list } of objectsIn(messages)) {
    for (const { id } of objectsIn(list)) {
      if (typeof id === "string" && !calls.has(id)) calls.set(id, calls.size);
    }
  }
  return calls;
}

/** Changes the objects of a list; any other value stays. */
function each(value: JsonValue, change: (object: JsonObject) => JsonObject): JsonValue {
  return Array.isArray(value) ? value.map((entry) => isJsonObject(entry) ? change(entry) : entry) : value;
}
