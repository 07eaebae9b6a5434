/**
 * How many random cases a property test tries: one in twenty in the gate, so that it stays quick, and all where
 * `REPRISE_SAMPLES` is `all`, as `deno task fuzz` says.
 */
export function samples(all: number): number {
  return Deno.env.get("REPRISE_SAMPLES") === "all" ? all : all / 20;
}
