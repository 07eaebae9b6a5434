/**
 * Results of a bench, as rows: one ratio each, with its target.
 *
 * @module
 */
import { type Curve, curveTable } from "./curves.ts";
import { ratios, type Spread, spread } from "./timing.ts";

/** Target of a ratio. Bounds are inclusive. */
export interface Target {
  readonly bound: "at_most" | "at_least";
  readonly value: number;
}

/** Milliseconds, or megabytes of 1,000,000 bytes. */
export type Unit = "ms" | "MB";

/** One comparison. */
export interface Row {
  /** The measured time or size. */
  readonly name: string;
  /** The reference, measured in the same rounds. */
  readonly against: string;
  /** Explains the row above it; shown below it, indented. */
  readonly detail: boolean;
  readonly ratio: Spread;
  /** Unit of the next two. */
  readonly unit: Unit;
  /** Time or memory of the measured operation. */
  readonly measured: Spread;
  /** Time or memory of its reference. */
  readonly reference: Spread;
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

/** Results of one bench. */
export interface Report {
  readonly rows: readonly (Row | SkippedRow)[];
  /** Shown below the rows. */
  readonly counts?: CountTable;
  /** Costs by size, each shown as numbers and drawn. */
  readonly curves?: readonly Curve[];
  /** Facts that readers of the rows need, one sentence each. */
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

/** Megabytes of each round on both sides of a comparison. */
export interface MeasuredMemory extends Omit<Measured, "times" | "againstTimes"> {
  readonly megabytes: readonly number[];
  readonly againstMegabytes: readonly number[];
}

/** A row whose ratio says how many times as much memory `name` takes. */
export function memoryRow({ megabytes, againstMegabytes, ...names }: MeasuredMemory): Row {
  const measured = { ...names, times: megabytes, againstTimes: againstMegabytes };
  return row(measured, ratios(megabytes, againstMegabytes), "MB");
}

function row(
  { times, againstTimes, target = null, detail = false, name, against }: Measured,
  ratio: number[],
  unit: Unit = "ms",
): Row {
  return {
    name,
    against,
    detail,
    ratio: spread(ratio),
    unit,
    measured: spread(times),
    reference: spread(againstTimes),
    target,
  };
}

/** True when the median ratio is within its target; `null` where there is none. */
export function isMet({ ratio, target }: Row): boolean | null {
  if (target === null) return null;
  return target.bound === "at_most" ? ratio.median <= target.value : ratio.median >= target.value;
}

/** The rows of a report without details. */
export function mainRows({ rows }: Report): (Row | SkippedRow)[] {
  return rows.filter((each) => "skipped" in each || !each.detail);
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
  const curves = (report.curves ?? []).map((curve) => JSON.stringify({ bench, ...curve }));
  return [...rows, ...counts, ...curves, ...report.notes.map((note) => JSON.stringify({ bench, note }))];
}

const HEADINGS = ["", "ratio", "min–max", "target", "", "median", "against"];

/** The report of one bench as a table for people. */
export function table(bench: string, report: Report): string[] {
  const cells = report.rows.length === 0 ? [] : [HEADINGS, ...report.rows.map(cellsOf)];
  return [
    bench,
    ...[...columns(cells), ...linesOf(report.counts)].map((line) => `  ${line}`),
    ...(report.curves ?? []).flatMap((curve) => [
      `  ${curve.title}: ${curve.amounts.label}`,
      ...linesOf(curveTable(curve)).map((line) => `    ${line}`),
    ]),
    ...report.notes.map((note) => `  ${note}`),
    "",
  ];
}

/** Lines of text cells in columns. A line with fewer cells than the first one spans the columns it lacks. */
export function columns(cells: readonly (readonly string[])[]): string[] {
  const full = cells[0]?.length ?? 0;
  const widthOf = (column: number) =>
    Math.max(
      0,
      ...cells.map((row) => row.length === full || column < row.length - 1 ? row[column]?.length ?? 0 : 0),
    );
  const widths = Array.from({ length: full }, (_, column) => widthOf(column));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
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
    targetText(target),
    met === null ? "" : met ? "ok" : "over",
    amount(each.measured.median, each.unit),
    `${each.against}: ${amount(each.reference.median, each.unit)}`,
  ];
}

/** Such as `≤ 1.5`; empty for `null`. */
export function targetText(target: Target | null): string {
  return target === null ? "" : `${target.bound === "at_most" ? "≤" : "≥"} ${target.value}`;
}

/** A ratio with as many digits as it deserves. */
export function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function amount(value: number, unit: Unit): string {
  return `${value.toFixed(value < 1 ? 3 : value < 100 ? 1 : 0)} ${unit}`;
}
