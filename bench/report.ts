/**
 * What a bench found, as rows: one ratio each, with its target beside it.
 *
 * @module
 */
import { ratios, type Spread, spread } from "./timing.ts";

/** What a ratio should be. Bounds are inclusive. */
export interface Target {
  readonly bound: "at_most" | "at_least";
  readonly value: number;
}

/** One comparison. */
export interface Row {
  /** What was measured. */
  readonly name: string;
  /** What it was measured against, in the same rounds. */
  readonly against: string;
  /** Explains the row above it; shown below it, indented. */
  readonly detail: boolean;
  readonly ratio: Spread;
  /** Milliseconds of what was measured … */
  readonly ms: Spread;
  /** … and of what it was measured against. */
  readonly againstMs: Spread;
  /** `null` where the ratio only informs. */
  readonly target: Target | null;
}

/** A comparison that could not be made here. */
export interface SkippedRow {
  readonly name: string;
  /** Such as `no C compiler`. */
  readonly skipped: string;
}

/** Counts side by side, for what no ratio of times says. */
export interface CountTable {
  readonly headings: readonly string[];
  /** As many cells as there are headings. */
  readonly rows: readonly (readonly string[])[];
}

/** All that one bench found. */
export interface Report {
  readonly rows: readonly (Row | SkippedRow)[];
  /** Shown below the rows. */
  readonly counts?: CountTable;
  /** What has to be known to read the rows, one sentence each. */
  readonly notes: readonly string[];
}

/** The milliseconds of each round on both sides of a comparison. */
export interface Measured {
  readonly name: string;
  readonly against: string;
  readonly times: readonly number[];
  readonly againstTimes: readonly number[];
  /** @default {null} */
  readonly target?: Target | null;
  /** @default {false} */
  readonly detail?: boolean;
}

/** A row whose ratio says how many times as long `name` takes. */
export function timeRow(measured: Measured): Row {
  return row(measured, ratios(measured.times, measured.againstTimes));
}

/** A row whose ratio says how many times as fast `name` is. */
export function speedRow(measured: Measured): Row {
  return row(measured, ratios(measured.againstTimes, measured.times));
}

function row(
  { times, againstTimes, target = null, detail = false, ...names }: Measured,
  ratio: number[],
): Row {
  const { name, against } = names;
  return {
    name,
    against,
    detail,
    ratio: spread(ratio),
    ms: spread(times),
    againstMs: spread(againstTimes),
    target,
  };
}

/** True when the median ratio is within its target; `null` where there is none. */
export function isMet({ ratio, target }: Row): boolean | null {
  if (target === null) return null;
  return target.bound === "at_most" ? ratio.median <= target.value : ratio.median >= target.value;
}

/** The report as one JSON object a line. */
export function jsonLines(bench: string, report: Report): string[] {
  const rows = report.rows.map((each) => {
    return JSON.stringify("skipped" in each ? { bench, ...each } : { bench, ...each, met: isMet(each) });
  });
  const { headings, rows: counted } = report.counts ?? { headings: [], rows: [] };
  const counts = counted.map((cells) =>
    JSON.stringify({
      bench,
      ...Object.fromEntries(headings.map((heading, index) => [heading, cells[index]])),
    })
  );
  return [...rows, ...counts, ...report.notes.map((note) => JSON.stringify({ bench, note }))];
}

const HEADINGS = ["", "ratio", "min–max", "target", "", "median", "against"];

/** The report as a table for people. */
export function table(bench: string, report: Report): string[] {
  const cells = report.rows.length === 0 ? [] : [HEADINGS, ...report.rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(0, ...cells.map((row) => row.length === HEADINGS.length ? (row[column] as string).length : 0))
  );
  const name = Math.max(0, ...cells.map((row) => (row[0] as string).length));
  const lines = cells.map((row) =>
    row.map((cell, column) => cell.padEnd(column === 0 ? name : widths[column] as number)).join("  ")
      .trimEnd()
  );
  return [
    bench,
    ...[...lines, ...linesOf(report.counts)].map((line) => `  ${line}`),
    ...report.notes.map((note) => `  ${note}`),
    "",
  ];
}

/** Names to the left, counts to the right. */
function linesOf(counts: CountTable | undefined): string[] {
  if (counts === undefined) return [];
  const all = [counts.headings, ...counts.rows];
  const widths = counts.headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? "").length))
  );
  return all.map((row) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)
    ).join("  ").trimEnd()
  );
}

function cellsOf(each: Row | SkippedRow): string[] {
  if ("skipped" in each) return [each.name, `skipped: ${each.skipped}`];
  const { ratio, target } = each;
  const met = isMet(each);
  return [
    each.detail ? `  ${each.name}` : each.name,
    digits(ratio.median),
    `${digits(ratio.min)}–${digits(ratio.max)}`,
    target === null ? "" : `${target.bound === "at_most" ? "≤" : "≥"} ${target.value}`,
    met === null ? "" : met ? "met" : "not met",
    milliseconds(each.ms.median),
    `${each.against}: ${milliseconds(each.againstMs.median)}`,
  ];
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 1 ? 3 : value < 100 ? 1 : 0)} ms`;
}
