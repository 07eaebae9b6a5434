/**
 * Amount of work of the long harnesses: a part that a gate can wait for, or, in `deno task soak`, all of it.
 *
 * @module
 */

/** True in `deno task soak`. */
export const IS_SOAK = Deno.env.get("REPRISE_SOAK") === "1";

/** The number for the gate, or the one for a soak. */
export function scaled(gate: number, soak: number): number {
  return IS_SOAK ? soak : gate;
}
