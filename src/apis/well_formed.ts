/**
 * Text that is valid Unicode, in every API's requests.
 *
 * @module
 */
import type { JsonValue } from "../domain/json.ts";

/**
 * False when a string or a name anywhere in `body` holds half a surrogate pair: such JSON is not valid UTF-8 text.
 * Without recursion: a body may be nested as deep as its author likes.
 */
export function isWellFormedBody(body: JsonValue): boolean {
  const open: (JsonValue | undefined)[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") {
      if (!value.isWellFormed()) return false;
    } else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (!name.isWellFormed()) return false;
        open.push(member);
      }
    }
  }
  return true;
}
