import type { PriceTable } from "../domain/cost.ts";
import type { Clock, Ports } from "../domain/ports.ts";
import { RepriseError } from "../domain/errors.ts";
import { denoFiles, hasOpenFile, processIdentity } from "../store/deno_files.ts";
import { killRunningGroups } from "../tools/shell/process_group.ts";
import type { Tool } from "../tools/tool.ts";
import type { Send } from "../transport/http.ts";
import { createFetch } from "../transport/fetch.ts";
import { loopbackDirect } from "../transport/proxy.ts";
import { readVariable, setVariables } from "./environment.ts";
import { onStopSignals, type SignalPorts } from "./signals.ts";
import { stdout } from "./start/streams.ts";
import type { TextStream } from "./terminal.ts";

export type InputStream = Pick<typeof Deno.stdin, "isTerminal" | "read" | "readSync" | "readable">;

/** A terminal that is read key by key. */
export type Terminal = Pick<typeof Deno.stdin, "read" | "setRaw">;

/**
 * All inputs and outputs of the program in its process. One value, so that `test` only has to call the program with
 * another value (src/cli/test/step.ts).
 */
export interface ProgramPorts extends Ports, SignalPorts {
  readonly stdin: InputStream;
  /** Opens the terminal of the process: stdin, or past a stdin that is none; `null` if there is none. */
  readonly openTerminal: () => Terminal | null;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Receives each request before it is sent, or before a fixture answers it. */
  readonly wrapSend: (send: Send) => Send;
  /** Receives the result of a tool before the model does. */
  readonly wrapTool: (tool: Tool) => Tool;
  /** Loads the price list, which is not part of the program's own scripts. */
  readonly loadPriceTable: LoadPriceTable;
}

export type LoadPriceTable = () => Promise<PriceTable>;

const noPriceTable: LoadPriceTable = () => Promise.reject(new TypeError("This process has no price list"));

/** The ports of an ordinary call: this process, real time, real randomness, real network. */
export function livePorts(loadPriceTable = noPriceTable): ProgramPorts {
  const liveFetch = createFetch(readVariable);
  return {
    clock: liveClock,
    random: () => (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32,
    env: readVariable,
    process: {
      pid: Deno.pid,
      host: Deno.hostname(),
      user: Deno.uid(),
      identityOf: processIdentity,
      hasOpen: hasOpenFile,
    },
    files: denoFiles,
    fetch: (input, init) => {
      keepProxiesOut();
      return liveFetch(input, init);
    },
    workingDirectory,
    workspacePin: (directory) => directory,
    stdin: Deno.stdin,
    openTerminal() {
      if (Deno.stdin.isTerminal()) return Deno.stdin;
      try {
        return Deno.openSync("/dev/tty");
      } catch {
        return null;
      }
    },
    stdout,
    stderr: Deno.stderr,
    onStopSignals,
    exit(code) {
      killRunningGroups();
      Deno.exit(code);
    },
    wrapSend: (send) => send,
    wrapTool: (tool) => tool,
    loadPriceTable,
  };
}

/** @throws {RepriseError} `usage` if it is gone, or if its path is not UTF-8. */
function workingDirectory(): string {
  try {
    return Deno.cwd();
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound ? "it is gone" : "its path is not UTF-8";
    throw new RepriseError("usage", `Cannot use the working directory: ${why}`, {
      hint: "Change to another directory",
      cause,
    });
  }
}

let keptOut = false;

/** The runtime reads the proxy variables at its first request, and has no option to ignore them. */
function keepProxiesOut(): void {
  if (keptOut) return;
  keptOut = true;
  setVariables(loopbackDirect(readVariable));
}

const liveClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      signal?.addEventListener("abort", done, { once: true });
    }),
};
