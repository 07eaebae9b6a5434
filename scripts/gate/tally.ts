/** The outcome of some tests. */
export interface Tally {
  readonly passed: number;
  /** Name of each failed test, or of a command that failed as a whole. */
  readonly failed: readonly string[];
  /** Name of each skipped test. */
  readonly skipped: readonly string[];
}

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;

/** Counts the test cases, steps included, of a JUnit report by `deno test` or `reprise test`. */
export function tallyOfReport(xml: string): Tally {
  let passed = 0;
  const failed: string[] = [];
  const skipped: string[] = [];
  for (const [, name = "", file = "", body = ""] of xml.matchAll(CASE)) {
    const test = `${unescape(file)}: ${unescape(name)}`;
    if (/<(failure|error)\b/.test(body)) failed.push(test);
    else if (/<skipped\b/.test(body)) skipped.push(test);
    else passed++;
  }
  return { passed, failed, skipped };
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
  amp: "&",
};

function unescape(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|apos|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** Several tallies as one. */
export function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((total, tally) => total + tally.passed, 0),
    failed: tallies.flatMap((tally) => tally.failed),
    skipped: tallies.flatMap((tally) => tally.skipped),
  };
}

/** Counts each skipped test as a failed one. */
export function withoutSkips(tally: Tally): Tally {
  return { passed: tally.passed, failed: [...tally.failed, ...tally.skipped], skipped: [] };
}

/** The line that the gate ends with. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`;
}
