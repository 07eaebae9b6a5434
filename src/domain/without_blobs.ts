/** Documents without encrypted content: a length and a hash identify it, and only its provider can read it. */
import { encodeUtf8 } from "./bytes.ts";
import { objectOf } from "./exact_json.ts";
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from "./json.ts";
import { sha256Hex } from "./hash.ts";

/** The encrypted member of objects of a type; members with a name such as `encrypted_content` are encrypted on any. */
const OPAQUE_OF: Readonly<Record<string, string>> = { thinking: "signature", redacted_thinking: "data" };

/** A copy in which `{bytes, sha256}` of their UTF-8 bytes replaces encrypted texts at any depth. */
export function withoutBlobs(object: JsonObject): JsonObject {
  if (isRawNumber(object)) return object;
  const { type } = object;
  const opaque = typeof type === "string" && Object.hasOwn(OPAQUE_OF, type) ? OPAQUE_OF[type] : undefined;
  return objectOf(
    Object.entries(object).map(([name, member]) => {
      if (member === undefined) return [name, member];
      const isOpaque = name === opaque || name.startsWith("encrypted_");
      return [name, typeof member === "string" && isOpaque ? digest(member) : replaced(member)];
    }),
  );
}

function replaced(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(replaced);
  return isJsonObject(value) ? withoutBlobs(value) : value;
}

function digest(text: string): JsonObject {
  const bytes = encodeUtf8(text);
  return { bytes: bytes.length, sha256: sha256Hex(bytes) };
}
