/**
 * One table for all benches of a call: each target, and if it is met.
 *
 * @module
 */
import { type Floor, floorOf, FLOORS } from "./floors.ts";
import {
  columns,
  digits,
  isMet,
  mainRows,
  type Report,
  type Row,
  type SkippedRow,
  targetText,
} from "./report.ts";

/** The outcome of one bench. */
export interface Outcome {
  readonly bench: string;
  /** The reason as a string if the bench failed. */
  readonly report: Report | string;
}

const HEADINGS = ["bench", "measured", "against", "ratio", "target", ""];

/** The table, without details; a last line counts. */
export function summary(outcomes: readonly Outcome[], floors: readonly Floor[] = FLOORS): string[] {
  const rows = outcomes.flatMap(({ bench, report }) =>
    typeof report === "string"
      ? [[bench, `failed: ${report.split("\n", 1)[0]}`]]
      : mainRows(report).map((row) => cellsOf(bench, row, floors))
  );
  return [...columns([HEADINGS, ...rows]), "", countOf(outcomes, floors)];
}

function cellsOf(bench: string, row: Row | SkippedRow, floors: readonly Floor[]): string[] {
  if ("skipped" in row) return [bench, row.name, `skipped: ${row.skipped}`];
  const { name, against, ratio, target } = row;
  return [bench, name, against, digits(ratio.median), targetText(target), verdict(bench, row, floors)];
}

/** `ok`, `over`, or the floor of a row that is over; empty for a row without target. */
function verdict(bench: string, row: Row, floors: readonly Floor[]): string {
  const met = isMet(row);
  if (met === null) return "";
  if (met) return "ok";
  const floor = floorOf(bench, row, floors);
  return floor === undefined ? "over" : `over, floor: ${floor.reason}`;
}

function countOf(outcomes: readonly Outcome[], floors: readonly Floor[]): string {
  const verdicts = outcomes.flatMap(({ bench, report }) =>
    typeof report === "string" ? ["failed"] : mainRows(report).map((row) => {
      return "skipped" in row ? "skipped" : verdict(bench, row, floors);
    })
  );
  const count = (title: string, is: (verdict: string) => boolean) => {
    const number = verdicts.filter(is).length;
    return number === 0 ? [] : [`${number} ${title}`];
  };
  return [
    ...count("ok", (each) => each === "ok"),
    ...count("over", (each) => each === "over"),
    ...count("over with a floor", (each) => each.startsWith("over,")),
    ...count("without target", (each) => each === ""),
    ...count("skipped", (each) => each === "skipped"),
    ...count("failed", (each) => each === "failed"),
  ].join(", ");
}
