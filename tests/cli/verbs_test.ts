/** `ls` lists what manifests say, and a session is named from below its workspace. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ending } from "../support/reprise.ts";
import { assertError, Place, readsThenAnswers } from "./harness.ts";

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
