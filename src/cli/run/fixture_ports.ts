import type { Ports } from "../../domain/ports.ts";
import { type Fixture, playable } from "../../fixture/read.ts";
import type { Send } from "../../transport/http.ts";
import { createPlayer } from "../../transport/player.ts";

/** What a replayed run pins as its workspace, wherever it runs. */
export const FIXTURE_WORKSPACE = "/workspace";
/** How far each look at the clock moves it, in milliseconds. */
const TICK_MS = 1000;

/**
 * Ports seeded by a fixture: the same fixture gives the same times, ids and bytes in any directory on any
 * machine. No network: `fetch` refuses.
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

/** Answers requests with what a fixture holds. */
export function fixtureSend({ clock }: Pick<Ports, "clock">, { exchanges }: Fixture): Send {
  return createPlayer(exchanges.map(playable), { clock });
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
