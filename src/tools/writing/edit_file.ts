/** `edit_file`: one text of a file replaced by another. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { decodeContent, isBinary, shortenedLine, shownPath } from "../output.ts";
import { currentText } from "./current_text.ts";
import { type CurrentFile, replaceFile } from "./replace_file.ts";
import { confirmJudged, defineTool, requiredArgument, type Tool, ToolFailure } from "../tool.ts";
import { quotedPath } from "../sandbox_path.ts";
import { writeTarget } from "./write_target.ts";

const MAX_EDITED_BYTES = 16 * 1024 * 1024;
const MAX_NAMED_PLACES = 10;

export const editFile: Tool = defineTool({
  name: "edit_file",
  description:
    "Replace one text in a text file of the workspace by another. old_text must stand in the file exactly once, " +
    "letter by letter, blanks and line ends included: take in lines around it until it does. Give the text as the " +
    "file holds it, without the line numbers that read_file puts in front.",
  arguments: {
    path: requiredArgument("string", "The file, relative to the workspace"),
    old_text: requiredArgument("string", "The text to replace; stands in the file exactly once"),
    new_text: requiredArgument("string", "What to put in its place; empty to take it out"),
  },
  group: "write",
  target: ({ path }, context) => ({ kind: "path", path: writeTarget(path, context).shown }),
  async change({ path, old_text, new_text }, context) {
    const before = await currentText(context.root, writeTarget(path, context).shown);
    const [place] = old_text === "" ? [] : occurrencesOf(before, old_text, 1).places;
    if (place === undefined) return { before: old_text, after: new_text, isPart: true };
    const after = before.slice(0, place.index) + new_text + before.slice(place.index + old_text.length);
    return { before, after, isPart: false };
  },
  // deno-lint-ignore require-await -- an error becomes a rejection; the edit itself must not be interleaved
  async run({ path, old_text, new_text }, context) {
    const target = writeTarget(path, context);
    confirmJudged(context, target.shown);
    const refuse = (why: string) => new ToolFailure(`Cannot edit ${quotedPath(target.shown)}: ${why}`);
    if (!target.exists) throw refuse("no such file (create it with write_file)");
    if (old_text === "") throw refuse("old_text is empty");
    if (old_text === new_text) throw refuse("old_text and new_text are the same");
    if (!new_text.isWellFormed()) throw refuse("new_text is not valid Unicode");
    let line = 0;
    replaceFile(context.root, target, (current) => {
      const text = textOf(current, refuse);
      const occurrences = occurrencesOf(text, old_text, MAX_NAMED_PLACES);
      const [place] = occurrences.places;
      if (place === undefined) throw refuse(whyAbsent(text, old_text));
      if (occurrences.count > 1) {
        const lines = occurrences.places.map((each) => each.line).join(", ");
        const more = occurrences.count > occurrences.places.length ? " and more" : "";
        throw refuse(
          `old_text occurs ${occurrences.count} times, at lines ${lines}${more}: take in more of the lines around it`,
        );
      }
      line = place.line;
      return encodeUtf8(
        text.slice(0, place.index) + new_text + text.slice(place.index + old_text.length),
      );
    });
    const [before, after] = [old_text, new_text].map((text) => text.split("\n").length);
    const what = `from line ${line} on, ${before} line(s) replaced by ${after}`;
    return { status: "ok", text: `Edited ${shownPath(target.shown)}: ${what}` };
  },
});

function textOf(current: CurrentFile | null, refuse: (why: string) => ToolFailure): string {
  if (current === null) throw refuse("it is gone");
  if (current.size > MAX_EDITED_BYTES) {
    throw refuse(`it has ${current.size} bytes, at most ${MAX_EDITED_BYTES} are edited`);
  }
  const bytes = current.read();
  if (isBinary(bytes)) throw refuse("it is a binary file");
  const { text, lossy } = decodeContent(bytes);
  if (lossy) throw refuse("it is not UTF-8: an edit would lose bytes");
  return text;
}

function whyAbsent(text: string, wanted: string): string {
  if (text.includes("\r\n") && occurrencesOf(text.replaceAll("\r\n", "\n"), wanted, 1).count > 0) {
    return "old_text does not occur: its lines end in LF, those of the file in CR LF";
  }
  const near = nearestLines(text, wanted);
  if (near.length === 0) return "old_text does not occur, nor does a line like its first";
  const lines = near.map(({ line, content }) =>
    `line ${line}: ${JSON.stringify(shortenedLine(content, MAX_NEAR_CHARS))}`
  ).join("; ");
  return `old_text does not occur; the lines most like its first are ${lines}`;
}

/** Counting ends here. */
const MAX_COUNTED = 100;
const MAX_NEAR = 3;
/** Part of a similar line that is shown, in UTF-16 units. */
const MAX_NEAR_CHARS = 200;
/** A line is like another when so much of the longer one is common to both, from their ends. */
const LIKE_SHARE = 0.5;

/**
 * Counts `wanted`, which is not empty, up to 100, overlapping places included. Names its first `limit` places: `index` in
 * UTF-16 units, `line` counted from 1.
 */
function occurrencesOf(text: string, wanted: string, limit: number) {
  const places: { readonly index: number; readonly line: number }[] = [];
  let count = 0;
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(wanted); at >= 0 && count < MAX_COUNTED; at = text.indexOf(wanted, at + 1)) {
    if (count++ >= limit) continue;
    for (let newline = text.indexOf("\n", counted); newline >= 0 && newline < at;) {
      line++;
      counted = newline + 1;
      newline = text.indexOf("\n", counted);
    }
    places.push({ index: at, line });
  }
  return { count, places };
}

/** The lines of `text` that are most like the first line of `wanted` that is not blank, best first. */
function nearestLines(text: string, wanted: string) {
  const first = wanted.split("\n").map((line) => line.trim()).find((line) => line !== "");
  if (first === undefined) return [];
  // Millions of lines may be alike, so only the best are kept.
  const best: { readonly line: number; readonly content: string; readonly share: number }[] = [];
  for (const [index, content] of text.split("\n").entries()) {
    const share = likeness(content.trim(), first);
    if (share < LIKE_SHARE) continue;
    best.push({ line: index + 1, content, share });
    best.sort((a, b) => b.share - a.share || a.line - b.line);
    best.length = Math.min(best.length, MAX_NEAR);
  }
  return best;
}

/** The share of the longer line that both have in common from the left and from the right; blanks do not count. */
function likeness(a: string, b: string): number {
  const [left, right] = [a.replace(/\s+/g, ""), b.replace(/\s+/g, "")];
  const longest = Math.max(left.length, right.length);
  const shortest = Math.min(left.length, right.length);
  // Cheap, and it decides for most lines.
  if (shortest < longest * LIKE_SHARE) return 0;
  let head = 0;
  while (head < shortest && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < shortest - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  return (head + tail) / longest;
}
