import assert from "node:assert/strict";
import type { Curve } from "../../../bench/curves.ts";
import { timeRow } from "../../../bench/report.ts";
import { closingLine, problemsOf } from "../../../bench/smoke.ts";

const ROW = timeRow({ name: "first", against: "other", times: [3], againstTimes: [2] });
const SKIPPED = { name: "second", skipped: "no C compiler" };
const CURVE: Curve = {
  file: "ls",
  title: "ls",
  sizes: "sessions",
  amounts: { label: "time (ms)", scale: "linear" },
  series: [{ name: "reprise", points: [{ x: 10, y: 1 }, { x: 100, y: 2 }] }],
};

function problems(
  report: Parameters<typeof problemsOf>[0]["report"],
  expected: number,
  row?: RegExp,
): string[] {
  return problemsOf(
    { bench: "sample", report },
    expected,
    row === undefined ? [] : [{ bench: "sample", row, reason: "the disk" }],
  );
}

Deno.test("a bench with all its rows has no problem, skipped rows included", () => {
  assert.deepEqual(problems({ rows: [ROW, SKIPPED], notes: [] }, 2), []);
  assert.deepEqual(problems({ rows: [], curves: [CURVE], notes: [] }, 0), []);
});

Deno.test("a failed bench, a missing row, an empty report and an invalid number are problems", () => {
  assert.match(problems("it did not listen", 1)[0] ?? "", /"sample" failed: it did not listen/);
  assert.match(problems({ rows: [ROW], notes: [] }, 2)[0] ?? "", /has 1 rows, not 2/);
  assert.match(problems({ rows: [], notes: [] }, 0)[0] ?? "", /reports nothing/);
  const odd = timeRow({ name: "odd", against: "other", times: [1], againstTimes: [0] });
  assert.match(problems({ rows: [odd], notes: [] }, 1)[0] ?? "", /row "odd": a number is not finite/);
});

Deno.test("a curve with a gap, one point, or an amount of zero is a problem", () => {
  const withPoints = (points: readonly { x: number; y: number }[]) =>
    problems({
      rows: [],
      curves: [{ ...CURVE, series: [...CURVE.series, { name: "C", points }] }],
      notes: [],
    }, 0);
  assert.deepEqual(withPoints([{ x: 10, y: 1 }, { x: 100, y: 1 }]), []);
  assert.equal(withPoints([{ x: 10, y: 1 }]).length, 1);
  assert.equal(withPoints([{ x: 10, y: 1 }, { x: 100, y: 0 }]).length, 1);
});

Deno.test("a floor belongs to exactly one row", () => {
  assert.deepEqual(problems({ rows: [ROW], notes: [] }, 1, /^first/), []);
  assert.match(problems({ rows: [ROW], notes: [] }, 1, /^third/)[0] ?? "", /belongs to no row/);
  assert.match(problems({ rows: [ROW, ROW], notes: [] }, 2, /^first/)[0] ?? "", /or to several/);
});

Deno.test("the closing line counts", () => {
  const outcomes = [{ bench: "sample", report: { rows: [ROW, SKIPPED], notes: [] } }];
  assert.equal(closingLine(outcomes, 0), "1 benches, 1 rows measured, 1 skipped, 0 problems");
});
