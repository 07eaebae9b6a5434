/** Takes keys of this process out of the output of a call, before it is shown, saved or sent. */
import { decodeUtf8WithMark, encodeUtf8 } from "../domain/bytes.ts";
import { headOf } from "../domain/text.ts";

/** Finds keys in any of their encodings. */
export interface KeyFinder {
  /** Replaces each key by as many bytes of another text; returns the same array if there is none. */
  bytes(bytes: Uint8Array): Uint8Array;
  /** Names of the keys in `bytes`, each once. */
  namesIn(bytes: Uint8Array): readonly string[];
}

/** Longest text without a line end that waits for one, in UTF-16 units. */
const LONGEST_LINE = 16_384;

/** Cleans all output of one call. */
export class CallKeys {
  /** Names of the keys that were replaced. */
  readonly found = new Set<string>();
  readonly #finder: KeyFinder;
  readonly #onOutput: (text: string) => void;
  #line = "";

  /** @param onOutput Receives the cleaned text of {@linkcode live}. */
  constructor(finder: KeyFinder, onOutput: (text: string) => void) {
    this.#finder = finder;
    this.#onOutput = onOutput;
  }

  bytes(bytes: Uint8Array): Uint8Array {
    const clean = this.#finder.bytes(bytes);
    if (clean !== bytes) { for (const name of this.#finder.namesIn(bytes)) this.found.add(name); }
    return clean;
  }

  text(text: string): string {
    const bytes = encodeUtf8(text);
    const clean = this.bytes(bytes);
    return clean === bytes ? text : decodeUtf8WithMark(clean);
  }

  /** Takes output of a command that runs; whole lines are passed on, because a key may come in pieces. */
  live(text: string): void {
    this.#line += text;
    const end = Math.max(this.#line.lastIndexOf("\n"), this.#line.lastIndexOf("\r")) + 1;
    this.#pass(this.#line.length - end > LONGEST_LINE ? this.#line.length : end);
  }

  /** Passes on a last line without an end. */
  end(): void {
    this.#pass(this.#line.length);
  }

  #pass(length: number): void {
    const text = headOf(this.#line, length);
    this.#line = this.#line.slice(text.length);
    if (text !== "") this.#onOutput(this.text(text));
  }
}
