/** The branch, the changes and the newest commits of a Git repository, as agents quote them. */
import type { Files } from "../../domain/ports.ts";
import { gitValue, NO_REPOSITORY } from "../../fixture/match/rules/git_forms.ts";
import { parentOf } from "../../store/home.ts";

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
