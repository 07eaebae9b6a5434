import { createHash, hash } from "node:crypto";

export class GrowingSha256 {
  readonly #hash = createHash("sha256");

  /** Appends bytes, or text as UTF-8: a piece of text must not end inside a surrogate pair. */
  append(piece: string | Uint8Array): void {
    this.#hash.update(piece);
  }

  /** Passes `chunks` on and appends each of them. */
  *appending<T extends Uint8Array>(chunks: Iterable<T>): Generator<T> {
    for (const chunk of chunks) {
      this.append(chunk);
      yield chunk;
    }
  }

  /** The sha256 of all appended pieces and of `end`, as 64 lower-case hex digits; more may be appended, without `end`. */
  hex(end = ""): string {
    return this.#hash.copy().update(end).digest("hex");
  }
}

/** The sha256 of text (as UTF-8) or bytes, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}
