/**
 * Child processes. The first process of a container gets each orphan as a child, and has to collect it when it ends: else
 * it stays in the table of processes.
 */
import { processFacts } from "./process_group.ts";

/** Children of this process that the runtime collects. */
const own = new Set<number>();

/** Starts a program. Throws the runtime's errors. */
export function spawn(program: string, options: Deno.CommandOptions): Deno.ChildProcess {
  const child = new Deno.Command(program, options).spawn();
  own.add(child.pid);
  child.status.finally(() => own.delete(child.pid)).catch(() => {/* its caller gets the error */});
  return child;
}

/** Does not wait (`wait.h`). */
const WNOHANG = 1;

/** Collects orphans as they end, if this is the first process of a container. */
export function collectOrphans(): void {
  if (Deno.pid !== 1 || Deno.build.os !== "linux") return;
  const collect = collector();
  if (collect === null) return;
  Deno.addSignalListener("SIGCHLD", () => {
    for (const pid of endedChildren()) if (!own.has(pid)) collect(pid);
  });
}

/** The runtime waits for its own children only, and has no function for others. `null` for a system with another C library. */
function collector(): ((pid: number) => void) | null {
  try {
    const { symbols } = Deno.dlopen("libc.so.6", {
      waitpid: { parameters: ["i32", "pointer", "i32"], result: "i32" },
    });
    return (pid) => void symbols.waitpid(pid, null, WNOHANG);
  } catch {
    return null;
  }
}

function endedChildren(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    if (!Number.isInteger(pid)) return false;
    const facts = processFacts(pid);
    return facts?.parent === Deno.pid && facts.state === "Z";
  });
}
