import type { Stop, StopCause } from "../run/stop.ts";
import { killRunningGroups } from "../tools/process_group.ts";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Partial<
  Record<StopCause, number>
>;

/**
 * Turns signals and the total timeout into a stop of the run. A second signal kills what tools have
 * started and ends the process at once: what is on disk stays whole, and the next writer closes the run.
 *
 * @returns a function that takes everything back.
 */
export function stopOnSignals(stop: Stop, timeoutMs: number): () => void {
  const listeners = Object.entries(SIGNALS).map(([name, exitCode]) => {
    const signal = name as keyof typeof SIGNALS;
    const listener = () => {
      if (stop.state !== null) {
        killRunningGroups();
        Deno.exit(exitCode);
      }
      stop.request(signal);
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  const timer = setTimeout(() => stop.request("timeout"), timeoutMs);
  return () => {
    clearTimeout(timer);
    for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
  };
}
