/** `search_text`: lines that hold a text. */
import { locate, type Located, openFile, readAll, type SandboxFile } from "../sandbox_path.ts";
import { decodeContent, shownPath, type ToolText } from "../output.ts";
import { type Glob, parseGlob } from "../glob.ts";
import { counted, headOf, tailOf } from "../../domain/text.ts";
import {
  confirmJudged,
  defineTool,
  nullableArgument,
  requiredArgument,
  type Tool,
  ToolFailure,
} from "../tool.ts";
import { type WalkOptions, walkTree } from "./list_files.ts";
import { Buffer } from "node:buffer";

const MAX_MATCHES = 1000;
/** Larger files are not searched, and counted in a note. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;

/** Finds lines that hold a literal text; there are no regular expressions, so no pattern can be slow. */
export const searchText: Tool = defineTool({
  name: "search_text",
  description:
    "Search text files of the workspace for a literal text (not a regular expression). Each line that holds " +
    "it comes as path:line:text, files in code unit order. .git and node_modules are not entered; links, " +
    "binary files and files over 64 MiB are not searched.",
  arguments: {
    pattern: requiredArgument("string", "The text to find within one line"),
    path: nullableArgument(
      "string",
      "The directory or file to search, relative to the workspace; null for the workspace",
    ),
    glob: nullableArgument(
      "string",
      "Only search files that fit this glob, such as *.ts or src/**/*.md; null for all",
    ),
    ignore_case: nullableArgument("boolean", "True to ignore case; null for false"),
  },
  group: "read",
  target: ({ path }, { root }) => ({ kind: "path", path: locate(root, path ?? ".").shown }),
  async run({ pattern, path, glob, ignore_case }, context) {
    const { root, signal, isHidden } = context;
    if (pattern === "") throw new ToolFailure("Cannot search for an empty text");
    if (/[\r\n]/.test(pattern)) {
      throw new ToolFailure("Cannot search for a text with a line break: lines are searched one by one");
    }
    const fits = glob === null ? () => true : parseGlob(glob);
    const matcher = textMatcher(pattern, ignore_case ?? false);
    const start = locate(root, path ?? ".");
    confirmJudged(context, start.shown);
    return await search(start, { root, signal, isHidden, fits, matcher, depth: Infinity });
  },
});

interface Search extends WalkOptions {
  readonly fits: Glob;
  readonly matcher: TextMatcher;
}

async function search(start: Located, options: Search): Promise<ToolText> {
  const rows: string[] = [];
  const count = { files: 0, lossy: 0, binary: 0, large: 0, unreadable: 0, hidden: 0 };
  let stopped: string | null = null;
  for await (const step of targets(start, options)) {
    if (step.kind === "stopped") {
      stopped = `[Stopped after looking at ${step.visited} entries: narrow the path]`;
    }
    if (step.kind === "unreadable" || step.kind === "hidden") count[step.kind]++;
    if (step.kind !== "file" || !options.fits(step.shown)) continue;
    const content = await readSearched(step.located, options);
    if (content === "binary" || content === "large" || content === "unreadable") {
      count[content]++;
      continue;
    }
    count.files++;
    if (!options.matcher.mayMatch(content)) continue;
    const { text, lossy } = decodeContent(content);
    const room = MAX_MATCHES - rows.length;
    const matches = lineMatches(text, options.matcher, room + 1);
    if (lossy && matches.length > 0) count.lossy++;
    for (const { line, excerpt } of matches.slice(0, room)) {
      rows.push(`${shownPath(step.shown)}:${line}:${excerpt}`);
    }
    if (matches.length > room) {
      stopped = `[Stopped after ${MAX_MATCHES} lines: narrow the text, the path or the glob]`;
      break;
    }
  }
  if (rows.length === 0) rows.push(`[No line holds the text; ${counted(count.files, "file")} searched]`);
  if (stopped !== null) rows.push(stopped);
  if (count.lossy > 0) {
    rows.push(`[${counted(count.lossy, "file")} with matches not UTF-8: shown with U+FFFD]`);
  }
  const passed = ([
    ["binary", count.binary],
    ["over 64 MiB", count.large],
    ["unreadable", count.unreadable],
    ["denied", count.hidden],
  ] as const)
    .filter(([, files]) => files > 0).map(([why, files]) => `${files} ${why}`);
  if (passed.length > 0) rows.push(`[Not searched: ${passed.join(", ")}]`);
  return { status: "ok", text: rows.join("\n") };
}

async function* targets(start: Located, options: Search) {
  if (start.kind === "file") yield { kind: "file", shown: start.shown, located: start } as const;
  else yield* walkTree(start, options);
}

/** The bytes of a file, or why it is not searched. */
async function readSearched(located: Located, { root, signal }: Search) {
  let file: SandboxFile;
  try {
    file = openFile(root, located);
  } catch (error) {
    if (error instanceof ToolFailure) return "unreadable";
    throw error;
  }
  try {
    return await readAll(file, { maxBytes: MAX_SEARCHED_BYTES, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error) return "unreadable";
    throw error;
  } finally {
    file.close();
  }
}

/** Part of a line that is shown before a match, in UTF-16 units. */
const BEFORE_CHARS = 100;
/** Part of a line that is shown from the match on. */
const AFTER_CHARS = 300;
const NON_ASCII = /[^\u0020-\u007e\t]/;

interface TextMatcher {
  /** False when undecoded bytes cannot hold the text: saves decoding them. */
  readonly mayMatch: (bytes: Uint8Array) => boolean;
  /** Position of the text in a line, in UTF-16 units, or -1. */
  readonly find: (line: string) => number;
}

/** Makes a matcher for `text`, which must hold no line break. */
function textMatcher(text: string, ignoreCase: boolean): TextMatcher {
  if (ignoreCase) {
    const folded = text.toLowerCase();
    return { mayMatch: () => true, find: (line) => line.toLowerCase().indexOf(folded) };
  }
  const bytes = Buffer.from(text);
  return {
    // Undecodable bytes become U+FFFD: a text that holds one may match bytes that differ from its own.
    mayMatch: NON_ASCII.test(text)
      ? () => true
      : (content) => Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(bytes),
    find: (line) => line.indexOf(text),
  };
}

/** The first `limit` lines of `text` that match, counted from 1, each with the part around the first match. */
function lineMatches(text: string, matcher: TextMatcher, limit: number) {
  const matches: { readonly line: number; readonly excerpt: string }[] = [];
  let line = 0;
  for (let start = 0; start <= text.length && matches.length < limit;) {
    line++;
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const content = text.slice(start, end).replace(/\r$/, "");
    const at = matcher.find(content);
    if (at >= 0) matches.push({ line, excerpt: excerptOf(content, at) });
    start = end + 1;
  }
  return matches;
}

function excerptOf(line: string, at: number): string {
  if (line.length <= BEFORE_CHARS + AFTER_CHARS) return line;
  // Folding case can shift positions; a position beyond the line shows its end.
  const middle = Math.min(at, line.length);
  const before = tailOf(line.slice(0, middle), BEFORE_CHARS);
  const after = headOf(line.slice(middle), AFTER_CHARS);
  const more = before.length < middle ? "…" : "";
  return `${more}${before}${after}${middle + after.length < line.length ? "…" : ""}`;
}
