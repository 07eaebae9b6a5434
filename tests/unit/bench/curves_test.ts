import assert from "node:assert/strict";
import { type Curve, curveTable, shortNumber, svgOf } from "../../../bench/curves.ts";

const CURVE: Curve = {
  file: "append",
  title: "Append & publish",
  sizes: "turns before it",
  amounts: { label: "time (ms)", scale: "linear" },
  series: [
    { name: "reprise", points: [{ x: 10, y: 1.23456 }, { x: 1000, y: 2 }] },
    { name: "C", points: [{ x: 10, y: 1 }] },
  ],
};

function placesOf(curve: Curve): number[][] {
  return [...svgOf(curve).matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
}

Deno.test("a curve is a row for each size, with gaps where a series has none", () => {
  assert.deepEqual(curveTable(CURVE), {
    headings: ["turns before it", "reprise", "C"],
    rows: [["10", "1.23", "1"], ["1,000", "2", ""]],
  });
});

Deno.test("numbers have three digits, and separators from a thousand on", () => {
  assert.deepEqual([0.0123456, 12.345, 999.6, 1234.5, 1e9].map(shortNumber), [
    "0.0123",
    "12.3",
    "1000",
    "1,235",
    "1,000,000,000",
  ]);
});

Deno.test("a drawing has a line and points for each series, labels, units, and escaped text", () => {
  const svg = svgOf(CURVE);
  assert.equal(svg.match(/<polyline /g)?.length, 2);
  for (const label of ["Append &amp; publish", "turns before it", "time (ms)", ">reprise<", ">C<"]) {
    assert.ok(svg.includes(label), label);
  }
  assert.ok(!/NaN|Infinity|undefined/.test(svg), svg);
});

Deno.test("points lie inside the plot, larger sizes to the right, larger amounts above", () => {
  for (const scale of ["linear", "logarithmic"] as const) {
    const [first = [], second = []] = placesOf({ ...CURVE, amounts: { label: "time (ms)", scale } });
    assert.ok((second[0] ?? 0) > (first[0] ?? 0) && (second[1] ?? 0) < (first[1] ?? 0), scale);
    for (const [x = 0, y = 0] of [first, second]) {
      assert.ok(x >= 84 && x <= 690 && y >= 56 && y <= 330, scale);
    }
  }
});

Deno.test("each size has a tick, and large ones are short", () => {
  const points = [1e3, 1e6, 1e9].map((x) => ({ x, y: x }));
  const svg = svgOf({ ...CURVE, series: [{ name: "record", points }] });
  for (const label of [">1,000<", ">1 M<", ">1 G<"]) assert.ok(svg.includes(label), label);
});

Deno.test("a curve of one point has axes too", () => {
  const series = [{ name: "one", points: [{ x: 1, y: 1 }] }];
  for (const scale of ["linear", "logarithmic"] as const) {
    assert.ok(!/NaN|Infinity/.test(svgOf({ ...CURVE, amounts: { label: "ms", scale }, series })), scale);
  }
});
