/** Values of this machine that a command may write into its requests, for match rules. */
import type { Ports } from "../../domain/ports.ts";
import { localDay } from "../../fixture/match/rules/days.ts";
import { localMoment, presentSince } from "../../fixture/match/rules/moments.ts";
import { type ContextValue, isPathRule } from "../../fixture/match/rules/named_rules.ts";
import { gitStatus } from "./git_status.ts";

/** Names of systems, as `uname` writes them. */
const SYSTEMS: Readonly<Record<string, string>> = {
  linux: "Linux",
  darwin: "Darwin",
  windows: "Windows_NT",
  freebsd: "FreeBSD",
};

/**
 * Returns the directory, the machine and the user that a command started by us sees, at most one value for each rule.
 *
 * @param began Start of the replays; `null` for a recording that starts now.
 */
export function machineValues(
  { clock, env, files, process, workingDirectory }: Pick<
    Ports,
    "clock" | "env" | "files" | "process" | "workingDirectory"
  >,
  began: number | null = null,
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
    timezone: first("TZ")?.replace(/^:/, ""),
  } as const;
  return Object.entries(values).flatMap(([rule, value]) =>
    value === undefined || value === ""
      ? []
      : [{ rule: rule as keyof typeof values, value: isPathRule(rule) ? withoutSeparator(value) : value }]
  );
}

/** Removes trailing separators of any system; the root of a drive keeps its own. */
function withoutSeparator(value: string): string {
  return value.replace(/(?<=[^:/\\])[/\\]+$/, "");
}
