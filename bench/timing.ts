/**
 * Timing side by side. On a machine that does other things too, only what ran in the same moments can be compared:
 * every round runs each candidate once, in another order each time.
 *
 * @module
 */

/** Something to be timed. */
export interface Candidate {
  /** Runs once and returns its time in milliseconds. Preparations are not part of it. */
  measure(round: number): number | Promise<number>;
}

/** Number of runs of {@linkcode interleave}. */
export interface Rounds {
  /** Rounds that count. */
  readonly rounds: number;
  /** Rounds before them that do not: caches fill, code is compiled. @default {1} */
  readonly warmups?: number;
}

/** The middle and the ends of several measurements. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * Runs all candidates round by round; the result has one array for each candidate, one number for each round. A
 * candidate that cannot run here is `null`, and its array empty.
 */
export async function interleave<Names extends string>(
  candidates: Readonly<Record<Names, Candidate | null>>,
  { rounds, warmups = 1 }: Rounds,
): Promise<Record<Names, number[]>> {
  const names = Object.keys(candidates) as Names[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Names, number[]>;
  for (let round = 0; round < warmups + rounds; round++) {
    for (const name of orderOf(names, round)) {
      const taken = await candidates[name]?.measure(round);
      if (round >= warmups && taken !== undefined) times[name].push(taken);
    }
  }
  return times;
}

/** Rotates the items in each round, and reverses every other round: no item always follows the same one. */
export function orderOf<T>(items: readonly T[], round: number): T[] {
  const start = (round >> 1) % items.length;
  const turned = [...items.slice(start), ...items.slice(0, start)];
  return round % 2 === 0 ? turned : turned.reverse();
}

/** Measures the time of `body`, in milliseconds. */
export function timed(body: () => void): number {
  const start = performance.now();
  body();
  return performance.now() - start;
}

/** Measures the time until the promise of `body` resolves, in milliseconds. */
export async function timedAsync(body: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await body();
  return performance.now() - start;
}

/** `a[i] / b[i]` for each round: what disturbs one round disturbs both sides of its ratio. */
export function ratios(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, index) => value / (b[index] as number));
}

/**
 * Median, least and greatest of `values`.
 *
 * @throws {RangeError} when there are none.
 */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError("Nothing was measured");
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
  return { median, min: sorted[0] as number, max: sorted.at(-1) as number };
}
