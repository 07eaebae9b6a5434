/**
 * One watchdog for a whole exchange: a timer for each chunk would cost more than reading it.
 *
 * @module
 */
import type { Clock } from "../domain/ports.ts";
import type { RepriseError } from "../domain/errors.ts";

/** A limit on how long something that is waited for may take. */
export interface Deadline {
  /** From now on something is waited for, at most `milliseconds` long. `error` says what went wrong if it never comes. */
  expect(milliseconds: number, error: () => RepriseError): void;
  /** It came. */
  met(): void;
  /** Ends the watchdog; it leaves no timer behind. */
  stop(): void;
}

/** Starts a watchdog that calls `onMissed` at most once. */
export function startDeadline(clock: Clock, onMissed: (error: RepriseError) => void): Deadline {
  let waiting: { readonly until: number; readonly error: () => RepriseError } | undefined;
  let nap: { readonly until: number; readonly cut: AbortController } | undefined;
  let stopped = false;

  async function watch(): Promise<void> {
    while (waiting !== undefined && !stopped) {
      const { until, error } = waiting;
      const left = until - clock.monotonic();
      if (left <= 0) {
        stopped = true;
        onMissed(error());
        return;
      }
      nap = { until, cut: new AbortController() };
      await clock.sleep(left, nap.cut.signal);
      nap = undefined;
    }
  }

  return {
    expect(milliseconds, error) {
      waiting = { until: clock.monotonic() + milliseconds, error };
      // A running nap that ends before the new limit looks at it then; only a longer one must be cut short.
      if (nap === undefined) void watch();
      else if (nap.until > waiting.until) nap.cut.abort();
    },
    met() {
      waiting = undefined;
    },
    stop() {
      stopped = true;
      waiting = undefined;
      nap?.cut.abort();
    },
  };
}
