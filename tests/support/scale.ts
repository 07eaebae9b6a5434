/** Amount of work of tests that try many cases: a part that a gate can wait for, or, in `deno task soak`, all of it. */

/** True in `deno task soak`. */
export const IS_SOAK = Deno.env.get("REPRISE_SOAK") === "1";

/** The number for the gate, or the one for a soak. */
export function scaled(gate: number, soak: number): number {
  return IS_SOAK ? soak : gate;
}

/** Share of all random cases: a few in the suite that has to be quick, more in CI, all in a soak. */
const SHARE = IS_SOAK ? 1 : Deno.env.get("REPRISE_SUITE") === "fast" ? 1 / 20 : 1 / 5;

/** Returns the number of random cases that a property test tries. */
export function samples(all: number): number {
  return all * SHARE;
}

/** Size of a text that a search takes linear time for: a quarter in CI, where quadratic time still shows. */
export function textSize(all: number): number {
  return IS_SOAK ? all : all / 4;
}
