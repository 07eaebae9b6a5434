/**
 * Canonical form of Messages requests.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { type CanonicalForm, type CanonicalNames, mapMembers, withoutMember } from "../canonical.ts";

/** Canonical form of Messages requests. */
export const messagesCanonical: CanonicalForm = {
  list: "messages",
  ignored: new Set(["metadata", "cache_control"]),
  blobMembers: [],
  // `system` blocks and tools carry cache breakpoints too.
  member: (name, value) =>
    name === "system" || name === "tools" ? withoutMember(value, "cache_control") : value,
  item: message,
  withoutOutputs,
  path: withoutBeta,
};

function message(item: JsonObject, names: CanonicalNames): JsonObject {
  return mapMembers(item, (name, value) => {
    if (name !== "content" || !Array.isArray(value)) return value;
    return value.map((entry) => isJsonObject(entry) ? block(entry, names) : entry);
  });
}

function block(entry: JsonObject, names: CanonicalNames): JsonObject {
  return mapMembers(entry, (name, value) => {
    switch (name) {
      case "cache_control":
        return undefined;
      case "id":
        return String(entry.type).endsWith("_use") ? names.id(value) : value;
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
  return mapMembers(item, (name, value) => {
    if (name !== "content" || !Array.isArray(value)) return value;
    return value.map((entry) =>
      isJsonObject(entry) && entry.type === "tool_result"
        ? mapMembers(entry, (inner, content) => inner === "content" ? undefined : content)
        : entry
    );
  });
}

/** Ignores `beta=true`: some clients add it to every beta request, others never; the API reads the header. */
function withoutBeta(path: string): string {
  const [route = "", query = ""] = path.split("?");
  const rest = query.split("&").filter((part) => part !== "" && part !== "beta=true").join("&");
  return rest === "" ? route : `${route}?${rest}`;
}
