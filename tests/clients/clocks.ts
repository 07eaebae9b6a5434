/** Clocks for tests of waits. */
import type { Clock } from "../../src/domain/ports.ts";

/** A clock that sleeps in no time and remembers for how long it was asked to. */
export interface FakeClock extends Clock {
  readonly slept: readonly number[];
}

/** A {@linkcode FakeClock} whose wall time starts at `now`. */
export function fakeClock(now = Date.UTC(2026, 10, 21)): FakeClock {
  const slept: number[] = [];
  let passed = 0;
  return {
    slept,
    now: () => now + passed,
    monotonic: () => passed,
    sleep(milliseconds) {
      slept.push(milliseconds);
      passed += milliseconds;
      return Promise.resolve();
    },
  };
}

/** The machine's clock; a sleep leaves no timer when it is cut short. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      signal?.addEventListener("abort", wake);
      if (signal?.aborted) wake();
    });
  },
};
