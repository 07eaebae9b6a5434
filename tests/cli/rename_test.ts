/** `rename`: a title that lasts, and changes nothing else. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { assertError, begun, holdLock, ok, Place, readsThenAnswers } from "./harness.ts";

/** A place with the sessions `old` and `new`. */
const two = begun(readsThenAnswers, async (place) => {
  for (const id of ["old", "new"]) await place.session(id);
});

async function listed(place: Place): Promise<unknown[]> {
  const { sessions } = JSON.parse(await ok(place, ["ls", "--json"]));
  return sessions.map(({ id, state, title }: Json) => [id, state, title]);
}

const NEW = ["new", "completed", "Look at a.txt"];

test("rename titles a session: ls, exports and a rebuilt manifest have the title, and the next request is the same", async () => {
  await using place = await two();
  const next = ["run", "-s", "old", "--dry-run", "--body", "Go on"];
  const input = await ok(place, next);
  assert.equal(
    await ok(place, ["rename", "old", "  Fix\tthe  CI build "]),
    'old: titled "Fix the CI build"\n',
  );
  assert.equal(await ok(place, next), input);
  const titled = ["old", "completed", "Fix the CI build"];
  assert.deepEqual(await listed(place), [NEW, titled], "a title is no use of the session");
  Deno.removeSync(`${place.path("old")}/manifest.json`);
  assert.deepEqual(await listed(place), [NEW, titled]);
  await ok(place, ["export", "old", "old.jsonl"]);
  await ok(place, ["rm", "old", "--yes"]);
  await ok(place, ["import", "old.jsonl"]);
  await ok(place, ["run", "-s", "old", "Go on"]);
  assert.deepEqual(await listed(place), [titled, NEW]);
  assert.match(await ok(place, ["show", "old"]), /title: Fix the CI build/);
  await ok(place, ["fsck", "old"]);
});

test("rename ends no open run", async () => {
  await using place = await two();
  // Without its last turn the run is open, as after a kill.
  Deno.removeSync(place.turnPath("new", 5));
  Deno.removeSync(`${place.path("new")}/manifest.json`);
  await ok(place, ["rename", "new", "Newest"]);
  assert.deepEqual((await listed(place))[0], ["new", "killed", "Newest"]);
  await ok(place, ["run", "-s", "new"]);
  await ok(place, ["fsck", "--all"]);
});

test("rename writes nothing for the same title, with --dry-run, and for a title that cannot be used", async () => {
  await using place = await two();
  await ok(place, ["rename", "new", "One"]);
  const turns = place.sandbox.turnNames("new");
  const same = JSON.parse(await ok(place, ["rename", "new", "One", "--json"]));
  assert.deepEqual(same, { session: "new", title: "One", before: "One", changed: false, dry_run: false });
  const dry = JSON.parse(await ok(place, ["rename", "new", "Two", "--dry-run", "--json"]));
  assert.deepEqual([dry.title, dry.before, dry.changes], ["Two", "One", [
    { action: "append", what: "turn", name: "new" },
  ]]);
  for (const title of ["", " \n", "x".repeat(81)]) {
    assertError(await place.call(["rename", "new", title, "--json"]), { code: "usage", exit: 2 });
  }
  using _held = holdLock(`${place.path("new")}/lock`);
  assertError(await place.call(["rename", "new", "Two", "--json"]), { code: "session_locked", exit: 5 });
  assert.deepEqual(place.sandbox.turnNames("new"), turns);
});
