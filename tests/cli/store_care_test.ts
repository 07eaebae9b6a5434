/** Sessions whose files are moved or lost while the program uses them. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, ok, Place, readsThenAnswers } from "./harness.ts";

test("lost instructions are replaced: by those of a new session, which run, input and explain say, until a run pins others", async () => {
  await using place = new Place(readsThenAnswers);
  await ok(place, ["run", "--new", "-s", "s", "--instructions", "Be brief.", "Look"]);
  const { instructions } = place.sandbox.turns("s")[0].pins;
  Deno.removeSync(`${place.path("s")}/blobs/${instructions}`);
  const refused = await place.call(["run", "-s", "s", "--json", "go on"]);
  assertError(refused, { code: "session_damaged", exit: 12, hint: /repair s/ });
  const { lost, lost_blobs } = JSON.parse(await ok(place, ["repair", "s", "--json"]));
  assert.deepEqual(lost_blobs, [instructions]);
  const instead = "a run without --instructions starts with the default ones";
  assert.deepEqual(lost, [{ sha256: instructions, turn: 1, by: "pins.instructions", instead }]);
  const input = await place.call(["run", "-s", "s", "--dry-run", "--body", "go on"]);
  assert.match(input.stderr, /the instructions of session "s" are lost; the default ones replace them/);
  const fresh = JSON.parse(await ok(place, ["run", "--new", "-s", "n", "--dry-run", "--body", "go on"]));
  assert.equal(JSON.parse(input.stdout).instructions, fresh.instructions);
  const next = ["run", "-s", "s", "--json", "go on"];
  assert.equal((await ok(place, next)).split("instructions_lost").length, 2);
  assert.doesNotMatch(await ok(place, next), /instructions_lost/);
});
