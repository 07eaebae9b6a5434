/**
 * Calls and their results in histories of the Gemini API, whose path names no API that reprise knows. The API pairs them
 * by an id that it need not give; clients then choose their own, such as `run_shell_command_1732712345678_0`.
 */
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { type CanonicalNames, mapMembers, mapObjects } from "./canonical.ts";

/** Member of a body with the history. */
export const CONTENTS = "contents";
const RESULT = "functionResponse";
const CALLS = new Set(["functionCall", RESULT]);

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
  return inList(body, CONTENTS, (content) => inList(content, "parts", inPart));
}

/** Returns an element of the history without what the client's own tools returned; whether one failed stays. */
export function withoutResponses(content: JsonObject): JsonObject {
  return inList(content, "parts", (part) =>
    mapMembers(part, (name, value) => {
      if (name !== RESULT || !isJsonObject(value)) return value;
      return mapMembers(value, (member, content) => {
        if (member === "parts") return undefined;
        if (member !== "response" || !isJsonObject(content)) return content;
        return mapMembers(content, (key) => key === "error" ? true : undefined);
      });
    }));
}

/** Changes the objects in a list of an object; an object without the list stays. */
function inList(owner: JsonObject, list: string, change: (entry: JsonObject) => JsonObject): JsonObject {
  return mapMembers(owner, (name, value) => name === list ? mapObjects(value, change) : value);
}
