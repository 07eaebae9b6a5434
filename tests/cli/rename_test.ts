/** `rename`: a title that lasts, and changes nothing else. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, holdLock, Place, readsThenAnswers } from "./harness.ts";
import { answer, message } from "../support/scripted_api/responses.ts";

async function titleOf(place: Place, id = "a"): Promise<string> {
  const { sessions } = JSON.parse((await place.call(["ls", "--json"])).stdout);
  return sessions.find((session: { id: string }) => session.id === id)?.title;
}

test("rename titles a session: ls, exports and a rebuilt manifest have the title, and the next request is the same", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("a");
  const input = (await place.call(["run", "-s", "a", "--dry-run", "--body", "Go on"])).stdout;
  const called = await place.call(["rename", "a", "  Fix\tthe  CI build "]);
  assert.deepEqual([called.code, called.stdout], [0, 'a: titled "Fix the CI build"\n']);
  assert.equal(await titleOf(place), "Fix the CI build");
  assert.equal((await place.call(["run", "-s", "a", "--dry-run", "--body", "Go on"])).stdout, input);
  assert.equal((await place.call(["fsck", "a"])).code, 0);
  Deno.removeSync(`${place.path("a")}/manifest.json`);
  assert.equal(await titleOf(place), "Fix the CI build");
  const file = `${place.sandbox.directory}/a.jsonl`;
  await place.call(["export", "a", file]);
  await place.call(["rm", "a", "--yes"]);
  await place.call(["import", file]);
  assert.equal(await titleOf(place), "Fix the CI build");
  const next = await place.call(["run", "-s", "a", "Go on"]);
  assert.equal(next.code, 0, next.stderr);
  assert.equal(await titleOf(place), "Fix the CI build");
  assert.match((await place.call(["show", "a"])).stdout, /title: Fix the CI build/);
});

test("rename does not make an old session the latest, and ends no open run", async () => {
  await using place = new Place([
    answer([message("Hello.")]),
    answer([message("Hello.")]),
    answer([message("Hi")]),
  ]);
  await place.session("old");
  await place.session("new");
  await place.call(["rename", "old", "Oldest"]);
  const shown = JSON.parse((await place.call(["show", "@last", "--json"])).stdout);
  assert.equal(shown.session, "new");
  // Without its last turn the run is open, as after a kill.
  const last = place.sandbox.turnNames("new").at(-1);
  Deno.removeSync(`${place.path("new")}/turns/${last}`);
  Deno.removeSync(`${place.path("new")}/manifest.json`);
  assert.equal((await place.call(["rename", "new", "Newest"])).code, 0);
  const { sessions } = JSON.parse((await place.call(["ls", "--json"])).stdout);
  assert.deepEqual(sessions.map(({ id, state, title }: Record<string, string>) => [id, state, title]), [
    ["new", "killed", "Newest"],
    ["old", "completed", "Oldest"],
  ]);
  const continued = await place.call(["run", "-s", "new"]);
  assert.equal(continued.code, 0, continued.stderr);
  assert.equal((await place.call(["fsck", "--all"])).code, 0);
});

test("rename writes nothing for the same title, with --dry-run, and for a title that cannot be used", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("a");
  await place.call(["rename", "a", "One"]);
  const turns = place.sandbox.turnNames("a");
  const json = async (...args: string[]) =>
    JSON.parse((await place.call(["rename", "a", ...args, "--json"])).stdout);
  assert.deepEqual(await json("One"), {
    session: "a",
    title: "One",
    before: "One",
    changed: false,
    dry_run: false,
  });
  assert.deepEqual(await json("Two", "--dry-run"), {
    session: "a",
    title: "Two",
    before: "One",
    changed: false,
    type: "dry_run",
    dry_run: true,
    verb: "rename",
    changes: [{ action: "append", what: "turn", name: "a" }],
  });
  for (const title of ["", " \n", "x".repeat(81)]) {
    assertError(await place.call(["rename", "a", title, "--json"]), { code: "usage", exit: 2 });
  }
  assertError(await place.call(["rename", "nowhere", "Two", "--json"]), { code: "no_such_session", exit: 2 });
  using _held = holdLock(`${place.path("a")}/lock`);
  assertError(await place.call(["rename", "a", "Two", "--json"]), { code: "session_locked", exit: 5 });
  assert.deepEqual(place.sandbox.turnNames("a"), turns);
});
