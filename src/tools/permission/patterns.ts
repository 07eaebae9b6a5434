/**
 * The patterns of `--allow` and `--deny`: which paths, which commands. Allowing compares exactly; denying takes
 * in all that the pattern might mean.
 *
 * @module
 */
import { parseGlob } from "../glob.ts";
import { ToolFailure } from "../tool.ts";
import { splitWords } from "./shell_words.ts";
import type { Target } from "./subject.ts";

/** Says what a pattern thinks of a target. */
export interface PermissionPattern {
  readonly matches: (target: Target) => boolean;
  /** True when nobody can see whether the pattern means the target. */
  readonly cannotTell: (target: Target) => boolean;
}

/** A pattern that cannot be used; the message says why. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** What a pattern is for: a doubt counts as a match for denying only. */
export type Purpose = "allow" | "deny";

/** Characters that a command pattern must quote: unquoted, they would make a shell command of the line. */
const SPECIAL = new Set("|&;<>()$`\\\"'?[]{}~!#\n\r\0");
/** Programs that start the program that their arguments name. A deny pattern might mean that one. */
const STARTERS = new Set(
  ("ash bash busybox chroot csh dash doas env eval fish flock ionice ksh nice nohup npx parallel script setpriv " +
    "setsid sh ssh stdbuf strace su sudo tcsh time timeout unshare watch xargs zsh").split(" "),
);

/**
 * A glob over workspace-relative paths. Denying folds case and covers everything below what it names.
 *
 * @throws {PatternError} for a glob that is malformed, absolute, or leads out of the workspace.
 */
export function pathPattern(pattern: string, purpose: Purpose): PermissionPattern {
  const segments = pattern.split("/");
  if (pattern.startsWith("/") || segments.includes("..")) {
    throw new PatternError("its paths are relative to the workspace and do not leave it");
  }
  if (pattern.endsWith("/")) throw new PatternError('it ends with a slash: write "dir/**" for all below dir');
  if (
    pattern !== "." &&
    segments.slice(pattern.startsWith("./") ? 1 : 0).some((name) => name === "" || name === ".")
  ) {
    throw new PatternError('it holds an empty or "." segment');
  }
  try {
    const exact = parseGlob(pattern);
    const folded = parseGlob(foldedPath(pattern));
    const matches = purpose === "allow"
      ? exact
      : (path: string) => prefixesOf(path).some((prefix) => exact(prefix) || folded(foldedPath(prefix)));
    return { matches: (target) => target.kind === "path" && matches(target.path), cannotTell: () => false };
  } catch (error) {
    if (error instanceof ToolFailure) throw new PatternError(error.message);
    throw error;
  }
}

/**
 * The words of a command: `*` stands for one argument, a final `**` for any rest, every other word is compared
 * whole; quotes as in a shell. Denying compares the program's name without its directory, and cannot tell about
 * lines for a shell and about programs that start others.
 *
 * @throws {PatternError} for shell operators, for `*` inside a word, and for what would match everything.
 */
export function commandPattern(pattern: string, purpose: Purpose): PermissionPattern {
  const words = splitWords(pattern, SPECIAL);
  if (words === null) {
    throw new PatternError(
      "a command line with shell operators matches no pattern (quote what is meant as text)",
    );
  }
  const isRest = words.at(-1)?.text === "**" && words.at(-1)?.quoted === false;
  const fixed = isRest ? words.slice(0, -1) : words;
  for (const { text, quoted } of fixed) {
    if (quoted || text === "*" || !text.includes("*")) continue;
    throw new PatternError(
      text === "**"
        ? '"**" stands only at the end'
        : '"*" stands for one whole argument (quote it to mean the letter)',
    );
  }
  const [program, ...rest] = fixed;
  if (program === undefined) {
    throw new PatternError("it names no program: use the group shell for all of them");
  }
  const fits = (word: { text: string; quoted: boolean }, given: string) =>
    (!word.quoted && word.text === "*") || word.text === given;
  const isProgram = (given: string) =>
    fits(program, given) || (purpose === "deny" && fits(program, programName(given)));
  const matches = (argv: readonly string[]) => {
    const [given, ...args] = argv;
    if (given === undefined || !isProgram(given)) return false;
    return (isRest ? args.length >= rest.length : args.length === rest.length) &&
      rest.every((word, index) => fits(word, args[index] as string));
  };
  return {
    matches: (target) => target.kind === "command" && target.argv !== null && matches(target.argv),
    cannotTell: (target) =>
      target.kind === "command" && (target.argv === null || STARTERS.has(programName(target.argv[0] ?? ""))),
  };
}

function programName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** Case and composition of letters taken away: what one file system tells apart, another does not. */
function foldedPath(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** `a/b/c` as `a`, `a/b`, `a/b/c`: what denies a directory denies what is in it. */
function prefixesOf(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
