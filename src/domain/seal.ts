/**
 * Checksummed files: the last member is `"sum"`, the sha256 of all bytes before it.
 *
 * @module
 */
import { encodeUtf8 } from "./bytes.ts";
import { sha256Hex } from "./hash.ts";

const SUM_MEMBER = '"sum":"';
/** Length of the end that the sum does not include: `"sum":"` + 64 hex digits + `"}` + newline. */
export const SEAL_BYTES = SUM_MEMBER.length + 64 + 3;

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
 * `"sum":"<64 lower-case hex>"}` and one newline. `computed` is the sum of the bytes before that, if it is known.
 */
export function checkSeal(bytes: Uint8Array, computed?: string): string | null {
  const start = bytes.length - SEAL_BYTES;
  if (start < 1) return null;
  const sum = computed ?? bodySum(bytes);
  const tail = tailOf(sum);
  for (let index = 0; index < SEAL_BYTES; index++) {
    if (bytes[start + index] !== tail.charCodeAt(index)) return null;
  }
  return sum;
}

/** The sum of the bytes before the seal of a sealed file. */
export function bodySum(bytes: Uint8Array): string {
  return sha256Hex(bytes.subarray(0, Math.max(0, bytes.length - SEAL_BYTES)));
}

function tailOf(sum: string): string {
  return `${SUM_MEMBER}${sum}"}\n`;
}
