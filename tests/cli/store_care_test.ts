/** What the program does when a session's files move, vanish or are lost under it. */
import assert from "node:assert/strict";
import { events } from "../support/reprise.ts";
import { assertError, HELLO, Place, READS_A, together } from "./harness.ts";

/** Turn files and manifest of a session, by name. */
function filesOf(directory: string): Record<string, string> {
  const names = ["manifest.json"];
  for (const { name } of Deno.readDirSync(`${directory}/turns`)) names.push(`turns/${name}`);
  return Object.fromEntries(
    names.sort().map((name) => [name, Deno.readTextFileSync(`${directory}/${name}`)]),
  );
}

together("a session that is replaced during a run stays apart from it", {
  "the run ends as diverged (exit 5), and the session that took the name is as it was": async () => {
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
    const exported = `${place.sandbox.home}/s.jsonl`;
    assert.equal((await place.call(["export", "s", exported])).code, 0);
    Deno.renameSync(place.path("s"), `${place.sandbox.home}/first`);
    assert.equal((await place.call(["import", exported])).code, 0);
    Deno.renameSync(place.path("s"), place.path("other"));
    Deno.renameSync(`${place.sandbox.home}/first`, place.path("s"));
    const before = filesOf(place.path("other"));
    const run = await place.call(["run", "--json", "-s", "s", "go on"]);
    const error = assertError(run, {
      code: "session_diverged",
      exit: 5,
      says: /moved or replaced/,
      hint: /show s/,
    });
    assert.equal(error.code, "session_diverged");
    assert.equal((events(run) as { type: string; state?: string }[]).at(-1)?.state, "diverged");
    assert.deepEqual(filesOf(place.path("s")), before);
    assert.equal((await place.call(["fsck", "s"])).code, 0);
  },
});
