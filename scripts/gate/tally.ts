/** What became of some tests. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Name of each skipped test, with the reason where there is one. */
  readonly skipped: readonly string[];
}

/** One check that passed. */
export const ONE_PASSED: Tally = { passed: 1, failed: 0, skipped: [] };

/** One check that failed. */
export const ONE_FAILED: Tally = { passed: 0, failed: 1, skipped: [] };

/** Several tallies as one. */
export function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((total, tally) => total + tally.passed, 0),
    failed: tallies.reduce((total, tally) => total + tally.failed, 0),
    skipped: tallies.flatMap((tally) => tally.skipped),
  };
}

/** The tally where nothing may be skipped: each skipped test is a failed one. */
export function withoutSkips(tally: Tally): Tally {
  return { passed: tally.passed, failed: tally.failed + tally.skipped.length, skipped: [] };
}

/** The line that the gate ends with. */
export function closingLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped.length} skipped`;
}
