/** Sessions whose files are moved, removed or lost while the program uses them. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { DEFAULT_INSTRUCTIONS } from "../../src/cli/run/resolve_run.ts";
import { events } from "../support/reprise.ts";
import { assertError, HELLO, Place, READS_A, readsThenAnswers } from "./harness.ts";

/** Turn files and manifest of a session, by name. */
function filesOf(directory: string): Record<string, string> {
  const names = ["manifest.json"];
  for (const { name } of Deno.readDirSync(`${directory}/turns`)) names.push(`turns/${name}`);
  return Object.fromEntries(
    names.sort().map((name) => [name, Deno.readTextFileSync(`${directory}/${name}`)]),
  );
}

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
});

/** Starts the session `s`, whose instructions are a blob. */
async function startSession(place: Place): Promise<void> {
  const args = ["run", "--json", "--new", "-s", "s", "--instructions", "Be brief.", "Look"];
  const first = await place.call(args);
  assert.equal(first.code, 0, first.stdout);
}

test("lost instructions are replaced: by those of a new session, which run, input and explain say, until a run pins others", async () => {
  await using place = new Place(readsThenAnswers);
  await startSession(place);
  const { instructions } = place.sandbox.turns("s")[0].pins;
  Deno.removeSync(`${place.path("s")}/blobs/${instructions}`);
  const refused = await place.call(["run", "-s", "s", "--json", "go on"]);
  assertError(refused, { code: "session_damaged", exit: 12, hint: /repair s/ });
  const { lost, lost_blobs } = JSON.parse((await place.call(["repair", "s", "--json"])).stdout);
  assert.deepEqual(lost_blobs, [instructions]);
  assert.deepEqual(lost, [{
    sha256: instructions,
    turn: 1,
    by: "pins.instructions",
    instead: "a run without --instructions starts with the default ones",
  }]);
  const verified = JSON.parse((await place.call(["fsck", "s", "--requests", "--json"])).stdout);
  assert.deepEqual(
    verified.sessions[0].requests.map(({ verdict }: { verdict: string }) => verdict),
    ["repaired", "repaired"],
  );
  const input = await place.call(["run", "-s", "s", "--dry-run", "--body", "go on"]);
  assert.equal(JSON.parse(input.stdout).instructions, DEFAULT_INSTRUCTIONS);
  assert.match(input.stderr, /the instructions of session "s" are lost; the default ones replace them/);
  const run = await place.call(["run", "-s", "s", "--json", "go on"]);
  assert.equal(run.code, 0, run.stdout);
  const notices = (events(run) as { type: string; kind?: string }[]).filter(({ kind }) =>
    kind === "instructions_lost"
  );
  assert.equal(notices.length, 1);
  const next = await place.call(["run", "-s", "s", "--json", "and on"]);
  assert.equal(next.code, 0, next.stdout);
  assert.doesNotMatch(next.stdout, /instructions_lost/);
});
