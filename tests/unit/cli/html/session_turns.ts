import { type JsonObject, parsedObject } from "../../../../src/domain/json.ts";
import type { ShownTurn } from "../../../../src/store/read/show.ts";

const SUITE = new URL("../../../sessions/", import.meta.url).pathname;

/** The turns of each recorded session that ends without damage and was not forked. */
export function* readSessionTurns(): Generator<ShownTurn[]> {
  for (const test of Deno.readDirSync(SUITE)) {
    const expected = `${SUITE}${test.name}/expect`;
    for (const session of Deno.readDirSync(expected)) {
      const turns = [...Deno.readDirSync(`${expected}/${session.name}/turns`)].map(({ name }) => name).sort()
        .map((name) => shown(Deno.readTextFileSync(`${expected}/${session.name}/turns/${name}`)));
      yield turns;
    }
  }
}

/** A turn file as it is read for showing. */
export function shown(text: string): ShownTurn {
  const value = parsedObject(text) as JsonObject;
  const events = value.events as unknown as ShownTurn["events"];
  return { number: Number(value.turn), kind: String(value.kind), value, events, newer: false };
}
