/** `ls` lists what manifests say, and a session is named from below its workspace. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ending } from "../support/reprise.ts";
import { assertError, MODEL, ok, Place, readsThenAnswers } from "./harness.ts";

test("ls lists sessions, newest first: each with what its manifest says", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("older", "First   words\nof it");
  await place.session("newer");
  const listed = async (...args: readonly string[]) =>
    JSON.parse(await ok(place, ["ls", "--json", ...args])).sessions;
  const [first, { created_at, updated_at, bytes, ...second }] = await listed();
  assert.equal(first.id, "newer");
  assert.ok(bytes > 1000 && Date.parse(updated_at) >= Date.parse(created_at));
  assert.deepEqual(second, {
    ...{ id: "older", path: place.path("older"), title: "First words of it", turns: 5, runs: 1 },
    ...{ state: "completed", model: MODEL, provider: "openai", workspace: place.sandbox.workspace },
    usage: { input_tokens: 240, cached_tokens: 0, output_tokens: 80, reasoning_tokens: 32 },
  });
  assert.deepEqual(await listed("--limit", "1"), [first]);
  assert.match(await ok(place, ["ls"]), /^ID .*\nnewer .*completed.*\nolder .*First words of it\n$/);
  await ok(place, ["run", "-s", "older", "Again"]);
  assert.equal((await listed())[0].id, "older");
});

test("below the workspace of a session, @last is that session, and run -c and -s continue it in its workspace", async () => {
  await using place = new Place(readsThenAnswers);
  const { workspace, directory } = place.sandbox;
  const below = `${workspace}/src/deep`;
  Deno.mkdirSync(below, { recursive: true });
  await place.session("above");
  // A workspace that is no directory above, whatever its name begins with.
  Deno.mkdirSync(`${workspace}-2`);
  await place.call(["run", "--new", "-s", "beside", "Hi"], { cwd: `${workspace}-2` });
  assert.equal((await place.call(["run", "-c", "--dry-run", "Look"], { cwd: below })).code, 0);
  for (const named of [["-c"], ["-s", "abo"]]) {
    const called = await place.call(["run", ...named, "Look"], { cwd: below });
    assert.deepEqual([called.code, called.stderr], [0, `workspace ${workspace}\nsession above\n`]);
  }
  const turns = place.sandbox.turns("above");
  assert.deepEqual(new Set(turns.flatMap(({ pins }) => pins?.workspace ?? [])), new Set([workspace]));
  const read = turns.flatMap(({ events }) => events).findLast(({ type }) => type === "tool_result");
  assert.match(JSON.stringify(read), /alpha/);
  const json = await place.call(["run", "--json", "-c", "Look"], { cwd: below });
  assert.equal(ending(json).resume, `reprise run -s above -w ${workspace} "…"`);

  const last = async (cwd: string, env = {}) => {
    const { code, stdout } = await place.call(["show", "@last", "--json"], { cwd, env });
    return code === 0 ? JSON.parse(stdout).session : code;
  };
  const link = `${directory}/link`;
  Deno.symlinkSync(workspace, link);
  const HOME = `${workspace}/src`;
  assert.equal(await last(link), "above", "the same directory by another name");
  assert.equal(await last(below, { HOME }), 2, "no session above the user's home");
  await place.call(["run", "--new", "-s", "home", "Hi"], { cwd: HOME });
  assert.equal(await last(below, { HOME }), "home");
  assert.equal(await last(directory), 2, "a directory above the workspace");
  const none = await place.call(["run", "--json", "-c", "-w", below, "Hi"]);
  assertError(none, { code: "no_such_session", exit: 2 });
});
