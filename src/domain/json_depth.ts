/** A cap on the nesting of JSON: parsers and walkers recurse, so deeper values would exhaust the stack. */
import { decodeUtf8 } from "./bytes.ts";
import type { JsonValue } from "./json.ts";

/** The deepest nesting of arrays and objects that is parsed, compared or shown as JSON. */
export const MAX_JSON_DEPTH = 512;

const QUOTE = 0x22, BACKSLASH = 0x5c, OPEN_ARRAY = 0x5b, CLOSE_ARRAY = 0x5d, OPEN = 0x7b, CLOSE = 0x7d;

/** True if the JSON in `text` nests deeper than `most` levels: a scan, for use before a parser. */
export function isTooDeep(text: string, most = MAX_JSON_DEPTH): boolean {
  // Searching for one character is native: most texts hold too few openers in all to be deep.
  if (countUpTo(text, "{", most) + countUpTo(text, "[", most) <= most) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (inString) {
      if (unit === BACKSLASH) index++;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (unit === OPEN || unit === OPEN_ARRAY) {
      if (++depth > most) return true;
    } else if (unit === CLOSE || unit === CLOSE_ARRAY) depth--;
  }
  return false;
}

/** Counts a character, and stops one past `limit`. */
function countUpTo(text: string, character: string, limit: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= limit; at = text.indexOf(character, at + 1)) {
    count++;
  }
  return count;
}

/**
 * Returns the JSON in UTF-8 bytes, and its text without a byte order mark; `undefined` if the bytes are not JSON, or
 * nest deeper than `most` levels. Any other error is thrown: it does not come from the bytes.
 */
export function parseShallow(
  bytes: Uint8Array,
  most = MAX_JSON_DEPTH,
): { readonly text: string; readonly json: JsonValue } | undefined {
  try {
    const text = decodeUtf8(bytes);
    return isTooDeep(text, most) ? undefined : { text, json: JSON.parse(text) };
  } catch (error) {
    // The decoder throws a TypeError, the parser a SyntaxError.
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
