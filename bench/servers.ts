/**
 * Servers under measurement, each a process of its own.
 *
 * @module
 */
import { RepriseError } from "../src/domain/errors.ts";
import type { Start } from "./programs.ts";

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly pid: number;
  /** Sends SIGTERM and waits; returns the exit code. */
  stop(): Promise<number>;
}

/** Longest time until a server listens. */
const START_MS = 20_000;

/**
 * Starts a server; `originOf` finds its origin in a line that it prints, on either stream.
 *
 * @throws {RepriseError} `unexpected` when it ends first, or says nothing in twenty seconds.
 */
export async function startServer(
  { program, args, cwd, env }: Start,
  originOf: (line: string) => string | undefined,
): Promise<RunningServer> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { clearEnv: true, env: { ...env } }),
  }).spawn();
  const { promise: listens, resolve } = Promise.withResolvers<string>();
  const printed: string[] = [];
  const drain = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const origin = originOf(line);
        if (origin !== undefined) resolve(origin);
        else if (printed.length < 20) printed.push(line);
      }
    }
  };
  const drained = Promise.all([drain(child.stdout), drain(child.stderr)]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => timer = setTimeout(done, START_MS, null));
  const origin = await Promise.race([listens, drained.then(() => null), late]);
  clearTimeout(timer);
  const stop = async () => {
    try {
      child.kill("SIGTERM");
    } catch {
      // It ended by itself; its code says how.
    }
    await drained;
    return (await child.status).code;
  };
  if (origin === null) {
    await stop();
    throw new RepriseError(
      "unexpected",
      `Cannot start "${[program, ...args.slice(0, 4)].join(" ")}": it did not listen\n${printed.join("\n")}`,
    );
  }
  return { origin, pid: child.pid, stop };
}

/** Starts a verb of reprise that prints `{"type":"ready","port":N}` with `--json`. */
export function startReprise(binary: string, args: readonly string[]): Promise<RunningServer> {
  return startServer({ program: binary, args: [...args, "--json", "--port", "0"] }, (line) => {
    const port = /^\{"type":"ready".*"port":(\d+)/.exec(line)?.[1];
    return port === undefined ? undefined : `http://127.0.0.1:${port}`;
  });
}

/** Starts the compiled `bench/bare_server.ts`, which answers with the bytes of `body`. */
export function startBare(
  program: string,
  body: string,
  delivery: "whole" | "events",
): Promise<RunningServer> {
  return startServer({ program, args: [body, delivery] }, (line) => {
    const port = /"port":(\d+)/.exec(line)?.[1];
    return port === undefined ? undefined : `http://127.0.0.1:${port}`;
  });
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
