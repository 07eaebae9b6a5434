/**
 * Ids of calls in histories of the Gemini API, whose path names no API that reprise knows. The API pairs results with
 * calls by an id that it need not give; clients then choose their own, such as `run_shell_command_1732712345678_0`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { type CanonicalNames, mapMembers } from "./canonical.ts";

const CALLS = new Set(["functionCall", "functionResponse"]);

/** Returns a body in which `id` names the ids of calls and of their results. */
export function pairedCalls(body: JsonObject, id: CanonicalNames["id"]): JsonObject {
  const inPart = (part: JsonObject) =>
    mapMembers(
      part,
      (name, call) =>
        CALLS.has(name) && isJsonObject(call)
          ? mapMembers(call, (member, value) => member === "id" ? id(value) : value)
          : call,
    );
  return inList(body, "contents", (content) => inList(content, "parts", inPart));
}

/** Changes the objects in a list of an object; an object without the list stays. */
function inList(owner: JsonObject, list: string, change: (entry: JsonObject) => JsonObject): JsonObject {
  const entries: JsonValue | undefined = owner[list];
  if (!Array.isArray(entries)) return owner;
  const changed = entries.map((entry: JsonValue) => isJsonObject(entry) ? change(entry) : entry);
  return mapMembers(owner, (name, value) => name === list ? changed : value);
}
