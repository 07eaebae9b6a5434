/** Changes of texts as lines. Load it on use only: the library takes longer than a short call. */
import { structuredPatch } from "diff";

const CONTEXT = 3;
/** Longest edit script that is looked for; texts that differ more are removed and added as a whole. */
const MAX_EDITS = 2000;

/** A line that is removed, added or unchanged; `\` marks a remark about the line before it. */
interface ChangedLine {
  readonly sign: "-" | "+" | " " | "\\";
  readonly text: string;
}

/** A change with lines around it. Lines are counted from 1. */
interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly ChangedLine[];
}

interface HunkOptions {
  /** @default {3} */
  readonly context?: number;
  /** The texts are parts of files: the end of their last lines says nothing, unless it is all that differs. */
  readonly isPart?: boolean;
}

/** Returns the changes from one text to another, in order; empty if there are none. */
export function hunksOf(
  before: string,
  after: string,
  { context = CONTEXT, isPart = false }: HunkOptions = {},
): Hunk[] {
  if (before === after) return [];
  const [old, now] = isPart ? [withLineEnd(before), withLineEnd(after)] : [before, after];
  const patch = structuredPatch("", "", old, now, "", "", { context, maxEditLength: MAX_EDITS });
  if (patch === undefined || patch.hunks.length === 0) return [replaced(before, after)];
  return patch.hunks.map(({ lines, ...place }) => ({
    ...place,
    lines: lines.map((line) => ({ sign: line.charAt(0) as ChangedLine["sign"], text: line.slice(1) })),
  }));
}

/** Returns the change of a part of a file: each line after its sign; `@` and a place where lines are left out. */
export function diffText(before: string, after: string): string {
  const hunks = hunksOf(before, after, { isPart: true });
  if (hunks.length === 0) return linesOf(before).map((line) => ` ${line}`).join("\n");
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }, index) => {
    const place = `@ lines ${oldStart}-${oldStart + oldLines - 1}, now ${newStart}-${
      newStart + newLines - 1
    }`;
    const isWhole = index === 0 && oldStart <= 1 && newStart <= 1;
    const shown = lines.filter(({ sign }) => sign !== "\\").map(({ sign, text }) => `${sign}${text}`);
    return isWhole ? shown : [place, ...shown];
  }).join("\n");
}

/** The lines of a text, without the end of the last one. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function replaced(before: string, after: string): Hunk {
  const [old, now] = [linesOf(before), linesOf(after)];
  const lines = [
    ...old.map((text): ChangedLine => ({ sign: "-", text })),
    ...now.map((text): ChangedLine => ({ sign: "+", text })),
  ];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines };
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
