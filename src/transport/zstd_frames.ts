/**
 * Frames of zstd (RFC 8878 §3.1). The runtime's decoder stops after one frame, takes a skippable one for the end, and
 * reports no cut.
 */
import { concatBytes } from "../domain/bytes.ts";

const MAGIC = 0xfd2fb528;
/** Upper 28 bits of the magic number of a skippable frame. */
const SKIPPABLE = 0x184d2a5;
/** Length of the id of a dictionary, by the last two bits of the flags. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
/** Length of the size of the content, by the first two bits of the flags. */
const SIZE_BYTES = [0, 2, 4, 8];
const CHECKSUM_BYTES = 4;
/** Type of a block that repeats one byte. */
const REPEATED_BYTE = 1;
const MAX_BLOCK_BYTES = 128 * 1024;

/** Header, block or checksum of a frame. */
export interface ZstdPiece {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** True for bytes that begin as zstd does, with a frame or with a skippable one. */
export function isZstd(start: Uint8Array): boolean {
  if (start.length < 4) return false;
  const magic = viewOf(start).getUint32(0, true);
  return magic === MAGIC || magic >>> 4 === SKIPPABLE;
}

/** Splits a stream into the pieces of its frames, without the skippable ones. */
export class ZstdFrames {
  #next: "frame" | "block" | "checksum" = "frame";
  #hasChecksum = false;
  /** Bytes of a skippable frame that are still to come. */
  #skipped = 0;
  /** Bytes of the next piece so far, and the length from which on they can be examined. */
  #parts: Uint8Array[] = [];
  #length = 0;
  #needed = 0;

  get isWhole(): boolean {
    return this.#next === "frame" && this.#length === 0 && this.#skipped === 0;
  }

  /** Splits the next bytes of the stream. @throws {TypeError} if they are not zstd. */
  *split(more: Uint8Array): Generator<ZstdPiece> {
    this.#parts.push(more);
    this.#length += more.length;
    if (this.#length < this.#needed) return;
    let bytes = this.#parts.length === 1 ? more : concatBytes(this.#parts);
    for (;;) {
      const passed = Math.min(this.#skipped, bytes.length);
      this.#skipped -= passed;
      bytes = bytes.subarray(passed);
      this.#needed = this.#skipped > 0 ? 0 : this.#lengthOf(bytes);
      if (bytes.length === 0 || this.#needed > bytes.length) break;
      const piece = bytes.subarray(0, this.#needed);
      bytes = bytes.subarray(this.#needed);
      if (this.#pass(piece)) yield { bytes: piece, isLast: this.#next === "frame" };
    }
    this.#parts = bytes.length === 0 ? [] : [bytes];
    this.#length = bytes.length;
  }

  /** Returns the length of the piece at the start of `bytes`, or of the part of it that tells its length. */
  #lengthOf(bytes: Uint8Array): number {
    const view = viewOf(bytes);
    switch (this.#next) {
      case "checksum":
        return CHECKSUM_BYTES;
      case "block": {
        if (bytes.length < 3) return 3;
        const { type, size } = blockOf(view);
        if (size > MAX_BLOCK_BYTES) throw new TypeError("a block of zstd is too large");
        return 3 + (type === REPEATED_BYTE ? 1 : size);
      }
      case "frame": {
        if (bytes.length < 5) return 5;
        const magic = view.getUint32(0, true);
        if (magic >>> 4 === SKIPPABLE) return 8;
        if (magic !== MAGIC) throw new TypeError("no frame of zstd begins here");
        const flags = view.getUint8(4);
        const isSingle = (flags & 0x20) !== 0;
        const size = SIZE_BYTES[flags >> 6] || (isSingle ? 1 : 0);
        return (isSingle ? 5 : 6) + (DICTIONARY_BYTES[flags & 3] ?? 0) + size;
      }
    }
  }

  /** Moves on to the next piece; `false` for the header of a skippable frame. */
  #pass(piece: Uint8Array): boolean {
    const view = viewOf(piece);
    switch (this.#next) {
      case "checksum":
        this.#next = "frame";
        return true;
      case "block":
        if (blockOf(view).isLast) this.#next = this.#hasChecksum ? "checksum" : "frame";
        return true;
      case "frame":
        if (view.getUint32(0, true) !== MAGIC) {
          this.#skipped = view.getUint32(4, true);
          return false;
        }
        this.#hasChecksum = (view.getUint8(4) & 4) !== 0;
        this.#next = "block";
        return true;
    }
  }
}

function blockOf(view: DataView): { readonly isLast: boolean; readonly type: number; readonly size: number } {
  const header = view.getUint16(0, true) | view.getUint8(2) << 16;
  return { isLast: (header & 1) !== 0, type: header >> 1 & 3, size: header >> 3 };
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
