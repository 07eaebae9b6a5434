/**
 * Keeps the beginning and the end of a command's output, in memory that does not grow with it.
 *
 * @module
 */
import { concatBytes, encodeUtf8 } from "../../domain/bytes.ts";
import { withoutCutEnd, withoutCutStart } from "../utf8_cut.ts";

/** How much of the beginning, and how much of the end is kept, in bytes. */
export const KEPT_PART_BYTES = 8 * 1024 * 1024;
/** An unfinished line is held back up to this length, so that two streams mix line by line. */
const MAX_HELD_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** What was kept of an output. */
export interface Collected {
  /** Everything, or beginning and end with a line between them that counts what is missing. */
  readonly bytes: Uint8Array;
  /** How many bytes came in. */
  readonly total: number;
  /** How many of them are not in `bytes`. */
  readonly missing: number;
}

/** Takes in the chunks of several streams as they come. */
export class OutputCollector {
  readonly #partBytes: number;
  readonly #held = new Map<number, Uint8Array>();
  #head = new Uint8Array(64 * 1024);
  #headLength = 0;
  #tail: Uint8Array | null = null;
  /** Bytes that went to the tail, overwritten ones included. */
  #tailTotal = 0;
  #total = 0;

  constructor(partBytes: number = KEPT_PART_BYTES) {
    this.#partBytes = partBytes;
  }

  /** How many bytes came in so far. */
  get total(): number {
    return this.#total;
  }

  /** Takes in a chunk of the stream numbered `stream`; the chunk is copied. */
  add(stream: number, chunk: Uint8Array): void {
    this.#total += chunk.length;
    const held = this.#held.get(stream);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0 && (held?.length ?? 0) + chunk.length <= MAX_HELD_BYTES) {
      this.#held.set(stream, held === undefined ? chunk.slice() : concatBytes([held, chunk]));
      return;
    }
    const cut = end === 0 ? chunk.length : end;
    if (held !== undefined) this.#keep(held);
    this.#keep(chunk.subarray(0, cut));
    this.#held.delete(stream);
    if (cut < chunk.length) this.#held.set(stream, chunk.slice(cut));
  }

  /** What was kept. Ends the collecting: unfinished lines go to the end. */
  finish(): Collected {
    for (const held of this.#held.values()) this.#keep(held);
    this.#held.clear();
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#orderedTail();
    const missing = this.#total - head.length - tail.length;
    if (missing === 0) return { bytes: concatBytes([head, tail]), total: this.#total, missing };
    const [start, end] = [withoutCutEnd(head), withoutCutStart(tail)];
    const left = missing + (head.length - start.length) + (tail.length - end.length);
    const note = encodeUtf8(`\n[… ${left} bytes left out here; they are kept nowhere …]\n`);
    return { bytes: concatBytes([start, note, end]), total: this.#total, missing: left };
  }

  #keep(bytes: Uint8Array): void {
    const room = this.#partBytes - this.#headLength;
    const first = bytes.subarray(0, room);
    if (first.length > 0) {
      this.#growHead(this.#headLength + first.length);
      this.#head.set(first, this.#headLength);
      this.#headLength += first.length;
    }
    if (bytes.length > first.length) this.#keepTail(bytes.subarray(first.length));
  }

  #growHead(length: number): void {
    if (length <= this.#head.length) return;
    const grown = new Uint8Array(Math.min(this.#partBytes, Math.max(length, this.#head.length * 2)));
    grown.set(this.#head.subarray(0, this.#headLength));
    this.#head = grown;
  }

  #keepTail(bytes: Uint8Array): void {
    this.#tail ??= new Uint8Array(this.#partBytes);
    const tail = this.#tail;
    // Only the end of a chunk longer than the whole ring survives in it.
    const skipped = Math.max(0, bytes.length - tail.length);
    const kept = bytes.subarray(skipped);
    const at = (this.#tailTotal + skipped) % tail.length;
    const first = kept.subarray(0, tail.length - at);
    tail.set(first, at);
    tail.set(kept.subarray(first.length), 0);
    this.#tailTotal += bytes.length;
  }

  #orderedTail(): Uint8Array {
    if (this.#tail === null) return new Uint8Array(0);
    if (this.#tailTotal <= this.#tail.length) return this.#tail.subarray(0, this.#tailTotal);
    const at = this.#tailTotal % this.#tail.length;
    return concatBytes([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
  }
}
