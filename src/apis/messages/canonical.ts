/** Canonical form of Messages requests. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  plainText,
  stringMember,
} from "../../domain/json.ts";
import {
  callPlaces,
  type CanonicalForm,
  type CanonicalNames,
  mapMembers,
  mapObjects,
  sortedResults,
  without,
  withoutMember,
} from "../canonical.ts";

export const messagesCanonical: CanonicalForm = {
  list: "messages",
  ignored: new Set(["metadata", "cache_control"]),
  unordered: new Set(["tools"]),
  // `system` blocks and tools carry cache breakpoints too.
  member: (name, value) =>
    name === "system" || name === "tools" ? withoutMember(value, "cache_control") : value,
  item: message,
  withoutOutputs,
  inCallOrder,
  path: withoutBeta,
};

function message(item: JsonObject, names: CanonicalNames): JsonObject {
  return mapMembers(
    item,
    (name, value) => name === "content" ? mapObjects(value, (entry) => block(entry, names)) : value,
  );
}

function block(entry: JsonObject, names: CanonicalNames): JsonObject {
  return mapMembers(entry, (name, value) => {
    switch (name) {
      case "cache_control":
        return undefined;
      case "id":
        return plainText(entry.type).endsWith("_use") ? names.id(value) : value;
      case "tool_use_id":
        return names.id(value);
      case "content":
        return withoutMember(value, "cache_control");
      default:
        return value;
    }
  });
}

function withoutOutputs(item: JsonObject): JsonObject {
  const withoutContent = (entry: JsonObject) =>
    entry.type === "tool_result" ? without(entry, "content") : entry;
  return mapMembers(item, (name, value) => name === "content" ? mapObjects(value, withoutContent) : value);
}

/** Sorts the results at the start of each message of the user by the uses that they answer. */
function inCallOrder(messages: readonly JsonValue[]): readonly JsonValue[] {
  const uses = callPlaces(() =>
    objectsIn(messages).flatMap(({ content }) => objectsIn(content))
      .flatMap(({ type, id }) => type === "tool_use" ? [id] : [])
  );
  return mapObjects(messages, (message) => {
    if (message.role !== "user" || !Array.isArray(message.content)) return message;
    const blocks: readonly JsonValue[] = message.content;
    const other = blocks.findIndex((block) => useAnswered(block) === null);
    const end = other < 0 ? blocks.length : other;
    const content = sortedResults(blocks, (block, index) => index < end ? useAnswered(block) : null, uses);
    return mapMembers(message, (name, value) => name === "content" ? content : value);
  }) as readonly JsonValue[];
}

function useAnswered(block: JsonValue): string | null {
  if (!isJsonObject(block) || block.type !== "tool_result") return null;
  return stringMember(block, "tool_use_id") ?? "";
}

/** Ignores `beta=true`: some clients add it to every beta request, others never; the API reads the header. */
function withoutBeta(path: string): string {
  const start = path.indexOf("?");
  if (start < 0) return path;
  const [route, query] = [path.slice(0, start), path.slice(start + 1)];
  const rest = query.split("&").filter((part) => part !== "" && part !== "beta=true").join("&");
  return rest === "" ? route : `${route}?${rest}`;
}
