/**
 * The changes in a Git repository, as agents quote them.
 *
 * @module
 */
import type { Files } from "../../domain/ports.ts";
import { NO_REPOSITORY } from "../../fixture/match/rules/named_rules.ts";
import { parentOf } from "../../store/home.ts";

/**
 * Settings with which a repository makes `git status` start its own programs, or read further settings. They may come
 * from those who packed the directory: then Git is not asked.
 */
const STARTS_PROGRAMS =
  "^(filter\\.|core\\.fsmonitor$|core\\.worktree$|include|extensions\\.worktreeconfig$)";

/** States when this process first asked, by directory. */
const states = new Map<string, string>();

/** Returns the output of `git status --short`; empty if there are no changes, no Git, or {@linkcode STARTS_PROGRAMS}. */
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
  const status = git(cwd, ["status", "--short", "--ignore-submodules=dirty"]);
  return status?.code === 0 ? status.output.trimEnd() : "";
}

function isInRepository(files: Pick<Files, "facts">, cwd: string): boolean {
  for (let directory = cwd;; directory = parentOf(directory)) {
    if (files.facts(`${directory}/.git`) !== null) return true;
    if (directory === parentOf(directory)) return false;
  }
}

function git(
  cwd: string,
  args: readonly string[],
): { readonly code: number; readonly output: string } | null {
  try {
    const { code, stdout } = new Deno.Command("git", {
      args: ["--no-optional-locks", ...args],
      ...{ cwd, stdin: "null", stderr: "null", env: { LC_ALL: "C" } },
    }).outputSync();
    return { code, output: new TextDecoder().decode(stdout) };
  } catch {
    return null;
  }
}
