/** Rows of the bench: an operation beside its reference, measured in the same rounds, and the target of the pair. */

/** Directories and size of one call of a bench; the paths are absolute. */
export interface Context {
  /** The checkout. */
  readonly root: string;
  /** Kept from one call to the next: a compiled binary, installed packages. */
  readonly cache: string;
  /** Removed at the end of the call; on the disk of the checkout. */
  readonly work: string;
  /** Small sizes: shows that a bench works, and measures nothing. */
  readonly smoke: boolean;
}

/** The size of a measurement, or the one of a smoke run. */
export function sized({ smoke }: Context, full: number, small: number): number {
  return smoke ? small : full;
}

/** An operation and its reference. */
export interface Row {
  readonly what: string;
  readonly against: string;
  /**
   * The number of the row: how many times as long (`time`), as fast (`speed`) or as much memory (`memory`) as the
   * reference, or the milliseconds on top of it (`added`). @default {"time"}
   */
  readonly kind?: "time" | "speed" | "memory" | "added";
  /** The most that the number may be, for `speed` the least. @default {none: the row informs} */
  readonly target?: number;
}

/** Both sides of a row, a number for each round: milliseconds, or for `memory` megabytes of 1,000,000 bytes. */
export interface Pair {
  readonly own: readonly number[];
  readonly other: readonly number[];
}

/** Measurements of a row, or the reason why there are none. */
export type Result = Pair | string;

/** Some rows that are measured together, each with a result. */
export interface Bench<Key extends string = string> {
  readonly rows: Readonly<Record<Key, Row>>;
  measure(context: Context): Promise<Readonly<Record<Key, Result>>>;
}

/** Has TypeScript compare the keys of the results with those of the rows. */
export function bench<Key extends string>(
  rows: Bench<Key>["rows"],
  measure: Bench<Key>["measure"],
): Bench<Key> {
  return { rows, measure };
}

/** Runs once; it receives the number of the round, warm-ups included. */
export type Candidate<T> = (round: number) => T | Promise<T>;

/**
 * Runs each candidate once a round, in another order each time: on a machine that does other things too, only what ran
 * in the same moments can be compared. The results of the warm-ups are dropped.
 */
export async function interleave<Name extends string, T>(
  candidates: Readonly<Record<Name, Candidate<T>>>,
  { rounds, warmups = 1 }: { readonly rounds: number; readonly warmups?: number },
): Promise<Record<Name, T[]>> {
  const names = Object.keys(candidates) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round < warmups + rounds; round++) {
    const first = (round >> 1) % names.length;
    const order = [...names.slice(first), ...names.slice(0, first)];
    for (const name of round % 2 === 0 ? order : order.reverse()) {
      const result = await candidates[name](round);
      if (round >= warmups) results[name].push(result);
    }
  }
  return results;
}

/** Milliseconds until `body` has ended. */
export async function timed(body: () => unknown): Promise<number> {
  const start = performance.now();
  const ended = body();
  if (ended instanceof Promise) await ended;
  return performance.now() - start;
}

/** The number of a row: the median over the rounds, as noise in one round affects both of its sides. */
export function numberOf({ kind }: Row, { own, other }: Pair): number {
  return median(own.map((value, round) => {
    const beside = other[round] ?? NaN;
    return kind === "added" ? value - beside : kind === "speed" ? beside / value : value / beside;
  }));
}

/** The middle value, or the mean of the two middle values; `NaN` of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2;
}

/** The number of a row, its target, a verdict, and the medians of both sides; nothing if the row has no numbers. */
export function cellsOf(row: Row, { own, other }: Pair): string[] {
  const { kind, target } = row;
  const number = numberOf(row, { own, other });
  if (own.length !== other.length || ![number, ...own, ...other].every(Number.isFinite)) return [];
  const isMet = kind === "speed" ? number >= (target ?? 0) : number <= (target ?? Infinity);
  const ms = kind === "added" ? " ms" : "";
  const medians = [own, other].map((side) => `${Number(median(side).toPrecision(3))}`).join(" : ");
  return [
    ms === "" ? number.toFixed(2) : `+${number.toFixed(0)}${ms}`,
    target === undefined ? "" : `${kind === "speed" ? "≥" : "≤"} ${target}${ms}`,
    target === undefined ? "" : isMet ? "ok" : "over",
    `${medians} ${kind === "memory" ? "MB" : "ms"}`,
  ];
}
