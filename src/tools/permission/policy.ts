/**
 * Permissions of a run: rules from `--allow` and `--deny`, and the verdict on one call. Pure. Deny wins, and a doubt
 * is a denial.
 */
import { RepriseError } from "../../domain/errors.ts";
import { type CallSubject, type Target, ToolFailure, type ToolGroup } from "../tool.ts";
import { parseGlob } from "../glob.ts";
import { TOOL_GROUPS } from "../registry.ts";
import { commandLine, splitWords } from "./shell_words.ts";

type VerdictReason =
  | "reading"
  | "allowed_by_rule"
  | "denied_by_rule"
  /** Only a shell can tell what the command line does, and a deny pattern might mean it. */
  | "unclear_command"
  | "not_allowed"
  | "no_terminal"
  | "asked_yes"
  | "asked_always"
  | "asked_always_tool"
  | "asked_no";

/** The verdict of the rules on a call. `ask` means that only a person can decide. */
export interface PermissionVerdict {
  readonly decision: "allow" | "deny" | "ask";
  readonly reason: VerdictReason;
  /** The rule that decided, as it was written. */
  readonly rule: string | null;
}

/** One value of `--allow` or `--deny`. */
interface PermissionRule {
  readonly text: string;
  readonly matches: (subject: CallSubject) => boolean;
  /** True when the rule is about such calls, but cannot see whether about this one. */
  readonly cannotTell: (subject: CallSubject) => boolean;
}

/** The permissions of a run. */
export interface Policy {
  readonly allow: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  /** Calls that no rule decides are put to a person at the terminal. */
  readonly ask: boolean;
}

const GROUPS: ReadonlySet<string> = new Set<ToolGroup>(["read", "write", "shell"]);

/**
 * Parses permissions. A value is a name, names with commas, or one pattern with a colon.
 *
 * @throws {RepriseError} `usage` for a name that is neither tool nor group, or a pattern that cannot be matched.
 */
export function parsePolicy(
  source: Readonly<Record<Purpose, readonly string[]>> & Pick<Policy, "ask">,
): Policy {
  const parse = (purpose: Purpose, values: readonly string[]) =>
    values.flatMap(splitValue).map((text) => parseRule(text, purpose));
  return { allow: parse("allow", source.allow), deny: parse("deny", source.deny), ask: source.ask };
}

/**
 * Permissions in canonical order, as a run pins them: `read`, then what is allowed, what is denied (each sorted,
 * none twice), then `ask`.
 */
export function policyText(policy: Policy): readonly string[] {
  const lines = (word: Purpose, rules: readonly PermissionRule[]) =>
    [...new Set(rules.map(({ text }) => `${word} ${text}`))].sort();
  return [
    "read",
    ...lines("allow", policy.allow),
    ...lines("deny", policy.deny),
    ...(policy.ask ? ["ask"] : []),
  ];
}

/**
 * The permissions that {@linkcode policyText} wrote, for a run that continues under the pins of an earlier one.
 *
 * @throws {RepriseError} `usage` for a line that this version does not know: a doubt allows nothing.
 */
export function policyFromText(lines: readonly string[]): Policy {
  const unknown = lines.find((line) => !/^(?:allow .*|deny .*|ask|read)$/s.test(line));
  if (unknown !== undefined) {
    const message = `Cannot keep the session's permissions: ${JSON.stringify(unknown)} is not known`;
    throw new RepriseError("usage", message, {
      hint:
        "Use the version of reprise that wrote it, or a newer one: a rule that is not understood allows nothing",
    });
  }
  const valuesOf = (word: Purpose) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return parsePolicy({ allow: valuesOf("allow"), deny: valuesOf("deny"), ask: lines.includes("ask") });
}

/** The verdict of the rules alone; `terminal` says whether a person could be asked. */
export function judgePermission(policy: Policy, subject: CallSubject, terminal: boolean): PermissionVerdict {
  const denied = policy.deny.find((rule) => rule.matches(subject));
  if (denied !== undefined) return { decision: "deny", reason: "denied_by_rule", rule: denied.text };
  const doubt = policy.deny.find((rule) => rule.cannotTell(subject));
  if (doubt !== undefined) return { decision: "deny", reason: "unclear_command", rule: doubt.text };
  if (subject.group === "read") return { decision: "allow", reason: "reading", rule: null };
  const allowed = policy.allow.find((rule) => rule.matches(subject));
  if (allowed !== undefined) return { decision: "allow", reason: "allowed_by_rule", rule: allowed.text };
  if (!policy.ask) return { decision: "deny", reason: "not_allowed", rule: null };
  return terminal
    ? { decision: "ask", reason: "not_allowed", rule: null }
    : { decision: "deny", reason: "no_terminal", rule: null };
}

/** The paths that a reading tool must not come across while it lists or searches, as `ToolContext.isHidden`. */
export function hiddenPaths(policy: Policy, tool: string): (path: string) => boolean {
  return (path) =>
    policy.deny.some((rule) => rule.matches({ tool, group: "read", target: { kind: "path", path } }));
}

/** A value with a colon is one pattern, whatever commas it holds. */
function splitValue(value: string): string[] {
  return value.includes(":") ? [value.trim()] : value.split(",").map((name) => name.trim());
}

function parseRule(text: string, purpose: Purpose): PermissionRule {
  const refuse = (why: string) =>
    new RepriseError("usage", `Cannot use --${purpose} ${JSON.stringify(text)}: ${why}`, {
      hint: `Names: ${
        [...GROUPS, ...TOOL_GROUPS.keys()].join(", ")
      }; patterns: "shell:git status", "write:src/**"`,
    });
  const colon = text.indexOf(":");
  const name = colon < 0 ? text : text.slice(0, colon);
  const group = TOOL_GROUPS.get(name) ?? (GROUPS.has(name) ? name as ToolGroup : undefined);
  if (group === undefined) throw refuse(`${JSON.stringify(name)} is neither a tool nor a group`);
  const fits = (subject: CallSubject) => subject.tool === name || subject.group === name;
  if (colon < 0) return { text, matches: fits, cannotTell: () => false };
  const written = text.slice(colon + 1).trim();
  if (written === "") throw refuse("its pattern is empty");
  try {
    const pattern = group === "shell" ? commandPattern(written, purpose) : pathPattern(written, purpose);
    return {
      text,
      matches: (subject) => fits(subject) && pattern.matches(subject.target),
      cannotTell: (subject) => fits(subject) && pattern.cannotTell(subject.target),
    };
  } catch (error) {
    if (error instanceof ToolFailure) throw refuse(error.message);
    throw error;
  }
}

/** Says what a pattern thinks of a target. */
interface PermissionPattern {
  readonly matches: (target: Target) => boolean;
  /** True if it is not known whether the pattern means the target. */
  readonly cannotTell: (target: Target) => boolean;
}

/** Purpose of a pattern: a doubt counts as a match for denying only. */
type Purpose = "allow" | "deny";

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
 * @throws {ToolFailure} for a glob that is malformed, absolute, or leads out of the workspace.
 */
function pathPattern(pattern: string, purpose: Purpose): PermissionPattern {
  const segments = pattern.split("/");
  if (pattern.startsWith("/") || segments.includes("..")) {
    throw new ToolFailure("its paths are relative to the workspace and do not leave it");
  }
  if (pattern.endsWith("/")) throw new ToolFailure('it ends with a slash: write "dir/**" for all below dir');
  if (
    pattern !== "." &&
    segments.slice(pattern.startsWith("./") ? 1 : 0).some((name) => name === "" || name === ".")
  ) {
    throw new ToolFailure('it holds an empty or "." segment');
  }
  const exact = parseGlob(pattern);
  const folded = parseGlob(foldedPath(pattern));
  const matches = purpose === "allow"
    ? exact
    : (path: string) => prefixesOf(path).some((prefix) => exact(prefix) || folded(foldedPath(prefix)));
  return { matches: (target) => target.kind === "path" && matches(target.path), cannotTell: () => false };
}

/**
 * Parses a pattern of a command's words: `*` matches one argument, a final `**` any rest, every other word is compared
 * whole; quotes as in a shell. A denial compares the program's name without its directory. It cannot see into lines for
 * a shell and into programs that start others.
 *
 * @throws {ToolFailure} for shell operators, for `*` inside a word, and for what would match everything.
 */
function commandPattern(pattern: string, purpose: Purpose): PermissionPattern {
  const words = splitWords(pattern, SPECIAL);
  if (words === null) {
    throw new ToolFailure(
      "a command line with shell operators matches no pattern (quote what is meant as text)",
    );
  }
  const isRest = words.at(-1)?.text === "**" && words.at(-1)?.quoted === false;
  const fixed = isRest ? words.slice(0, -1) : words;
  for (const { text, quoted } of fixed) {
    if (quoted || text === "*" || !text.includes("*")) continue;
    throw new ToolFailure(
      text === "**"
        ? '"**" is allowed only at the end'
        : '"*" matches one whole argument (quote it to mean the character)',
    );
  }
  const [program, ...rest] = fixed;
  if (program === undefined) {
    throw new ToolFailure("it names no program: use the group shell for all of them");
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

/**
 * The narrowest value of `--allow` that would allow a denied call: this command or path, else its group. `null` if a
 * deny rule decides, which no value overrules.
 */
export function allowingValue(policy: Policy, subject: CallSubject): string | null {
  const { group, target } = subject;
  // A path with these characters would be a pattern for other paths too.
  const narrow = target.kind === "path" && !/[*?{}]/.test(target.path)
    ? [`${group}:${target.path}`]
    : target.kind === "command" && target.argv !== null
    ? [`${group}:${commandLine(target.argv)}`]
    : [];
  const value = [...narrow, group].find((text) => {
    try {
      const { allow } = parsePolicy({ allow: [text], deny: [], ask: false });
      return judgePermission({ ...policy, allow, ask: false }, subject, false).decision === "allow";
    } catch {
      // Not every path or command can be written as a pattern.
      return false;
    }
  });
  return value ?? null;
}
