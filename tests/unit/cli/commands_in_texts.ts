/** Finds the commands of reprise that texts name, and parses them as the program does. */
import type { ProgramPorts } from "../../../src/cli/live_ports.ts";
import { withVerbFirst } from "../../../src/cli/leading_flags.ts";
import { parseCall, splitCommand } from "../../../src/cli/program.ts";
import { ALL_VERBS } from "../../../src/cli/verbs.ts";
import { withoutComments } from "../../../scripts/house/source_text.ts";

/** Verbs whose argument is optional for the parser, but that need it, or a flag in its place. */
const NEED_MORE: ReadonlySet<string> = new Set(["fsck"]);

/** Topics of `help` that are no verbs. */
const TOPICS: ReadonlySet<string> = new Set(["codes", "faults", "rules"]);

/** The literals of a source, without its comments; `1` replaces each interpolation, because it can be an id, a path and a number. */
export function literalsOf(source: string): string[] {
  const code = withoutComments(source);
  const found: string[] = [];
  for (let at = 0; at < code.length; at++) {
    const quote = code[at];
    if (quote !== '"' && quote !== "'" && quote !== "`") continue;
    let text = "";
    for (at++; at < code.length && code[at] !== quote; at++) {
      if (code[at] === "\\") {
        at++;
        text += code[at] === "n" ? "\n" : code[at];
      } else if (quote === "`" && code[at] === "$" && code[at + 1] === "{") {
        const end = endOfInterpolation(code, at + 2);
        found.push(...literalsOf(code.slice(at + 2, end)));
        // One that continues a word may be empty.
        text += /[\w"]$/.test(text) && !text.endsWith("=") ? "" : "1";
        at = end;
      } else if (quote !== "`" && code[at] === "\n") {
        // An apostrophe in a regular expression, not a literal.
        break;
      } else text += code[at];
    }
    found.push(text);
  }
  return found;
}

function endOfInterpolation(code: string, start: number): number {
  let depth = 1;
  for (let at = start; at < code.length; at++) {
    if (code[at] === "{") depth++;
    else if (code[at] === "}" && --depth === 0) return at;
    else if (code[at] === "`") {
      for (at++; at < code.length && code[at] !== "`"; at++) {
        if (code[at] === "$" && code[at + 1] === "{") at = endOfInterpolation(code, at + 2);
      }
    }
  }
  return code.length;
}

/** The commands in a text: between quotes or parentheses, or from a colon, comma or line start to the end of the clause. */
export function commandsIn(text: string): string[] {
  const quoted = Array.from(text.matchAll(/(?<!=)"(reprise [a-z-][^"]*)"/g), ([, command = ""]) => command);
  const rest = text.replace(/"reprise [a-z-][^"]*"/g, "");
  const open = Array.from(
    rest.matchAll(/(?:^|\(|[:,;] |, or |\n\s*|\(… \| |1 )(reprise [a-z-](?:"[^"]*"|'[^']*'|[^,;)\n])*)/g),
    ([, command = ""]) => command.trim(),
  );
  return [...quoted, ...open];
}

/** Why the program would refuse a command; `null` if its parser accepts it. */
export function refusalOf(command: string): string | null {
  const [own = ""] = command.split(/ [|>] /);
  const args = Array.from(
    own.matchAll(/"[^"]*"|'[^']*'|\S+/g),
    ([word]) => word.replace(/^(["'])(.*)\1$/s, "$2"),
  )
    .slice(1);
  const verbs = ALL_VERBS;
  const reordered = withVerbFirst(args, verbs);
  const isHelp = args.includes("--help");
  if (args[0] === "help" && TOPICS.has(args[1] ?? "")) return null;
  if (NEED_MORE.has(args[0] ?? "") && args.length === 1) return "it lacks its argument";
  try {
    const { own } = splitCommand(verbs, reordered);
    const stream = { isTerminal: () => false, writeSync: (bytes: Uint8Array) => bytes.length };
    const quiet = { stdout: stream, stderr: stream } as unknown as ProgramPorts;
    parseCall(quiet, verbs, own);
    return null;
  } catch (error) {
    if (isHelp) return null;
    return error instanceof Error ? error.message : String(error);
  }
}
