import type { RunState } from "../domain/event.ts";
import { type ErrorCode, RepriseError } from "../domain/errors.ts";

/** Why a run is stopped from outside. */
export type StopCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "timeout" | "broken_pipe";

const STOPS: Readonly<
  Record<StopCause, { readonly state: RunState; readonly code: ErrorCode; readonly message: string }>
> = {
  SIGINT: { state: "interrupted", code: "interrupted", message: "Interrupted by SIGINT" },
  SIGTERM: { state: "interrupted", code: "terminated", message: "Stopped by SIGTERM" },
  SIGHUP: { state: "interrupted", code: "hung_up", message: "Stopped by SIGHUP" },
  timeout: { state: "timed_out", code: "timed_out", message: "Stopped: the run took longer than --timeout" },
  broken_pipe: { state: "interrupted", code: "broken_pipe", message: "Stopped: nobody reads the output" },
};

/** The stop of one run: asked for at most once, seen everywhere through `signal`. */
export class Stop {
  readonly #controller = new AbortController();
  #cause: StopCause | null = null;

  /** Aborts when the run has to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Asks the run to end; only the first cause counts. */
  request(cause: StopCause): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    this.#controller.abort(this.error);
  }

  /** The state that the run ends in, or `null` while nobody asked. */
  get state(): RunState | null {
    return this.#cause === null ? null : STOPS[this.#cause].state;
  }

  /** What to report, or `null` while nobody asked. */
  get error(): RepriseError | null {
    if (this.#cause === null) return null;
    const { code, message } = STOPS[this.#cause];
    return new RepriseError(code, message);
  }
}
