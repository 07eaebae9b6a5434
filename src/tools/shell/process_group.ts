/** A command and all that it started, as long as they stay in its process group. */
/** Interval between two looks at a group that is ending, in milliseconds. */
const POLL_MS = 15;
/** Time for the kernel to remove killed processes, in milliseconds. */
const KILLED_GRACE_MS = 500;

/**
 * Ends a group: SIGTERM, and SIGKILL to what is left after `graceMs`. Resolves when nothing of it runs any more.
 */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  if (!signalGroup(leader, "SIGTERM")) return;
  // A stopped process sees a signal only after it continues.
  signalGroup(leader, "SIGCONT");
  if (await isGoneWithin(leader, graceMs)) return;
  signalGroup(leader, "SIGKILL");
  await isGoneWithin(leader, KILLED_GRACE_MS);
}

/** Leaders of the groups that run now, and the directories that they were started in. */
const running = new Map<number, string>();

/** Remembers a group until the returned function is called, for {@linkcode killRunningGroups}. */
export function rememberGroup(leader: number, directory: string): () => void {
  running.set(leader, directory);
  return () => running.delete(leader);
}

/** Kills the groups that run in `root` or below, without waiting: for a program that is about to end at once. */
export function killRunningGroups(root = "/"): void {
  for (const [leader, directory] of running) {
    if (`${directory}/`.startsWith(root.replace(/\/*$/, "/"))) signalGroup(leader, "SIGKILL");
  }
}

/** True while a process of the group runs. A process that has ended and waits to be collected does not count. */
export function isGroupAlive(leader: number): boolean {
  try {
    globalThis.process.kill(-leader, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
  return Deno.build.os !== "linux" || hasRunningMember(leader);
}

/**
 * Looks in /proc: in a container without an init, orphans that have ended stay, and signals still find them. Returns
 * true if /proc cannot be read (from sources, Deno wants `--allow-all` for it).
 */
function hasRunningMember(leader: number): boolean {
  try {
    for (const { name } of Deno.readDirSync("/proc")) {
      if (/^\d+$/.test(name) && isRunningIn(leader, name)) return true;
    }
    return false;
  } catch {
    return true;
  }
}

function isRunningIn(leader: number, pid: string): boolean {
  const facts = processFacts(pid);
  return facts?.group === leader && facts.state !== "Z" && facts.state !== "X";
}

/** Reads state, parent and group of a process in /proc; `null` if it is gone. */
export function processFacts(
  pid: string | number,
): { readonly state: string; readonly parent: number; readonly group: number } | null {
  let stat: string;
  try {
    stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  } catch (error) {
    // It ended while the list was read.
    if (error instanceof Deno.errors.NotFound || isNoSuchProcess(error)) return null;
    throw error;
  }
  // The name in parentheses may hold anything; state, parent and group follow its last parenthesis.
  const [state = "", parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent), group: Number(group) };
}

function isNoSuchProcess(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ESRCH";
}

/** False when there is no such group. */
function signalGroup(leader: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(-leader, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || isNoSuchProcess(error)) return false;
    throw error;
  }
}

async function isGoneWithin(leader: number, milliseconds: number): Promise<boolean> {
  for (let waited = 0; waited < milliseconds; waited += POLL_MS) {
    if (!isGroupAlive(leader)) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return !isGroupAlive(leader);
}
