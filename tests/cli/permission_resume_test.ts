/** Denials are the only part of a posture that a session keeps. Nothing on disk allows anything. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ending } from "../support/reprise.ts";
import { Place, reseal } from "./harness.ts";
import { calling, decisions, EVERYTHING, names, NEW_RUN, offered } from "./changes.ts";

const READING = ["read_file", "list_files", "search_text"];

test("permissions end with the run: a session's files never allow anything: pins that were edited and sealed again to allow everything allow nothing", async () => {
  await using place = new Place(calling(...EVERYTHING));
  await place.call([...NEW_RUN, "Go"]);
  widenPins(place);
  assert.deepEqual(place.sandbox.turns("s")[0].pins.permissions, [
    "read",
    "allow shell",
    "allow write",
    "ask",
  ]);
  const sound = await place.call(["fsck", "s", "--json"]);
  assert.equal(sound.code, 0, `the edited session is sound, so that its pins are read: ${sound.stdout}`);
  const next = await place.call(["run", "--json", "-s", "s", "Again"]);
  assert.equal(next.code, 0, next.stdout);
  assert.equal(ending(next).denials, 3);
  assert.deepEqual(
    decisions(place).slice(3).map((text) => text.split(", ")[1]),
    Array(3).fill("not_allowed"),
  );
  assert.deepEqual(names(place), ["a.txt"]);
  assert.deepEqual(offered(place, place.server.requests.length), READING);
});

test("permissions end with the run: a session's files never allow anything: unreadable pins are a refusal, not a guess", async () => {
  await using place = new Place(calling(...EVERYTHING));
  await place.call([...NEW_RUN, "Go"]);
  widenPins(place, '"permissions":["read","allow-all"]');
  const next = await place.call(["run", "--json", "-s", "s", "--allow", "write", "Again"]);
  assert.equal(next.code, 2, next.stdout);
  assert.deepEqual(names(place), ["a.txt"]);
});

/** Puts other permissions into every pin of session `s`, with every sum and link of the chain made to fit. */
function widenPins(place: Place, wide = '"permissions":["read","allow shell","allow write","ask"]'): void {
  const sums: string[] = [];
  for (const [index, turn] of place.sandbox.turns("s").entries()) {
    const path = place.turnPath("s", index + 1);
    const changed = (text: string) =>
      sums.reduce((each, sum, at) => each.replaceAll(sum, String(place.sandbox.turns("s")[at].sum)), text)
        .replace('"permissions":["read"]', wide);
    reseal(path, changed);
    sums.push(turn.sum);
  }
  // A cache: the next run builds it again from the turns.
  Deno.removeSync(`${place.path("s")}/manifest.json`);
}
