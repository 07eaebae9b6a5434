import type { ExitCode } from "../domain/errors.ts";

/** The signals that ask a process to end, and the exit codes that say they did. */
export const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Partial<
  Record<Deno.Signal, ExitCode>
>;

/** A signal that asks a process to end. */
export type StopSignal = keyof typeof STOP_SIGNALS;

/** `timeout` sends a signal to a process and to its group: what comes again so soon is the same one, in milliseconds. */
const SAME_WITHIN_MS = 250;

/**
 * Calls `act` at each signal that would end the process, with the exit code that tells of it. One that comes twice at
 * once counts once.
 *
 * @returns a function that takes it back.
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
    // It ended at this very moment.
  }
}
