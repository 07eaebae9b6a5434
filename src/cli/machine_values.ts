/** Values of this machine that a command may write into its requests, for match rules. */
import { RepriseError } from "../domain/errors.ts";
import type { Files, Ports } from "../domain/ports.ts";
import { gitValue, NO_REPOSITORY } from "../fixture/match/rules/git_forms.ts";
import { dayOf, localDay, localMoment, presentSince } from "../fixture/match/rules/moments.ts";
import { isPathRule } from "../fixture/match/rules/named_rules.ts";
import { type ContextValue, NAMED_RULES, type NamedRule } from "../fixture/match/rules/rule_names.ts";
import { isAbsolutePath } from "../fixture/match/rules/value_forms.ts";
import { parentOf } from "../store/layout.ts";

/** Time zone of this process without a variable, which takes long to find. */
let ownZone: string | null = null;
/** Names of systems, as `uname` writes them. */
const SYSTEMS: Readonly<Record<string, string>> = {
  linux: "Linux",
  darwin: "Darwin",
  windows: "Windows_NT",
  freebsd: "FreeBSD",
};

/**
 * Returns the directory, the machine and the user that a command started by us sees, at most one value for each rule.
 */
export function machineValues(
  { clock, env, files, process, workingDirectory }: Pick<
    Ports,
    "clock" | "env" | "files" | "process" | "workingDirectory"
  >,
  { began = null, context = [] }: {
    /** Start of the replays; `null` for a recording that starts now. */
    readonly began?: number | null;
    /** Values of a client that runs elsewhere: they replace those of this machine. */
    readonly context?: readonly ContextValue[];
  } = {},
): readonly ContextValue[] {
  const first = (...names: readonly string[]) =>
    names.map(env).find((value) => value !== undefined && value !== "");
  const home = first("HOME", "USERPROFILE");
  const now = clock.now();
  const { os, arch } = Deno.build;
  const values = {
    cwd: workingDirectory(),
    home,
    tmp: first("TMPDIR", "TEMP", "TMP") ?? "/tmp",
    user: first("USER", "LOGNAME", "USERNAME"),
    host: process.host,
    os: `${SYSTEMS[os] ?? os} ${Deno.osRelease()} ${arch}`,
    date: localDay(now),
    time: began === null ? localMoment(now) : presentSince(began, now),
    git: gitStatus(files, workingDirectory()),
    shell: first("SHELL", "ComSpec"),
    timezone: first("TZ")?.replace(/^:/, "") ??
      (ownZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone),
    ...Object.fromEntries(context.map(({ rule, value }) => [rule, value])),
  };
  return Object.entries(values).flatMap(([name, value]) => {
    const rule = name as NamedRule;
    return value === undefined || value === ""
      ? []
      : [{ rule, value: isPathRule(rule) ? withoutSeparator(value) : value }];
  });
}

/** Names that `--context` takes: a moment follows from the clock, and a session belongs to its request. */
const DECLARED: readonly NamedRule[] = NAMED_RULES.filter((rule) => rule !== "time" && rule !== "uuid");

/**
 * Parses values of `--context`.
 *
 * @throws {RepriseError} `usage` for another name, no value, a relative path, or a day that is none.
 */
export function parseContext(given: readonly string[] = []): readonly ContextValue[] {
  const values = given.map((text): ContextValue => {
    const [, name = "", value = ""] = /^([^=]*)=([^]*)$/.exec(text) ?? [];
    const rule = DECLARED.find((each) => each === name);
    const refuse = (why: string, hint: string) =>
      new RepriseError("usage", `Cannot use --context ${JSON.stringify(text)}: ${why}`, { hint });
    if (rule === undefined || value === "") {
      const why = rule === undefined ? "it names no value of a machine" : "it has no value";
      throw refuse(why, `Write NAME=VALUE, such as cwd=/app. Names: ${DECLARED.join(", ")}`);
    }
    if (isPathRule(rule) && !isAbsolutePath(value)) {
      throw refuse("its value is no absolute path", `Write it as the client sees it, such as ${rule}=/app`);
    }
    if (rule === "date" && dayOf(value) !== value) {
      throw refuse("its value is no day", "Write a day as 2026-11-27");
    }
    if (rule !== "git" || value.includes(" ")) return { rule, value };
    return { rule, value: gitValue({ branch: value, changes: "", commits: [] }) };
  });
  const twice = values.find(({ rule }, index) => values.findIndex((one) => one.rule === rule) !== index);
  if (twice === undefined) return values;
  throw new RepriseError("usage", `Cannot use --context ${twice.rule} twice: a machine has one value of it`, {
    hint: "Give the value that the client writes into its requests",
  });
}

/** Removes trailing separators of any system; the root of a drive keeps its own. */
function withoutSeparator(value: string): string {
  return value.replace(/(?<=[^:/\\])[/\\]+$/, "");
}

/**
 * Settings with which a repository makes Git start its own programs, also to fetch what is missing, or read further
 * settings. They may come from those who packed the directory: then Git is not asked.
 */
const STARTS_PROGRAMS =
  "^(filter\\.|core\\.fsmonitor$|core\\.worktree$|include|extensions\\.(worktreeconfig|partialclone)$|" +
  "remote\\..*\\.(promisor|partialclonefilter)$)";
/** Number of commits that are asked for: more than agents quote. */
const COMMITS = 20;

/** States when this process first asked, by directory. */
const states = new Map<string, string>();

/** Returns the state of a repository as one value; empty without changes and commits, Git, or with {@linkcode STARTS_PROGRAMS}. */
export function gitStatus(files: Pick<Files, "facts">, cwd: string): string {
  const state = states.get(cwd) ?? askGit(files, cwd);
  states.set(cwd, state);
  return state;
}

function askGit(files: Pick<Files, "facts">, cwd: string): string {
  if (!isInRepository(files, cwd)) return NO_REPOSITORY;
  const settings = git(cwd, ["config", "--local", "--name-only", "--get-regexp", STARTS_PROGRAMS]);
  // Git ends with 1 if there is none.
  if (settings?.code !== 1) return "";
  const status = git(cwd, [
    "status",
    "--short",
    "--branch",
    "--no-ahead-behind",
    "--ignore-submodules=dirty",
  ]);
  const [, branch = "", changes = ""] = /^## ([^\n]*)\n([^]*)$/.exec(succeeded(status)) ?? [];
  const log = git(cwd, [
    "log",
    `--max-count=${COMMITS}`,
    "--format=%h %s",
    "--no-show-signature",
    "--no-color",
    "--encoding=UTF-8",
  ]);
  return gitValue({
    branch: /^(?:No commits yet on )?(\S+?)(?:\.{3}\S+)?(?: \[\w+\])?$/.exec(branch)?.[1] ?? "",
    changes: changes.trimEnd(),
    commits: succeeded(log).split("\n").filter(Boolean),
  });
}

function isInRepository(files: Pick<Files, "facts">, cwd: string): boolean {
  for (let directory = cwd;; directory = parentOf(directory)) {
    if (files.facts(`${directory}/.git`) !== null) return true;
    if (directory === parentOf(directory)) return false;
  }
}

type Answer = { readonly code: number; readonly output: string } | null;

function succeeded(answer: Answer): string {
  return answer?.code === 0 ? answer.output : "";
}

function git(cwd: string, args: readonly string[]): Answer {
  try {
    const { code, stdout } = new Deno.Command("git", {
      args: ["--no-optional-locks", "--no-pager", ...args],
      cwd,
      stdin: "null",
      stderr: "null",
      env: { LC_ALL: "C" },
    }).outputSync();
    return { code, output: new TextDecoder().decode(stdout) };
  } catch {
    return null;
  }
}
