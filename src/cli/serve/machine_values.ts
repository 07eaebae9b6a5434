/**
 * Values of this machine that a command may write into its requests, for match rules.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { localDay } from "../../fixture/match/rules/days.ts";
import { type ContextValue, NO_REPOSITORY } from "../../fixture/match/rules/named_rules.ts";

/** Returns the directory, the machine and the user that a command started by us sees, at most one value for each rule. */
export function machineValues(
  { clock, env, process, workingDirectory }: Pick<Ports, "clock" | "env" | "process" | "workingDirectory">,
): readonly ContextValue[] {
  const first = (...names: readonly string[]) =>
    names.map(env).find((value) => value !== undefined && value !== "");
  const home = first("HOME", "USERPROFILE");
  const values = {
    cwd: workingDirectory(),
    home,
    tmp: first("TMPDIR", "TEMP", "TMP") ?? "/tmp",
    user: first("USER", "LOGNAME", "USERNAME"),
    host: process.host,
    date: localDay(clock.now()),
    git: gitStatus(workingDirectory()),
    timezone: first("TZ")?.replace(/^:/, ""),
  } as const;
  return Object.entries(values).flatMap(([rule, value]) =>
    value === undefined || value === ""
      ? []
      : [{ rule: rule as keyof typeof values, value: withoutSeparator(value) }]
  );
}

/** States of Git when this process first asked, by directory. */
const states = new Map<string, string>();

/** Returns the changes in a Git repository, as agents quote them; empty if there are none, or no Git. */
function gitStatus(cwd: string): string {
  const state = states.get(cwd) ?? askGit(cwd);
  states.set(cwd, state);
  return state;
}

function askGit(cwd: string): string {
  try {
    const { success, stdout, stderr } = new Deno.Command("git", {
      args: ["--no-optional-locks", "status", "--short"],
      ...{ cwd, stdin: "null", env: { LC_ALL: "C" } },
    }).outputSync();
    const [output = "", error = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    return success ? output.trimEnd() : error.includes("not a git repository") ? NO_REPOSITORY : "";
  } catch {
    return "";
  }
}

/** Removes trailing separators of any system; the root of a drive keeps its own. */
function withoutSeparator(value: string): string {
  return value.replace(/(?<=[^:/\\])[/\\]+$/, "");
}
