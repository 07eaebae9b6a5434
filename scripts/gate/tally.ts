/** What became of some tests. */
export interface Tally {
  readonly passed: number;
  /** Name of each failed test, or of the whole check. */
  readonly failed: readonly string[];
  /** Name of each skipped test, with the reason where there is one. */
  readonly skipped: readonly string[];
}

/** One check that passed. */
export const ONE_PASSED: Tally = { passed: 1, failed: [], skipped: [] };

/** One check that failed as a whole. */
export function oneFailed(name: string): Tally {
  return { passed: 0, failed: [name], skipped: [] };
}

/** Several tallies as one. */
export function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((total, tally) => total + tally.passed, 0),
    failed: tallies.flatMap((tally) => tally.failed),
    skipped: tallies.flatMap((tally) => tally.skipped),
  };
}

/** The tally where nothing may be skipped: each skipped test is a failed one. */
export function withoutSkips(tally: Tally): Tally {
  return { passed: tally.passed, failed: [...tally.failed, ...tally.skipped], skipped: [] };
}

/** The line that the gate ends with. */
export function closingLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed.length} failed, ${tally.skipped.length} skipped`;
}
