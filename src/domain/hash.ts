import { createHash } from "node:crypto";

/** Grows a sha256 piece by piece, and tells what it would be if one last piece came now. */
export class GrowingSha256 {
  readonly #hash = createHash("sha256");

  /** Appends text as UTF-8: a piece must not end inside a surrogate pair. */
  append(text: string): void {
    this.#hash.update(text);
  }

  /** The sha256 of all that was appended and `text`, as 64 lower-case hex digits. `text` is not appended. */
  hexWith(text: string): string {
    return this.#hash.copy().update(text).digest("hex");
  }
}

/** The sha256 of text (as UTF-8) or bytes, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
