/**
 * Returns the number of random cases that a property test tries: one in twenty in the gate, which has to be quick,
 * and all if `REPRISE_SAMPLES` is `all`, as `deno task fuzz` sets it.
 */
export function samples(all: number): number {
  return Deno.env.get("REPRISE_SAMPLES") === "all" ? all : all / 20;
}
