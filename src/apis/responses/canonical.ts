/** Canonical form of Responses requests. */
import { words } from "../../domain/text.ts";
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

/** Caching, accounting, and padding of the stream change no answer. */
const IGNORED = new Set(words(`
  prompt_cache_key prompt_cache_options prompt_cache_retention metadata client_metadata user
  safety_identifier stream_options
`));

/** Types whose `id` another item names; only the server uses ids of other types (protocol §2.1). */
const PAIRED_BY_ID = new Set(["mcp_approval_request", "local_shell_call_output"]);

/** Types of items with the output of a tool that the client runs (protocol §2.1). */
const OUTPUTS = new Set(words(`
  function_call_output custom_tool_call_output computer_call_output shell_call_output
  local_shell_call_output apply_patch_call_output
`));

export const responsesCanonical: CanonicalForm = {
  list: "input",
  ignored: IGNORED,
  blobMembers: ["encrypted_content", "fingerprint"],
  unordered: new Set(["tools"]),
  member: (_name, value) => value,
  item: inputItem,
  withoutOutputs,
  inCallOrder,
  path: (path) => path,
};

function inCallOrder(input: readonly JsonValue[]): readonly JsonValue[] {
  const calls = callPlaces(() =>
    objectsIn(input).flatMap((item) => callAnswered(item) === null ? [item.call_id] : [])
  );
  return sortedResults(input, callAnswered, calls);
}

function callAnswered(item: JsonValue): string | null {
  if (!isJsonObject(item) || !OUTPUTS.has(plainText(item.type))) return null;
  // An output of the older local shell names its call by its own id (protocol §2.1).
  return stringMember(item, item.type === "local_shell_call_output" ? "id" : "call_id") ?? "";
}

/** Types of items that the model writes and clients send back. Messages of the user have the same type. */
const WRITTEN = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

function inputItem(item: JsonObject, names: CanonicalNames): JsonObject {
  const isWritten = WRITTEN.has(plainText(item.type)) &&
    (item.type !== "message" || item.role === "assistant");
  return mapMembers(item, (name, value) => {
    if (isWritten && isEcho(name, value)) return undefined;
    switch (name) {
      case "id":
        if (PAIRED_BY_ID.has(plainText(item.type))) return names.id(value);
        // A reference consists of its id.
        return isReference(item) ? value : undefined;
      case "call_id":
      case "approval_request_id":
        return names.id(value);
      case "caller":
        return isJsonObject(value)
          ? mapMembers(value, (inner, id) => inner === "caller_id" ? names.id(id) : id)
          : value;
      case "encrypted_content":
      case "fingerprint":
        return typeof value === "string" ? names.blob(value) : value;
      case "created_by":
        return undefined;
      case "content":
      case "output": {
        const content = withoutMember(value, "prompt_cache_breakpoint");
        return isWritten ? withoutEmpty(content) : content;
      }
      default:
        return value;
    }
  });
}

/**
 * True for members of an item that the model wrote which only some clients send back: its state, members without a
 * value, and reasoning without visible text (protocol §2.2, §2.3).
 */
function isEcho(name: string, value: JsonValue): boolean {
  return value === null || name === "status" ||
    name === "content" && Array.isArray(value) && value.length === 0;
}

/** Members of a text that some clients send back empty, as the server writes them, and others leave out. */
const OFTEN_EMPTY = new Set(["annotations", "logprobs"]);

function withoutEmpty(parts: JsonValue): JsonValue {
  const isEmpty = (name: string, value: JsonValue) =>
    OFTEN_EMPTY.has(name) && Array.isArray(value) && value.length === 0;
  return mapObjects(
    parts,
    (part) => mapMembers(part, (name, value) => isEmpty(name, value) ? undefined : value),
  );
}

function withoutOutputs(item: JsonObject): JsonObject {
  return OUTPUTS.has(plainText(item.type)) ? without(item, "output") : item;
}

function isReference({ type, role }: JsonObject): boolean {
  return type === "item_reference" || (type ?? role ?? null) === null;
}
