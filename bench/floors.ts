/**
 * Targets that cannot be met, each with its physical reason. docs/performance.md shows the profile.
 *
 * @module
 */

/** A row that stays over its target. */
export interface Floor {
  /** Name of the bench, such as `fold`. */
  readonly bench: string;
  /** Matches the name of exactly one row of that bench. */
  readonly row: RegExp;
  /** Matches the row's reference if several rows share the name. @default {any} */
  readonly against?: RegExp;
  /** Completes `floor: …`, beside the ratio, while the row is over its target. */
  readonly reason: string;
}

/** Most floors that there may be. */
export const MOST_FLOORS = 3;

/** At most {@linkcode MOST_FLOORS}. */
export const FLOORS: readonly Floor[] = [
  {
    bench: "sse",
    row: /^16 KB chunks of a fetch body/,
    reason: "a loop that only cuts lines and parses the events that are kept is less than 6 times as fast",
  },
  {
    bench: "sse",
    row: /^300-byte chunks of a fetch body → items/,
    reason: "a loop that only decodes, cuts lines and parses is half as fast as this row",
  },
  {
    bench: "fsck",
    row: /^reprise fsck/,
    reason: "the start of a process, reading, hashing and parsing alone take 1.5 times as long",
  },
];

/** The floor of a row, if it has one. */
export function floorOf(
  bench: string,
  { name, against }: { readonly name: string; readonly against: string },
  floors: readonly Floor[] = FLOORS,
): Floor | undefined {
  return floors.find((floor) =>
    floor.bench === bench && floor.row.test(name) && (floor.against?.test(against) ?? true)
  );
}
