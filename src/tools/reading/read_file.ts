/**
 * `read_file`: a window of lines of one text file.
 *
 * @module
 */
import * as z from "zod";
import { locate, openFile } from "../sandbox_path.ts";
import { decodeContent, isBinary } from "../content.ts";
import { counted } from "../../domain/text.ts";
import { DEFAULT_LINES, readWindow, type Window } from "./line_window.ts";
import { cutLine, shownPath, type ToolText } from "../output.ts";
import { confirmJudged, defineTool, type Tool, ToolFailure } from "../tool.ts";

/** The longest line that is shown whole, in UTF-16 units. */
const MAX_LINE_CHARS = 2000;

/** Reads a window of lines, each with its number. */
export const readFile: Tool = defineTool({
  name: "read_file",
  description:
    "Read lines of a text file of the workspace. Each line comes as its number, a tab, and its text. " +
    `Without limit, ${DEFAULT_LINES} lines are read; a note after the last line says where to go on.`,
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "The file, relative to the workspace" },
      offset: {
        type: ["integer", "null"],
        description: "The first line to read, counted from 1; null for 1",
      },
      limit: {
        type: ["integer", "null"],
        description: `How many lines to read; null for ${DEFAULT_LINES}`,
      },
    },
    required: ["path", "offset", "limit"],
    additionalProperties: false,
  },
  shape: z.strictObject({
    path: z.string(),
    offset: z.int().nullable(),
    limit: z.int().nullable(),
  }),
  group: "read",
  target: ({ path }, { root }) => ({ kind: "path", path: locate(root, path).shown }),
  async run({ path, offset, limit }, context) {
    const { root, signal } = context;
    const first = offset ?? 1;
    const count = limit ?? DEFAULT_LINES;
    if (first < 1) throw new ToolFailure(`Cannot read from line ${first}: lines count from 1`);
    if (count < 1) throw new ToolFailure(`Cannot read ${count} lines: the limit must be 1 or more`);
    const located = locate(root, path);
    confirmJudged(context, located.shown);
    const file = openFile(root, located);
    try {
      const window = await readWindow(file, { first, count, signal });
      if (window.kind === "too_large") {
        throw new ToolFailure(
          `Cannot read ${count} lines from line ${first}: they hold more than ${window.maxBytes} bytes ` +
            "(ask for fewer lines, or search with search_text)",
        );
      }
      if (isBinary(window.start)) {
        throw new ToolFailure(
          `Cannot read ${shownPath(located.shown)}: it is a binary file of ${file.size} bytes`,
        );
      }
      return textOf(window, first);
    } finally {
      file.close();
    }
  },
});

function textOf(window: Extract<Window, { kind: "lines" }>, first: number): ToolText {
  const { bytes, lines, total } = window;
  if (lines === 0) {
    if (first === 1) return { status: "ok", text: "[The file is empty]" };
    throw new ToolFailure(
      `Cannot read from line ${first}: the file has ${counted(total ?? first - 1, "line")}`,
    );
  }
  const { text, lossy } = decodeContent(bytes);
  const texts = text.split("\n");
  if (texts.length > lines) texts.pop();
  const shown = texts.map((line, index) => `${first + index}\t${cutLine(line, MAX_LINE_CHARS)}`);
  const last = first + lines - 1;
  if (total === null || last < total) {
    const of = total === null ? "more" : String(total);
    shown.push(`[Lines ${first} to ${last} of ${of}; go on with offset ${last + 1}]`);
  }
  if (lossy) {
    shown.push(
      "[Not UTF-8: bytes that could not be decoded are shown as U+FFFD; the original bytes are kept]",
    );
  }
  const complete = !lossy && texts.every((line) => line.length <= MAX_LINE_CHARS);
  return { status: "ok", text: shown.join("\n"), ...(complete ? {} : { full: { bytes, lossy } }) };
}
