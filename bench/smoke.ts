/**
 * A smoke run sees that each bench still works: every row is there, with numbers. It judges no time.
 *
 * @module
 */
import { type Curve, svgOf } from "./curves.ts";
import { type Floor, floorOf, FLOORS } from "./floors.ts";
import { mainRows, type Report, type Row } from "./report.ts";
import type { Outcome } from "./summary.ts";

/** Rows of each bench, skipped ones included; details are not counted. */
export const ROWS: Readonly<Record<string, number>> = {
  startup: 5,
  peers: 4,
  publish: 3,
  fold: 2,
  fsck: 2,
  find: 2,
  sse: 4,
  line: 2,
  serve: 2,
  match: 3,
  suite: 1,
  record: 2,
  remote: 1,
  memory: 3,
  wire: 1,
  kept: 0,
  growth: 0,
};

/** Returns the problems of the outcome of a bench, one sentence each. */
export function problemsOf(
  { bench, report }: Outcome,
  expected: number | undefined = ROWS[bench],
  floors: readonly Floor[] = FLOORS,
): string[] {
  if (typeof report === "string") return [`Bench "${bench}" failed: ${report}`];
  const measured = report.rows.filter((row): row is Row => !("skipped" in row));
  const shown = mainRows(report);
  const missing = shown.length === expected
    ? []
    : [`Bench "${bench}" has ${shown.length} rows, not ${expected}`];
  const empty = report.rows.length + (report.counts?.rows.length ?? 0) + (report.curves?.length ?? 0) > 0
    ? []
    : [`Bench "${bench}" reports nothing`];
  return [
    ...missing,
    ...empty,
    ...measured.filter((row) => !numbersOf(row).every(Number.isFinite))
      .map(({ name }) => `Bench "${bench}", row "${name}": a number is not finite`),
    ...(report.curves ?? []).filter((curve) => !isWhole(curve))
      .map(({ title }) => `Bench "${bench}", curve "${title}": a point is missing or not finite`),
    ...floors.filter((floor) => floor.bench === bench && countOf(bench, floor, report) !== 1)
      .map(({ row }) => `Bench "${bench}": the floor of ${row} belongs to no row, or to several`),
  ];
}

/** The line that ends a smoke run. */
export function closingLine(outcomes: readonly Outcome[], problems: number): string {
  const rows = outcomes.flatMap(({ report }) => typeof report === "string" ? [] : report.rows);
  const skipped = rows.filter((row) => "skipped" in row).length;
  return `${outcomes.length} benches, ${
    rows.length - skipped
  } rows measured, ${skipped} skipped, ${problems} problems`;
}

function numbersOf({ ratio, measured, reference }: Row): number[] {
  return [ratio, measured, reference].flatMap(({ median, min, max }) => [median, min, max]);
}

function isWhole(curve: Curve): boolean {
  const { series } = curve;
  const sizes = series[0]?.points.length ?? 0;
  return sizes >= 2 &&
    series.every(({ points }) => points.length === sizes && points.every(({ x, y }) => x > 0 && y > 0)) &&
    !/NaN|Infinity|undefined/.test(svgOf(curve));
}

function countOf(bench: string, floor: Floor, report: Report): number {
  return mainRows(report).filter((row) => !("skipped" in row) && floorOf(bench, row, [floor]) !== undefined)
    .length;
}
