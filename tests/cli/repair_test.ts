/** `repair` as a user meets it: exit codes, both outputs, and a session that continues afterwards. */
import assert from "node:assert/strict";
import { answer } from "../support/responses_server.ts";
import { assertError, HELLO, Place, READS_A, readsThenAnswers } from "./harness.ts";

/** Names and contents of a session's files, but for the lock. */
function listing(place: Place): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (directory: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(directory)) {
      const path = `${directory}/${name}`;
      if (isDirectory) visit(path);
      else if (name !== "lock") found[path] = Deno.readTextFileSync(path);
    }
  };
  visit(place.path("s"));
  return found;
}

Deno.test("repair fixes a damaged session, which then continues: a torn turn: announced, repaired once, and listed with its remains", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  Deno.truncateSync(place.turnPath("s", 2), 200);
  assert.equal((await place.call(["fsck", "s"])).code, 12);
  const refused = await place.call(["run", "--json", "-s", "s", "go on"]);
  assertError(refused, { code: "session_damaged", exit: 12, hint: /reprise repair s/ });

  const before = listing(place);
  const foreseen = await place.call(["repair", "s", "--dry-run", "--json"]);
  assert.equal(foreseen.code, 0, foreseen.stderr);
  assert.deepEqual(listing(place), before);
  const repaired = await place.call(["repair", "s", "--json"]);
  assert.equal(repaired.code, 0, repaired.stderr);
  const { actions, ...rest } = JSON.parse(repaired.stdout);
  assert.deepEqual(JSON.parse(foreseen.stdout).actions, actions);
  assert.deepEqual(rest, {
    session: "s",
    dry_run: false,
    closed_run: null,
    answered_calls: [],
    lost_blobs: [],
    lost: [],
    left: [],
  });
  assert.deepEqual(actions, [{
    action: "replace",
    path: "turns/000002.json",
    reason: "bad_sum",
    message: "does not end with its checksum: it was cut short or overwritten",
    kept: "quarantine/000002.json.repair-1",
    turn: 2,
    seq: actions[0].seq,
  }]);

  const after = listing(place);
  const again = await place.call(["repair", "s"]);
  assert.equal(again.stdout, "s: nothing to repair\n");
  assert.deepEqual(listing(place), after);
  assert.equal((await place.call(["fsck", "s"])).code, 0);
  const run = await place.call(["run", "--json", "-s", "s", "go on"]);
  assert.equal(run.code, 0, run.stdout);
  assert.match(run.stdout, /"kind":"result_without_call"/);
  const verified = await place.call(["fsck", "s", "--requests", "--json"]);
  assert.equal(verified.code, 0, verified.stdout);
  const verdicts = JSON.parse(verified.stdout).sessions[0].requests.map((one: { verdict: string }) =>
    one.verdict
  );
  assert.deepEqual(
    verdicts,
    ["repaired", "same", "same"],
    "events with a lost turn are distinguished from altered ones",
  );
});

Deno.test("repair fixes a damaged session, which then continues: a run whose opening is lost, of a session whose manifest is lost too", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  Deno.writeTextFileSync(place.turnPath("s", 1), "");
  Deno.removeSync(`${place.path("s")}/manifest.json`);
  const repaired = await place.call(["repair", "s"]);
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.equal(
    repaired.stdout,
    "s: 2 repairs made\n  replace turns/000001.json: is empty; kept as quarantine/000001.json.repair-1\n" +
      "  rebuild manifest.json: is missing\n",
  );
  const run = await place.call(["run", "--json", "-s", "s", "go on"]);
  assert.equal(run.code, 0, run.stdout);
});

Deno.test("repair fixes a damaged session, which then continues: a newest turn that is lost: the run is closed, and its number is never used again", async () => {
  await using place = new Place(({ input }) => input.length === 1 ? READS_A : HELLO);
  await place.session("s");
  const turns = place.sandbox.turnNames("s").length;
  Deno.removeSync(place.turnPath("s", turns));
  const repaired = await place.call(["repair", "s", "--json"]);
  assert.equal(repaired.code, 0, repaired.stderr);
  const { closed_run, actions } = JSON.parse(repaired.stdout);
  assert.deepEqual([closed_run, actions[0].reason, actions[0].turn], [1, "missing_turn", turns]);
  assert.equal(place.sandbox.turnNames("s").length, turns + 1);
  const run = await place.call(["run", "--json", "-s", "s"]);
  assert.equal(run.code, 0, run.stdout);
});

Deno.test("repair refuses, with what to do next: a session that another process writes to", async () => {
  await using place = new Place(() => answer([], { end: { kind: "stall" } }));
  const writer = place.start(["run", "--json", "--new", "-s", "s", "hi"]);
  await writer.printed("turn.saved");
  for (const more of [[], ["--dry-run"]]) {
    assertError(await place.call(["repair", "s", "--json", ...more]), {
      code: "session_locked",
      exit: 5,
      hint: /interrupt/,
    });
  }
});

Deno.test("repair refuses, with what to do next: a session that is not there", async () => {
  await using place = new Place(readsThenAnswers);
  assertError(await place.call(["repair", "none", "--json"]), { code: "no_such_session", exit: 2 });
});
