/** Ports of a call that plays a fixture. */
import type { Ports } from "../../domain/ports.ts";
import type { Fixture } from "../../fixture/read.ts";

/** The workspace pin of a played run, in any directory. */
const FIXTURE_WORKSPACE = "/workspace";
/** Milliseconds that each reading of the clock adds to it. */
const TICK_MS = 1000;

/**
 * Ports seeded by a fixture: the same fixture gives the same times, ids and bytes in any directory on any machine.
 * `fetch` refuses, so nothing uses the network.
 */
export function fixturePorts<Live extends Ports>(
  live: Live,
  { created, seed }: Pick<Fixture, "created" | "seed">,
): Live {
  let now = created - TICK_MS;
  return {
    ...live,
    clock: {
      now: () => now += TICK_MS,
      monotonic: () => live.clock.monotonic(),
      sleep: () => Promise.resolve(),
    },
    random: seededRandom(seed),
    fetch: () => Promise.reject(new TypeError("A played fixture opens no connection")),
    workspacePin: () => FIXTURE_WORKSPACE,
  };
}

/** A small generator of numbers in [0, 1) from a 32-bit seed (splitmix32). */
function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  };
}
