import assert from "node:assert/strict";
import { type Floor, floorOf, FLOORS, MOST_FLOORS } from "../../../bench/floors.ts";
import { memoryRow, timeRow } from "../../../bench/report.ts";
import { summary } from "../../../bench/summary.ts";

const MEASURED = { against: "other", times: [3], againstTimes: [2] };
const FLOOR: Floor = { bench: "sample", row: /^third/, reason: "the disk" };
const atMost = (value: number) => ({ bound: "at_most", value }) as const;

Deno.test("the summary has a line for each row that is no detail, and counts them", () => {
  const rows = [
    timeRow({ ...MEASURED, name: "first", target: atMost(1.5) }),
    timeRow({ ...MEASURED, name: "second", target: atMost(1.4) }),
    timeRow({ ...MEASURED, name: "third", target: atMost(1.4) }),
    timeRow({ ...MEASURED, name: "part", detail: true }),
    memoryRow({ name: "fourth", against: "64 MB", megabytes: [32], againstMegabytes: [64] }),
    { name: "fifth", skipped: "no C compiler" },
  ];
  const outcomes = [
    { bench: "sample", report: { rows, notes: ["Two rounds."] } },
    { bench: "broken", report: "it did not listen\nat all" },
  ];
  assert.deepEqual(summary(outcomes, [FLOOR]), [
    "bench   measured  against  ratio  target",
    "sample  first     other    1.50   ≤ 1.5   ok",
    "sample  second    other    1.50   ≤ 1.4   over",
    "sample  third     other    1.50   ≤ 1.4   over, floor: the disk",
    "sample  fourth    64 MB    0.50",
    "sample  fifth     skipped: no C compiler",
    "broken  failed: it did not listen",
    "",
    "1 ok, 1 over, 1 over with a floor, 1 without target, 1 skipped, 1 failed",
  ]);
});

Deno.test("a floor is printed only beside a row that is over its target", () => {
  const row = timeRow({ ...MEASURED, name: "third", target: atMost(1.5) });
  const lines = summary([{ bench: "sample", report: { rows: [row], notes: [] } }], [FLOOR]);
  assert.ok(lines.every((line) => !line.includes("floor")), lines.join("\n"));
});

Deno.test("a floor belongs to a bench, a row and, if given, a reference", () => {
  const row = { name: "third row", against: "cat" };
  assert.equal(floorOf("sample", row, [FLOOR]), FLOOR);
  assert.equal(floorOf("other", row, [FLOOR]), undefined);
  assert.equal(floorOf("sample", { ...row, name: "a third" }, [FLOOR]), undefined);
  assert.equal(floorOf("sample", row, [{ ...FLOOR, against: /loop/ }]), undefined);
});

Deno.test("there are at most three floors", () => {
  assert.ok(FLOORS.length <= MOST_FLOORS, `${FLOORS.length} floors`);
});
