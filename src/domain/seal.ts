/** Checksummed files: the last member is `"sum"`, the sha256 of all bytes before it. */
import { encodeUtf8 } from "./bytes.ts";
import { sha256Hex } from "./hash.ts";

const BEFORE_SUM = '"sum":"';
const SUM_LENGTH = 64;
const AFTER_SUM = '"}\n';
/** Length of the end that the sum does not include: `"sum":"` + 64 hex digits + `"}` + newline. */
const SEAL_BYTES = BEFORE_SUM.length + SUM_LENGTH + AFTER_SUM.length;

/** A sealed text and the sum in its last member. */
export interface Sealed {
  readonly bytes: Uint8Array;
  readonly sum: string;
}

/** Seals an open JSON object text: `text` ends with a comma after its last member, without the closing brace. */
export function seal(text: string): Sealed {
  const sum = sha256Hex(text);
  return { bytes: encodeUtf8(text + BEFORE_SUM + sum + AFTER_SUM), sum };
}

/**
 * Returns the sum of a sealed file if it fits the bytes, otherwise `null`. A file must end with exactly
 * `"sum":"<64 lower-case hex>"}` and one newline.
 */
export function checkSeal(bytes: Uint8Array): string | null {
  const start = bytes.length - SEAL_BYTES;
  if (start < 1) return null;
  const sum = sha256Hex(bytes.subarray(0, start));
  const isSealed = hasAscii(bytes, start, BEFORE_SUM) && hasAscii(bytes, start + BEFORE_SUM.length, sum) &&
    hasAscii(bytes, bytes.length - AFTER_SUM.length, AFTER_SUM);
  return isSealed ? sum : null;
}

function hasAscii(bytes: Uint8Array, start: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
