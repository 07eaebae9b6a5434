/** Signals that ask the program to end. */
import type { ExitCode } from "../domain/errors.ts";
import type { Stop } from "../run/outcome.ts";
import type { ProgramPorts } from "./live_ports.ts";

/** The signals that ask a process to end, each with the exit code that reports it. */
export const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Partial<
  Record<Deno.Signal, ExitCode>
>;

/** A signal that asks a process to end. */
export type StopSignal = keyof typeof STOP_SIGNALS;

/** Milliseconds in which equal signals count once: `timeout` signals both a process and its group. */
const SAME_WITHIN_MS = 250;

/**
 * Calls `act` at each signal that would end the process, with the exit code that reports it. A signal that comes twice
 * at once counts once.
 *
 * @returns a function that undoes this.
 */
export function onStopSignals(act: (signal: StopSignal, exitCode: ExitCode) => void): () => void {
  const listeners = Object.entries(STOP_SIGNALS).map(([name, exitCode]) => {
    const signal = name as StopSignal;
    let actedAt = -Infinity;
    const listener = () => {
      const now = performance.now();
      if (now - actedAt < SAME_WITHIN_MS) return;
      actedAt = now;
      act(signal, exitCode);
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
  };
}

/** Sends a signal to a child that may have ended by now. */
export function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // The child has just ended.
  }
}

/** Milliseconds that a stopped run may take to close: far more than ending a command and saving a turn need. */
const LAST_RESORT_MS = 15_000;

/**
 * Turns signals and the total timeout into a stop of the run. A second signal kills what tools have
 * started and ends the process at once: files stay whole, and the next writer closes the run. So does a
 * stop that takes longer than {@linkcode LAST_RESORT_MS}.
 *
 * @returns a function that undoes this.
 */
export function stopOnSignals(ports: ProgramPorts, stop: Stop): () => void {
  const ignoreSignals = ports.onStopSignals((signal, exitCode) => {
    if (stop.state !== null) ports.exit(exitCode);
    else stop.request(signal);
  });
  const leftMs = Math.max(0, stop.endsAt - ports.clock.monotonic());
  const timer = setTimeout(() => stop.request("timeout"), leftMs);
  let lastResort: ReturnType<typeof setTimeout> | undefined;
  const onStop = () => {
    lastResort = setTimeout(() => ports.exit(stop.error?.exitCode ?? 1), LAST_RESORT_MS);
  };
  stop.signal.addEventListener("abort", onStop);
  return () => {
    clearTimeout(timer);
    clearTimeout(lastResort);
    stop.signal.removeEventListener("abort", onStop);
    ignoreSignals();
  };
}
