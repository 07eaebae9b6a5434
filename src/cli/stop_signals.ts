import type { ExitCode } from "../domain/errors.ts";

/** The signals that ask a process to end, and the exit codes that say they did. */
const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Partial<
  Record<Deno.Signal, ExitCode>
>;

/** A signal that asks a process to end. */
export type StopSignal = keyof typeof STOP_SIGNALS;

/**
 * Calls `act` at each signal that would end the process, with the exit code that tells of it.
 *
 * @returns a function that takes it back.
 */
export function onStopSignals(act: (signal: StopSignal, exitCode: ExitCode) => void): () => void {
  const listeners = Object.entries(STOP_SIGNALS).map(([name, exitCode]) => {
    const signal = name as StopSignal;
    const listener = () => act(signal, exitCode);
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
  };
}
