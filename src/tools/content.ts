/**
 * What the tools make of a file's bytes: text, lossy text, or binary.
 *
 * @module
 */
import { decodeUtf8Exactly, decodeUtf8WithMark } from "../domain/bytes.ts";

/** How far into a file a NUL byte makes it binary. */
export const BINARY_PROBE_BYTES = 8 * 1024;

/** Text made from bytes. */
export interface Decoded {
  readonly text: string;
  /** True when some bytes were not UTF-8 and became U+FFFD. */
  readonly lossy: boolean;
}

/** True when the first bytes of a file hold a NUL: it is shown to nobody as text. */
export function isBinary(start: Uint8Array): boolean {
  return start.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Decodes UTF-8; a byte order mark stays, so that the text is what the file holds. */
export function decodeContent(bytes: Uint8Array): Decoded {
  try {
    return { text: decodeUtf8Exactly(bytes), lossy: false };
  } catch {
    return { text: decodeUtf8WithMark(bytes), lossy: true };
  }
}
