/** Servers under measurement, each a process of its own. */
import { commandOf, type Start } from "./programs.ts";

/** A server that listens; disposing of it ends it. */
export interface RunningServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly pid: number;
}

/** The line of reprise and of the bare server, and the one of aimock. */
const LISTENS = /(?:^\{"type":"ready".*"port":|listening on http:\/\/127\.0\.0\.1:)(\d+)\D/m;

/**
 * Starts a server and waits until it prints that it listens.
 *
 * @throws {Error} when it ends first.
 */
export async function startServer(start: Start): Promise<RunningServer> {
  const child = commandOf(start, "null").spawn();
  const { promise: listens, resolve } = Promise.withResolvers<string>();
  let printed = "";
  const drained = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      if (printed.length < 10_000) printed += text;
      const port = LISTENS.exec(printed)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    }
  })();
  const origin = await Promise.race([listens, drained]);
  if (origin === undefined) {
    await child.status;
    throw new Error(`Cannot start "${[start.program, ...start.args.slice(0, 4)].join(" ")}"\n${printed}`);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    await drained;
    await child.status;
  };
  return { origin, pid: child.pid, [Symbol.asyncDispose]: stop };
}

/** Starts `reprise serve` or `reprise record` on a free port. */
export function startReprise(binary: string, ...args: readonly string[]): Promise<RunningServer> {
  return startServer({ program: binary, args: [...args, "--json", "--port", "0"] });
}

/** Most memory that a process ever held, in bytes; `null` where the system does not tell. */
export function peakMemory(pid: number): number | null {
  return memoryOf(pid, "VmHWM");
}

/** Memory that a process holds now, in bytes; `null` where the system does not tell. */
export function memoryNow(pid: number): number | null {
  return memoryOf(pid, "VmRSS");
}

function memoryOf(pid: number, field: "VmHWM" | "VmRSS"): number | null {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
