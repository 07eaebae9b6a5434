/**
 * A window of lines out of a file of any size, in memory bounded by the window.
 *
 * @module
 */
import { concatBytes } from "../../domain/bytes.ts";
import { BINARY_PROBE_BYTES } from "../content.ts";
import type { OpenedFile } from "../sandbox_path.ts";

/** How many lines are read when nobody says. */
export const DEFAULT_LINES = 2000;
/** The most bytes that a window may hold. */
export const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
/** Files up to this size are read to their end, so that the number of all lines is known. */
const MAX_COUNTED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** Which lines to read. */
export interface WindowOptions {
  /** The first line, from 1. */
  readonly first: number;
  /** How many lines, 1 or more. */
  readonly count: number;
  readonly signal: AbortSignal;
  /** @default {MAX_WINDOW_BYTES} */
  readonly maxBytes?: number;
}

/** What was read. */
export type Window =
  | {
    readonly kind: "lines";
    /** The first bytes of the file, up to what tells binary from text. */
    readonly start: Uint8Array;
    /** The bytes of the lines, with their newlines. */
    readonly bytes: Uint8Array;
    /** How many lines `bytes` hold; fewer than asked for at the end of the file. */
    readonly lines: number;
    /** How many lines the file has; `null` when there are more that were not counted. */
    readonly total: number | null;
  }
  | { readonly kind: "too_large"; readonly maxBytes: number };

/**
 * Reads lines `first` to `first + count - 1`. A last line without a newline counts as a line.
 *
 * @throws the signal's reason when it aborts.
 */
export async function readWindow(file: OpenedFile, options: WindowOptions): Promise<Window> {
  const { first, count, signal, maxBytes = MAX_WINDOW_BYTES } = options;
  const end = first + count;
  const kept: Uint8Array[] = [];
  let start = new Uint8Array(0);
  let keptBytes = 0;
  let line = 1;
  let lineHasBytes = false;
  const buffer = new Uint8Array(CHUNK_BYTES);
  while (true) {
    signal.throwIfAborted();
    const length = await file.read(buffer);
    if (length === 0) break;
    const chunk = buffer.slice(0, length);
    if (start.length < BINARY_PROBE_BYTES) start = concatBytes([start, chunk]).slice(0, BINARY_PROBE_BYTES);
    if (start.includes(0)) break;
    if (line >= end && file.size > MAX_COUNTED_BYTES) {
      return { kind: "lines", start, bytes: concatBytes(kept), lines: count, total: null };
    }
    let from = line >= first && line < end ? 0 : -1;
    let to = length;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      line++;
      if (line === first) from = at + 1;
      if (line === end) to = at + 1;
    }
    lineHasBytes = chunk[length - 1] !== NEWLINE;
    if (from < 0) continue;
    keptBytes += to - from;
    if (keptBytes > maxBytes) return { kind: "too_large", maxBytes };
    kept.push(chunk.subarray(from, to));
  }
  const total = lineHasBytes ? line : line - 1;
  return {
    kind: "lines",
    start,
    bytes: concatBytes(kept),
    lines: Math.max(0, Math.min(end - 1, total) - first + 1),
    total,
  };
}
