/**
 * Costs by size: as columns of numbers, and drawn as SVG.
 *
 * @module
 */
import type { CountTable } from "./report.ts";

/** A size and what was measured at it. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Measurements of one thing, by rising size. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

/** Axis of an amount. */
export interface Axis {
  /** With its unit, such as `time of one append (ms)`. */
  readonly label: string;
  /** A logarithmic axis shows factors; all its values are above 0. */
  readonly scale: "linear" | "logarithmic";
}

/** Several series over the same sizes. */
export interface Curve {
  /** Name of its file, without extension. */
  readonly file: string;
  readonly title: string;
  /** Label of the sizes, with their unit; their axis is logarithmic. */
  readonly sizes: string;
  readonly amounts: Axis;
  readonly series: readonly Series[];
}

/** The curve as numbers: a row for each size. */
export function curveTable({ sizes, series }: Curve): CountTable {
  const xs = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  return {
    headings: [sizes, ...series.map(({ name }) => name)],
    rows: xs.map((x) => [
      x.toLocaleString("en"),
      ...series.map(({ points }) => {
        const y = points.find((point) => point.x === x)?.y;
        return y === undefined ? "" : shortNumber(y);
      }),
    ]),
  };
}

/** Three significant digits, with separators of thousands from 1,000 on. */
export function shortNumber(value: number): string {
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(3)));
}

const WIDTH = 720;
const HEIGHT = 420;
const PLOT = { left: 84, right: 690, top: 56, bottom: 330 };
const COLOURS = ["#1f5fa8", "#c2541b", "#3a7d34", "#7b4a9e"];

/** Draws the curve as an SVG document on a light background. */
export function svgOf(curve: Curve): string {
  const points = curve.series.flatMap((series) => series.points);
  const x = sizeScale(points.map((point) => point.x));
  const y = amountScale(curve.amounts.scale, points.map((point) => point.y));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(PLOT.left, 28, curve.title, 'font-size="16" fill="#222222"'),
    ...y.ticks.flatMap((tick) => [
      line(PLOT.left, y.at(tick), PLOT.right, y.at(tick), "#e4e4e4"),
      text(PLOT.left - 8, y.at(tick) + 4, shortNumber(tick), 'text-anchor="end" fill="#444444"'),
    ]),
    ...x.ticks.flatMap((tick) => [
      line(x.at(tick), PLOT.bottom, x.at(tick), PLOT.bottom + 5, "#888888"),
      text(x.at(tick), PLOT.bottom + 20, sizeText(tick), 'text-anchor="middle" fill="#444444"'),
    ]),
    line(PLOT.left, PLOT.bottom, PLOT.right, PLOT.bottom, "#888888"),
    line(PLOT.left, PLOT.top, PLOT.left, PLOT.bottom, "#888888"),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 42, curve.sizes, 'text-anchor="middle" fill="#222222"'),
    text(PLOT.left, PLOT.top - 10, curve.amounts.label, 'fill="#222222"'),
    ...curve.series.flatMap((series, index) =>
      seriesLines(series, { x, y, index, total: curve.series.length })
    ),
    "</svg>\n",
  ].join("\n");
}

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

function seriesLines(
  { name, points }: Series,
  { x, y, index, total }: {
    readonly x: Scale;
    readonly y: Scale;
    readonly index: number;
    readonly total: number;
  },
): string[] {
  const colour = COLOURS[index % COLOURS.length] as string;
  const places = points.map((point) => `${rounded(x.at(point.x))},${rounded(y.at(point.y))}`);
  const left = PLOT.left + index * (PLOT.right - PLOT.left) / total;
  return [
    `<polyline points="${places.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...places.map((place) => {
      const [cx, cy] = place.split(",");
      return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`;
    }),
    line(left, HEIGHT - 22, left + 22, HEIGHT - 22, colour, 2),
    text(left + 28, HEIGHT - 18, name, 'fill="#222222"'),
  ];
}

/** Maps sizes to the width, logarithmically, with a tick for each. */
function sizeScale(sizes: readonly number[]): Scale {
  const [low, high] = [Math.log10(Math.min(...sizes)), Math.log10(Math.max(...sizes))];
  const range = high === low ? 1 : high - low;
  return {
    at: (value) => PLOT.left + ((Math.log10(value) - low) / range) * (PLOT.right - PLOT.left),
    ticks: [...new Set(sizes)],
  };
}

/** Maps amounts to the height; a linear axis begins at 0, a logarithmic one has whole decades. */
function amountScale(kind: Axis["scale"], amounts: readonly number[]): Scale {
  const height = PLOT.bottom - PLOT.top;
  const most = Math.max(...amounts);
  if (kind === "linear") {
    const step = niceStep(most / 5);
    const top = Math.ceil(most / step) * step;
    const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
    return { at: (value) => PLOT.bottom - (value / top) * height, ticks };
  }
  const [low, high] = [Math.floor(Math.log10(Math.min(...amounts))), Math.ceil(Math.log10(most))];
  const decades = Math.max(1, high - low);
  return {
    at: (value) => PLOT.bottom - ((Math.log10(value) - low) / decades) * height,
    ticks: Array.from({ length: decades + 1 }, (_, index) => 10 ** (low + index)),
  };
}

/** A size below its tick: `10,000`, `1 M`, `1 G`. */
function sizeText(size: number): string {
  if (size >= 1e9) return `${shortNumber(size / 1e9)} G`;
  return size >= 1e6 ? `${shortNumber(size / 1e6)} M` : shortNumber(size);
}

/** The least of 1, 2, 5, 10, 20 … that is not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${rounded(x)}" y="${rounded(y)}" ${attributes}>${escaped(content)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string, width = 1): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map(rounded);
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${colour}" stroke-width="${width}"/>`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
