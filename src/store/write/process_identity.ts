/**
 * Identity that tells a process from every other that has had its number, as Linux shows it in `/proc`.
 * Systems without `/proc` show nothing here.
 *
 * @module
 */
import type { ProcessIdentity } from "../../domain/ports.ts";

/** Index of the start time in `/proc/PID/stat` after the name: field 22 of all (proc_pid_stat(5)). */
const START_TIME_BEHIND_NAME = 19;

/** Identity of a process of this PID namespace; `null` if it does not run, or if `/proc` does not show it. */
export function processIdentity(pid: number): ProcessIdentity | null {
  if (!showsOurNamespace()) return null;
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    // The name stands in parentheses and may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const start = Number(fields[START_TIME_BEHIND_NAME]);
    if (!Number.isSafeInteger(start)) return null;
    return {
      pid_namespace: Deno.readLinkSync("/proc/self/ns/pid"),
      boot_id: Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim(),
      start_time: start,
    };
  } catch {
    return null;
  }
}

/** True if `/proc` shows that the process has the file at `path` open. */
export function hasOpenFile(pid: number, path: string): boolean {
  if (!showsOurNamespace()) return false;
  try {
    const { dev, ino } = Deno.statSync(path);
    for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
      const open = factsOf(`/proc/${pid}/fd/${name}`);
      if (open?.dev === dev && open.ino === ino) return true;
    }
  } catch {
    // The process ended, or belongs to another user.
  }
  return false;
}

/** False if `/proc` is missing, or belongs to another PID namespace: its numbers are then not ours. */
function showsOurNamespace(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    return Deno.readLinkSync("/proc/self") === String(Deno.pid);
  } catch {
    return false;
  }
}

function factsOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}
