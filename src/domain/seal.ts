/**
 * Checksummed files: the last member is `"sum"`, the sha256 of all bytes before it.
 *
 * @module
 */
import { encodeUtf8 } from "./bytes.ts";
import { sha256Hex } from "./hash.ts";

const SUM_MEMBER = '"sum":"';
/** `"sum":"` + 64 hex digits + `"}` + newline. */
const TAIL_LENGTH = SUM_MEMBER.length + 64 + 3;

/** A sealed text and the sum in its last member. */
export interface Sealed {
  readonly bytes: Uint8Array;
  readonly sum: string;
}

/** Seals an open JSON object text: `text` ends with a comma after its last member, without the closing brace. */
export function seal(text: string): Sealed {
  const sum = sha256Hex(text);
  return { bytes: encodeUtf8(text + tailOf(sum)), sum };
}

/**
 * Returns the sum of a sealed file if it fits the bytes, otherwise `null`. A file must end with exactly
 * `"sum":"<64 lower-case hex>"}` and one newline.
 */
export function checkSeal(bytes: Uint8Array): string | null {
  const start = bytes.length - TAIL_LENGTH;
  if (start < 1) return null;
  const sum = sha256Hex(bytes.subarray(0, start));
  const tail = tailOf(sum);
  for (let index = 0; index < TAIL_LENGTH; index++) {
    if (bytes[start + index] !== tail.charCodeAt(index)) return null;
  }
  return sum;
}

function tailOf(sum: string): string {
  return `${SUM_MEMBER}${sum}"}\n`;
}
