import assert from "node:assert/strict";
import { isMet, jsonLines, type Report, speedRow, table, timeRow } from "../../../bench/report.ts";

const MEASURED = { name: "own", against: "other", times: [1, 2, 3], againstTimes: [2, 2, 2] };

Deno.test("a time row says how many times as long, a speed row how many times as fast", () => {
  assert.deepEqual(timeRow(MEASURED).ratio, { median: 1, min: 0.5, max: 1.5 });
  assert.deepEqual(speedRow(MEASURED).ratio, { median: 1, min: 2 / 3, max: 2 });
});

Deno.test("a target is met by the median, bounds included", () => {
  const met = (bound: "at_most" | "at_least", value: number) =>
    isMet(timeRow({ ...MEASURED, target: { bound, value } }));
  assert.equal(met("at_most", 1), true);
  assert.equal(met("at_most", 0.99), false);
  assert.equal(met("at_least", 1), true);
  assert.equal(met("at_least", 1.01), false);
  assert.equal(isMet(timeRow(MEASURED)), null);
});

Deno.test("the table says ok, over, and why a row is missing", () => {
  const report: Report = {
    rows: [
      timeRow({ ...MEASURED, target: { bound: "at_most", value: 1.5 } }),
      speedRow({ ...MEASURED, target: { bound: "at_least", value: 6 } }),
      { name: "third", skipped: "no C compiler" },
    ],
    notes: ["Three rounds."],
  };
  const lines = table("sample", report);
  assert.equal(lines[0], "sample");
  assert.match(lines[2] ?? "", /own +1\.00 +0\.50–1\.50 +≤ 1\.5 +ok +2\.0 ms +other: 2\.0 ms/);
  assert.match(lines[3] ?? "", /≥ 6 +over/);
  assert.match(lines[4] ?? "", /third +skipped: no C compiler/);
  const rows = jsonLines("sample", report).map((line) => JSON.parse(line));
  assert.deepEqual(rows.map(({ met, skipped, note }) => met ?? skipped ?? note), [
    true,
    false,
    "no C compiler",
    "Three rounds.",
  ]);
  assert.ok(rows.every(({ bench }) => bench === "sample"));
});

Deno.test("counts are in columns below the rows, or alone, and are one object a line in JSON", () => {
  const counts = { headings: ["kept of all", "events", "items"], rows: [["ours", "120/120", "3/3"]] };
  const report: Report = { rows: [], counts, notes: ["One stream."] };
  assert.deepEqual(table("kept", report), [
    "kept",
    "  kept of all   events  items",
    "  ours         120/120    3/3",
    "  One stream.",
    "",
  ]);
  assert.deepEqual(jsonLines("kept", report).map((line) => JSON.parse(line)), [
    { bench: "kept", "kept of all": "ours", events: "120/120", items: "3/3" },
    { bench: "kept", note: "One stream." },
  ]);
});
