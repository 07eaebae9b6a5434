import { onStopSignals } from "../stop_signals.ts";

/** The ordinary end of a server. */
export interface OrdinaryEnd extends Disposable {
  /** Resolves with 0 once a signal came, or {@linkcode OrdinaryEnd.ask} was called. */
  readonly came: Promise<0>;
  ask(): void;
}

/**
 * Listens for SIGINT, SIGTERM and SIGHUP from now on, which are the ordinary end of a server: so before anybody is told
 * that it is ready. A second signal ends the process at once: what is on disk is whole.
 */
export function ordinaryEnd(): OrdinaryEnd {
  const { promise, resolve } = Promise.withResolvers<0>();
  let asked = false;
  const ignoreSignals = onStopSignals((_signal, exitCode) => {
    if (asked) Deno.exit(exitCode);
    asked = true;
    resolve(0);
  });
  return {
    came: promise,
    ask: () => resolve(0),
    [Symbol.dispose]: ignoreSignals,
  };
}
