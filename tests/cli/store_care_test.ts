/** Sessions whose files are moved or lost while the program uses them. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { type Json, textsBelow } from "../support/files.ts";
import { events } from "../support/reprise.ts";
import { assertError, HELLO, ok, Place, READS_A, readsThenAnswers } from "./harness.ts";

test("a session that is replaced during a run stays apart from it: the run ends as diverged (exit 5), and the session that took the name is unchanged", async () => {
  let requests = 0;
  await using place = new Place(({ input }) => {
    // The answer to the first request of the run is under way: its turn would be the next number of either.
    if (++requests === 3) {
      Deno.renameSync(place.path("s"), `${place.sandbox.home}/moved`);
      Deno.renameSync(place.path("other"), place.path("s"));
    }
    return input.at(-1)?.type === "message" ? READS_A : HELLO;
  });
  await place.session("s");
  await ok(place, ["export", "s", "s.jsonl"]);
  Deno.renameSync(place.path("s"), `${place.sandbox.home}/first`);
  await ok(place, ["import", "s.jsonl"]);
  Deno.renameSync(place.path("s"), place.path("other"));
  Deno.renameSync(`${place.sandbox.home}/first`, place.path("s"));
  const before = textsBelow(place.path("other"), "lock");
  const run = await place.call(["run", "--json", "-s", "s", "go on"]);
  const expected = { code: "session_diverged", exit: 5, says: /moved or replaced/, hint: /show s/ };
  assertError(run, expected);
  assert.equal((events(run) as Json[]).at(-1)?.state, "diverged");
  assert.deepEqual(textsBelow(place.path("s"), "lock"), before);
  await ok(place, ["fsck", "s"]);
});

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
