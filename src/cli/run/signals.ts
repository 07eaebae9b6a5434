import type { Stop } from "../../run/stop.ts";
import type { ProgramPorts } from "../live_ports.ts";

/** How long a stopped run may take to close, in milliseconds: far more than ending a command and saving a turn need. */
const LAST_RESORT_MS = 15_000;

/**
 * Turns signals and the total timeout into a stop of the run. A second signal kills what tools have
 * started and ends the process at once: what is on disk stays whole, and the next writer closes the run. So does a
 * stop that is not done after a while, whatever it waits for.
 *
 * @returns a function that takes everything back.
 */
export function stopOnSignals(ports: ProgramPorts, stop: Stop, timeoutMs: number): () => void {
  const ignoreSignals = ports.onStopSignals((signal, exitCode) => {
    if (stop.state !== null) ports.exit(exitCode);
    else stop.request(signal);
  });
  const timer = setTimeout(() => stop.request("timeout"), timeoutMs);
  let lastResort: ReturnType<typeof setTimeout> | undefined;
  const onStop = () => {
    lastResort = setTimeout(() => ports.exit(stop.error?.exitCode ?? 1), LAST_RESORT_MS);
  };
  stop.signal.addEventListener("abort", onStop, { once: true });
  return () => {
    clearTimeout(timer);
    clearTimeout(lastResort);
    stop.signal.removeEventListener("abort", onStop);
    ignoreSignals();
  };
}
