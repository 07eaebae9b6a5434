/** Signals that ask the program to end. */
import type { ExitCode } from "../domain/errors.ts";
import type { Clock } from "../domain/ports.ts";
import type { Stop } from "../run/outcome.ts";

/** The signals that ask a process to end, each with the exit code that reports it. */
export const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Partial<
  Record<Deno.Signal, ExitCode>
>;

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

/** The parts of a program's ports that listen for signals and end it. */
export interface SignalPorts {
  readonly onStopSignals: typeof onStopSignals;
  /** Ends the program and the commands of its tools at once. Callers return: in a test, only the step ends. */
  readonly exit: (code: number) => void;
}

/** Sends a signal to a child that may have ended by now. */
export function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // The child has just ended.
  }
}

/** Milliseconds from a stop to the end of the process: more than ending a command and saving a turn need. */
const LAST_RESORT_MS = 4500;

interface Ending extends Disposable {
  /** Begins the end by another cause than a signal: after {@linkcode LAST_RESORT_MS}, the process ends all the same. */
  begin(exitCode: ExitCode): void;
}

/**
 * Calls `act` at the first signal that asks for an end. A second signal ends the process at once, and so does an end that
 * takes too long: files on disk are whole at any time.
 */
export function endOnSignals(
  { onStopSignals, exit }: SignalPorts,
  act: (signal: StopSignal, exitCode: ExitCode) => void,
): Ending {
  let lastResort: ReturnType<typeof setTimeout> | undefined;
  const begin = (exitCode: ExitCode) => {
    lastResort ??= setTimeout(() => exit(exitCode), LAST_RESORT_MS);
  };
  const ignoreSignals = onStopSignals((signal, exitCode) => {
    if (lastResort !== undefined) return exit(exitCode);
    begin(exitCode);
    act(signal, exitCode);
  });
  return {
    begin,
    [Symbol.dispose]() {
      clearTimeout(lastResort);
      ignoreSignals();
    },
  };
}

/** Early end of a verb that works off a list: by a signal, or because its output is no longer read. */
interface EarlyEnd extends Disposable {
  /** Aborted at the end, with the reason as an error. */
  readonly stop: AbortController;
  /** Exit code of the verb; `null` before the end. */
  readonly exitCode: ExitCode | null;
}

/** Listens for what ends a verb early; the first cause counts. */
export function endEarly(
  ports: SignalPorts,
  output: { readonly closedExitCode: ExitCode; onClosed(act: () => void): void },
): EarlyEnd {
  const stop = new AbortController();
  let ended: ExitCode | null = null;
  const end = (exitCode: ExitCode, why: string) => {
    ended ??= exitCode;
    stop.abort(new Error(why));
  };
  output.onClosed(() => end(output.closedExitCode, "the output is no longer read"));
  const ending = endOnSignals(ports, (signal, exitCode) => end(exitCode, `stopped by ${signal}`));
  return {
    stop,
    get exitCode() {
      return ended;
    },
    [Symbol.dispose]: () => ending[Symbol.dispose](),
  };
}

/**
 * Turns signals and the total timeout into a stop of the run, as {@linkcode endOnSignals} does. The next writer closes a
 * run whose process had to end.
 *
 * @returns a function that undoes this.
 */
export function stopOnSignals(ports: SignalPorts & { readonly clock: Clock }, stop: Stop): () => void {
  const ending = endOnSignals(ports, (signal) => stop.request(signal));
  const leftMs = Math.max(0, stop.endsAt - ports.clock.monotonic());
  const timer = setTimeout(() => stop.request("timeout"), leftMs);
  const onStop = () => ending.begin(stop.error?.exitCode ?? 1);
  stop.signal.addEventListener("abort", onStop);
  return () => {
    clearTimeout(timer);
    stop.signal.removeEventListener("abort", onStop);
    ending[Symbol.dispose]();
  };
}
