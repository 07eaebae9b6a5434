/** Explains arguments that the parser refuses: names the help of the verb, and recognises what was forgotten. */
import type { CommanderError } from "commander";
import { RepriseError } from "../domain/errors.ts";
import { commandLine } from "../tools/permission/shell_words.ts";
import { WRAPPED_COMMAND } from "./declare.ts";
import { readVariable } from "./environment.ts";
import { type NamedVerb, namedVerb, takesValue } from "./leading_flags.ts";
import type { Verbs } from "./verbs.ts";
import { isFile, otherKind } from "./settings.ts";

/** Codes of the parser for arguments that fit no declaration. */
const ARGUMENT_ERRORS: ReadonlySet<string> = new Set([
  "commander.excessArguments",
  "commander.unknownOption",
]);

/** Words of other programs, and the calls that do what they mean. */
const SLIPS: Readonly<Record<string, string>> = {
  version: "--version",
  delete: "rm ID",
  remove: "rm ID",
  prune: "rm --older-than 90d",
  gc: "rm --unused",
  list: "ls",
  sessions: "ls",
  log: "show ID",
  logs: "show ID",
  history: "show ID",
  cat: "show ID",
  find: "search TEXT",
  grep: "search TEXT",
  ask: 'run "…"',
  chat: 'run "…"',
  exec: 'run "…"',
  prompt: 'run "…"',
  continue: 'run -c "…"',
  resume: 'run -c "…"',
  input: "run --dry-run --body",
  stop: "interrupt ID",
  kill: "interrupt ID",
  branch: "fork ID",
  check: "fsck ID",
  verify: "fsck ID --requests",
  undo: "compact ID --undo",
  usage: "stats",
  cost: "stats",
  push: "sync ID",
  pull: "sync ID",
  status: "doctor",
  settings: "config list",
  capture: "record --out DIR -- CMD",
  proxy: "record --out DIR",
  mock: "serve DIR -- CMD",
  play: "serve DIR -- CMD",
  replay: "serve DIR -- CMD",
  fixtures: "fixture ls DIR",
};

/** The same for what comes after `fixture`, or before the folder of a recording. */
const FIXTURE_SLIPS: Readonly<Record<string, string>> = {
  list: "ls",
  cat: "show",
  check: "lint",
  verify: "lint",
  validate: "lint",
  compare: "diff",
  scrub: "redact",
  accept: "seal",
  update: "seal",
  clean: "prune",
  remove: "prune",
  rm: "prune",
  convert: "import",
};

/** Verbs for sessions, and those that do the same for recordings. */
const FOR_RECORDINGS: Readonly<Record<string, string>> = {
  ls: "ls",
  show: "show",
  fsck: "lint",
  repair: "lint",
};

/** The error of the parser, as it is shown. */
export function usageError(error: CommanderError, args: readonly string[], verbs: Verbs): RepriseError {
  const named = namedVerb(args, verbs);
  if (error.code === "commander.help") return withoutVerb(args);
  const [said = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const message = `${said.charAt(0).toUpperCase()}${said.slice(1)}`.replace(/\.$/, "");
  const forgotten = named === null || !ARGUMENT_ERRORS.has(error.code)
    ? null
    : withDashes(args, named) ?? withQuotes(args, named);
  if (forgotten !== null) return new RepriseError("usage", message, { hint: forgotten });
  const meant = named === null ? slipOf(args, verbs) : recordingsHint(args, named);
  if (meant !== null) return new RepriseError("usage", message, { hint: meant });
  const suggested = suggestions.map((text) => text.replace(/^\((.*)\)$/, "$1")).filter((text) =>
    isNear(text, args)
  );
  return new RepriseError("usage", message, { hint: [...suggested, helpHint(args, named)].join(" ") });
}

/** The hint for a word of another program, or a verb of recordings without `fixture`; `null` for any other word. */
function slipOf(args: readonly string[], { fixture }: Verbs): string | null {
  const [first = "", ...rest] = args[0] === "fixture" ? args.slice(1) : args;
  const slip = Object.hasOwn(FIXTURE_SLIPS, first) ? FIXTURE_SLIPS[first] : undefined;
  const known = fixture.some(({ name }) => name === first) ? first : slip;
  const folder = rest.find(holdsRecordings);
  const folders = known === "diff"
    ? [...rest.filter(holdsRecordings), "DIR", "DIR"].slice(0, 2)
    : [folder ?? "DIR"];
  if (
    known !== undefined && (args[0] === "fixture" || folder !== undefined || !Object.hasOwn(SLIPS, first))
  ) {
    return `Try: ${commandLine(["reprise", "fixture", known, ...folders])}`;
  }
  return Object.hasOwn(SLIPS, first) ? `Try: reprise ${SLIPS[first]}` : null;
}

/** True for a suggested word that begins or ends as the wrong one does: the parser also suggests mere rhymes. */
function isNear(suggestion: string, args: readonly string[]): boolean {
  const word = (/ (?:one of )?(\S+?)[,?]/.exec(suggestion)?.[1] ?? "").replace(/^-+/, "");
  return args.some((arg) => {
    const typed = arg.replace(/^-+/, "");
    return typed !== "" && (typed[0] === word[0] || word.endsWith(typed) || typed.endsWith(word));
  });
}

/** The hint for a folder of recordings that a verb for sessions got; `null` for other arguments. */
function recordingsHint(args: readonly string[], { verb, words }: NamedVerb): string | null {
  const folder = args.slice(words).find(holdsRecordings);
  const sameForRecordings = words === 1 ? FOR_RECORDINGS[verb.name] : undefined;
  if (sameForRecordings === undefined || folder === undefined) return null;
  return `It holds recordings: ${commandLine(["reprise", "fixture", sameForRecordings, folder])}`;
}

/** The error of `reprise fixture` alone, and of `reprise help` for something that is no verb. */
function withoutVerb(args: readonly string[]): RepriseError {
  const message = args[0] === "help"
    ? `Cannot show help for ${JSON.stringify(args[1] ?? "")}: there is no such verb`
    : `Cannot run ${JSON.stringify(args[0])} alone: it needs a verb`;
  return new RepriseError("usage", message, { hint: helpHint(args, null) });
}

/** Exit codes of failures whose cause `doctor` may show: of access, of the network and of storage. */
const OF_SURROUNDINGS: ReadonlySet<number> = new Set([8, 10, 14]);

/**
 * An error of a verb with a command to run in its hint: the call with `--`, if that was forgotten; if the hint has no
 * command, `doctor` or the help of the verb.
 */
export function withHelp(error: RepriseError, args: readonly string[], verbs: Verbs): RepriseError {
  const named = namedVerb(args, verbs);
  if (named === null) return error;
  const forgotten = error.code === "bad_fixture" ? withDashes(args, named) : recordingsHint(args, named);
  const { hint = "" } = error;
  if (forgotten === null && /\breprise [a-z]/.test(hint)) return error;
  const next = OF_SURROUNDINGS.has(error.exitCode) ? 'See "reprise doctor"' : helpHint(args, named);
  const joint = hint === "" ? "" : hint.endsWith("?") ? " " : ". ";
  return error.withHint(forgotten ?? `${hint}${joint}${next}`);
}

/** Names the help that answers a wrong call. */
function helpHint(args: readonly string[], named: NamedVerb | null): string {
  const known = named === null ? args[0] === "fixture" ? ["fixture"] : [] : args.slice(0, named.words);
  return `See "${["reprise", ...known, "--help"].join(" ")}"`;
}

/**
 * The hint for a command without `--` before it; `null` if nothing looks like a command. Without `--`, `record` takes no
 * argument, and `serve` only folders.
 */
function withDashes(args: readonly string[], { verb, words }: NamedVerb): string | null {
  if (!verb.arguments.includes(WRAPPED_COMMAND) || args.includes("--")) return null;
  const takesFolders = verb.arguments.length > 1;
  let folders = 0;
  for (let at = words; at < args.length; at++) {
    const arg = args[at] ?? "";
    const takes = takesValue(arg, verb.flags);
    if (takes !== null) {
      if (takes) at++;
    } else if (!arg.startsWith("-") && takesFolders && (folders === 0 || isFolder(arg))) {
      folders++;
    } else if (arg.startsWith("-") || takesFolders && arg.includes("/") && !isFile(arg)) {
      // Rather the path of a folder that is not there.
      return null;
    } else {
      const before = args.slice(0, at);
      return `Put -- before the command: ${commandLine(["reprise", ...before, "--", ...args.slice(at)])}`;
    }
  }
  return null;
}

/** True for a directory, unless it has the name of a program and holds no fixture. */
function isFolder(arg: string): boolean {
  if (otherKind(arg) !== "a directory") return false;
  const isProgram = !arg.includes("/") &&
    (readVariable("PATH") ?? "").split(":").some((directory) => isFile(`${directory}/${arg}`));
  return !isProgram || holdsRecordings(arg);
}

/** True for a folder with a recording in it or in a subfolder, as far as it can be read. */
function holdsRecordings(arg: string): boolean {
  try {
    if (otherKind(arg) !== "a directory") return false;
    const names = [...Deno.readDirSync(arg)].map(({ name }) => name);
    return ["", ...names].some((name) => isFile(`${arg}/${name}/fixture.json`));
  } catch {
    return false;
  }
}

/** The hint for a prompt of several arguments, or one that begins with a dash; `null` for other verbs and arguments. */
function withQuotes(args: readonly string[], { verb, words }: NamedVerb): string | null {
  if (verb.arguments.length !== 1 || verb.arguments[0]?.spec !== "[prompt]") return null;
  const flagWords: string[] = [];
  const prompt: string[] = [];
  for (let at = words; at < args.length; at++) {
    const arg = args[at] ?? "";
    const takes = takesValue(arg, verb.flags);
    if (takes === null && arg.startsWith("-") && !arg.includes(" ")) return null;
    if (takes === null) prompt.push(arg);
    else flagWords.push(...args.slice(at, takes ? ++at + 1 : at + 1));
  }
  if (prompt.length === 0) return null;
  const text = prompt.join(" ");
  const dashes = text.startsWith("-") ? ["--"] : [];
  return `Give the prompt as one argument: ${
    commandLine(["reprise", ...args.slice(0, words), ...flagWords, ...dashes, text])
  }`;
}
