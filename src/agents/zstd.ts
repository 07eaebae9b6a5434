/**
 * Decompresses sources that an agent keeps with zstd.
 *
 * @module
 */
import { Decompress } from "fzstd";
import { concatBytes } from "../domain/bytes.ts";
import { namesLargeWindow } from "./zstd_window.ts";

/** Bytes that are given to the decompressor at once. */
const STEP = 64 * 1024;

/** Decompressed bytes. */
export interface Decompressed {
  readonly bytes: Uint8Array;
  /** True if the source ends before its last frame does, or is damaged: then `bytes` is the part before that. */
  readonly isCut: boolean;
}

/** Decompresses frames, one after another; `null` if they hold more than `maxBytes`. Sources with a huge window give nothing. */
export function decompressed(bytes: Uint8Array, maxBytes: number): Decompressed | null {
  if (namesLargeWindow(bytes)) return { bytes: new Uint8Array(), isCut: true };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stream = new Decompress((chunk) => {
    size += chunk.length;
    // A few bytes can hold a thousand blocks of 128 KiB, so each block is checked.
    if (size > maxBytes) throw new RangeError("more than the cap");
    chunks.push(chunk.slice());
  });
  let isCut = false;
  try {
    for (let start = 0; start < bytes.length; start += STEP) {
      stream.push(bytes.slice(start, start + STEP), start + STEP >= bytes.length);
    }
  } catch {
    isCut = true;
  }
  return size > maxBytes ? null : { bytes: concatBytes(chunks), isCut };
}
