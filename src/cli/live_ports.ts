import type { Clock, Ports } from "../domain/ports.ts";
import { denoFiles } from "../store/deno_files.ts";
import { hasOpenFile, processIdentity } from "../store/process_identity.ts";
import { loopbackDirect } from "../transport/proxy.ts";
import { readVariable, setVariables } from "./environment.ts";

/** The ports of an ordinary call: real time, real randomness, real network. */
export function livePorts(): Ports {
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
      return fetch(input, init);
    },
    workspacePin: (directory) => directory,
  };
}

let keptOut = false;

/** The runtime reads the variables when it sends its first request, and has no option that does without a proxy. */
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
