import assert from "node:assert/strict";
import { cellsOf, interleave, type Row } from "../../../bench/report.ts";

const ROW = { what: "own", against: "other" };

Deno.test("a row is judged by the median over the rounds, not by the ratio of two medians", () => {
  const pair = { own: [2, 30, 9], other: [1, 10, 9] };
  const cells = (row: Partial<Row>) => cellsOf({ ...ROW, ...row }, pair);
  assert.deepEqual(cells({ target: 2 }), ["2.00", "≤ 2", "ok", "9 : 9 ms"]);
  assert.deepEqual(cells({ kind: "speed", target: 0.6 }), ["0.50", "≥ 0.6", "over", "9 : 9 ms"]);
  assert.deepEqual(cells({ kind: "memory" }), ["2.00", "", "", "9 : 9 MB"]);
  assert.deepEqual(cells({ kind: "added", target: 0.5 }), ["+1 ms", "≤ 0.5 ms", "over", "9 : 9 ms"]);
});

Deno.test("a row without numbers has no cells", () => {
  for (const pair of [{ own: [], other: [] }, { own: [1], other: [0] }, { own: [1, 2], other: [1] }]) {
    assert.deepEqual(cellsOf(ROW, pair), []);
  }
});

Deno.test("every candidate runs once a round, none is always the first, and warm-ups are dropped", async () => {
  const calls: string[] = [];
  const candidate = (name: string) => (round: number) => {
    calls.push(name);
    return round;
  };
  const candidates = { a: candidate("a"), b: candidate("b"), c: candidate("c") };
  const results = await interleave(candidates, { rounds: 4, warmups: 2 });
  assert.deepEqual(results, { a: [2, 3, 4, 5], b: [2, 3, 4, 5], c: [2, 3, 4, 5] });
  const firsts = Array.from({ length: 6 }, (_, round) => calls[3 * round]);
  assert.deepEqual(firsts.toSorted(), ["a", "a", "b", "b", "c", "c"]);
});
