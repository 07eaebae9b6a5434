import { ReprError } from "../domain/errors.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { Ports } from "../domain/ports.ts";
import type { Fixture } from "../fixture/read.ts";

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

/**
 * The ports of a step of a played session that has no fixture, such as a fork: where `REPRISE_PLAY_CLOCK` names a
 * time, that seeds them. Otherwise `live` itself.
 *
 * @throws {ReprError} `usage` when the variable is no time.
 */
export function playedPorts<Live extends Ports>(live: Live): Live {
  const time = live.env("REPRISE_PLAY_CLOCK") ?? "";
  if (time === "") return live;
  const created = Date.parse(time);
  if (Number.isNaN(created)) {
    throw new ReprError(
      "usage",
      `Cannot start the clock at ${JSON.stringify(time)} (REPRISE_PLAY_CLOCK): it is no time`,
      { hint: "Give a time such as 2026-11-21T20:18:00.000Z, or unset the variable" },
    );
  }
  return fixturePorts(live, { created, seed: Number.parseInt(sha256Hex(time).slice(0, 8), 16) });
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
