/**
 * `list_files`: what is in a directory of the workspace.
 *
 * @module
 */
import * as z from "zod";
import { locate } from "../sandbox_path.ts";
import { type Glob, parseGlob } from "../glob.ts";
import { shownPath } from "../output.ts";
import { confirmJudged, defineTool, type Tool, ToolFailure } from "../tool.ts";
import { type Step, walk } from "./walk.ts";

/** The most entries that one call lists. */
const MAX_LISTED = 5000;

/** Lists entries of a directory, one path a line. */
export const listFiles: Tool = defineTool({
  name: "list_files",
  description:
    "List the files and directories under a directory of the workspace, one path a line, relative to the " +
    "workspace, in code unit order. Directories end with a slash; links are shown and not followed; .git and " +
    "node_modules are shown and not entered.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: ["string", "null"],
        description: "The directory, relative to the workspace; null for the workspace itself",
      },
      pattern: {
        type: ["string", "null"],
        description:
          "Only list what fits this glob: * and ? within a name, ** for directories, {a,b}; matched against " +
          "the path when it has a slash, otherwise against the name; null for everything",
      },
      depth: {
        type: ["integer", "null"],
        description: "How many levels to list: 1 is the directory alone; null for all",
      },
    },
    required: ["path", "pattern", "depth"],
    additionalProperties: false,
  },
  shape: z.strictObject({
    path: z.string().nullable(),
    pattern: z.string().nullable(),
    depth: z.int().nullable(),
  }),
  group: "read",
  target: ({ path }, { root }) => ({ kind: "path", path: locate(root, path ?? ".").shown }),
  async run({ path, pattern, depth }, context) {
    const { root, signal, isHidden } = context;
    if (depth !== null && depth < 1) throw new ToolFailure(`Cannot list ${depth} levels: give 1 or more`);
    const fits = pattern === null ? () => true : parseGlob(pattern);
    const start = locate(root, path ?? ".");
    confirmJudged(context, start.shown);
    if (start.kind === "file") {
      throw new ToolFailure(`Cannot list ${shownPath(start.shown)}: it is a file (read it with read_file)`);
    }
    const lines: string[] = [];
    let listed = 0;
    for await (const step of walk(start, { root, signal, isHidden, ...(depth === null ? {} : { depth }) })) {
      const line = lineOf(step, fits);
      if (line === null) continue;
      if (listed === MAX_LISTED) {
        lines.push(`[Stopped after ${MAX_LISTED} entries: narrow the path, the pattern or the depth]`);
        break;
      }
      lines.push(line);
      listed++;
    }
    if (listed === 0) {
      lines.push(pattern === null ? "[The directory is empty]" : "[Nothing fits the pattern]");
    }
    return { status: "ok", text: lines.join("\n") };
  },
});

function lineOf(step: Step, fits: Glob): string | null {
  if (step.kind === "stopped") return `[Stopped after looking at ${step.visited} entries: narrow the path]`;
  if (step.kind === "unreadable") return `${shownPath(step.shown)} [cannot be read]`;
  if (!fits(step.shown)) return null;
  switch (step.kind) {
    case "file":
      return shownPath(step.shown);
    case "directory":
      return shownPath(`${step.shown}/`);
    case "skipped":
      return `${shownPath(`${step.shown}/`)} [not entered]`;
    case "symlink":
      return `${shownPath(step.shown)} [link]`;
    case "hidden":
      return `${shownPath(step.shown)} [denied]`;
    case "other":
      return `${shownPath(step.shown)} [special]`;
  }
}
