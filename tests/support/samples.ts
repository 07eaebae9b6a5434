/**
 * Returns the number of random cases that a property test tries: one in twenty in the gate, which has to be quick,
 * and all if `REPRISE_SAMPLES` is `all`, as `deno task unit` sets it.
 */
export function samples(all: number): number {
  return Deno.env.get("REPRISE_SAMPLES") === "all" ? all : all / 20;
}

/** Size of a text that a search takes linear time for: a quarter in the gate, where quadratic time still shows. */
export function textSize(all: number): number {
  return samples(all) === all ? all : all / 4;
}
