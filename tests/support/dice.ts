/** Choices that depend on a seed alone. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  /** A whole number, both ends included. */
  count(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  /** One of the choices; there must be at least one. */
  readonly pick = <T>(choices: readonly T[]): T => choices[this.count(0, choices.length - 1)] as T;

  /** 0 up to 1; a mulberry32 step. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
