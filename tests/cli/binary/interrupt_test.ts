/** `interrupt`: stops the process that writes to a session, and closes a run whose process was killed. */
import assert from "node:assert/strict";
import { answer, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { ending, type Started } from "../../support/reprise.ts";
import { assertError, HELLO, Place, until } from "../harness.ts";
import {
  assertContinues,
  eventsOf,
  mark,
  NEW_RUN,
  read,
  running,
  shellArgv,
  shellLine,
  statuses,
  stubborn,
} from "../changes.ts";

/** Runs a command that does not end, until the test stops it; then answers. */
function sleeps(word: string, how: "plain" | "stubborn" = "plain"): Script {
  const command = how === "plain" ? shellArgv("sleep", word) : shellLine(stubborn(word));
  return ({ number }) => number === 1 ? answer([reasoning("Hm"), read("a.txt"), command]) : HELLO;
}

/** A run of session `s` in the middle of its command. */
async function inCommand(place: Place, word: string): Promise<Started> {
  const run = place.start([...NEW_RUN, "--allow", "shell", "Go"]);
  await until(() => running(`sleep ${word}`).length >= 1, "the command");
  return run;
}

/** Ends the command of a run that was killed: nothing else does. */
async function endLeftovers(word: string): Promise<void> {
  for (const line of running(word)) Deno.kill(Number(line.split(" ", 1)[0]), "SIGKILL");
  await until(() => running(word).length === 0, "the end of the command");
}

/** Output of a call that found nothing to do. */
const NOTHING = { session: "s", interrupted: null, closed_run: null, answered_calls: [] };

Deno.test("interrupt stops the process that writes, and waits for its end: the run ends as by SIGINT, with every call answered", async () => {
  const word = mark();
  await using place = new Place(sleeps(word, "stubborn"));
  const run = await inCommand(place, word);
  const { pid } = run.process;
  const dry = await place.call(["interrupt", "s", "--json", "--dry-run"]);
  assert.deepEqual(JSON.parse(dry.stdout), {
    ...{ type: "dry_run", dry_run: true, verb: "interrupt", session: "s", pid },
    changes: [{ action: "stop", what: "process", name: String(pid) }],
    plan: `send SIGINT to process ${pid}`,
  });
  const said = (await place.call(["interrupt", "s", "--dry-run"])).stdout;
  assert.equal(said, `Would send SIGINT to process ${pid}. Nothing was done.\n`);
  // An owner on another machine gets no signal.
  const lock = `${place.path("s")}/lock`;
  const owner = Deno.readTextFileSync(lock);
  Deno.writeTextFileSync(lock, `${JSON.stringify({ ...JSON.parse(owner), host: "elsewhere" })}\n`);
  const away = await place.call(["interrupt", "s", "--json"]);
  assertError(away, { code: "session_locked", exit: 5, says: /runs on host elsewhere/ });
  Deno.writeTextFileSync(lock, owner);
  assert.ok(running(`sleep ${word}`).length > 0, "it still runs");

  const stopped = await place.call(["interrupt", "s", "--json"]);
  assert.deepEqual(running(word), [], "its command is gone when interrupt returns");
  assert.deepEqual([stopped.code, stopped.stderr], [0, ""], stopped.stdout);
  assert.deepEqual(JSON.parse(stopped.stdout), { ...NOTHING, interrupted: pid });
  const called = await run.ended();
  assert.deepEqual([called.code, ending(called).state], [130, "interrupted"]);
  assert.deepEqual(statuses(place), ["ok", "interrupted"]);
  await assertContinues(place);
});

Deno.test("for people interrupt is one line; @last and a prefix name the session", async () => {
  const word = mark();
  await using place = new Place(sleeps(word));
  const run = place.start(["run", "--json", "--new", "-s", "session-one", "--allow", "shell", "Go"]);
  await until(() => running(`sleep ${word}`).length >= 1, "the command");
  const stopped = await place.call(["interrupt", "sess"]);
  const stdout = `session-one: process ${run.process.pid} has stopped\n`;
  assert.deepEqual(stopped, { code: 0, stdout, stderr: "" });
  assert.equal((await run.ended()).code, 130);
  const again = await place.call(["interrupt", "@last"]);
  assert.deepEqual(again, { code: 0, stdout: "session-one: nothing is running\n", stderr: "" });
});

Deno.test("interrupt: one that takes longer than --wait is exit 5; a second interrupt ends it at once and closes its run", async () => {
  const word = mark();
  await using place = new Place(sleeps(word, "stubborn"));
  const run = await inCommand(place, word);
  const late = await place.call(["interrupt", "s", "--json", "--wait", "0"]);
  assertError(late, {
    code: "session_locked",
    exit: 5,
    says: /has not stopped within 0 s/,
    hint: /--wait/,
  });
  const stopped = await place.call(["interrupt", "s", "--json"]);
  assert.equal(stopped.code, 0, stopped.stdout);
  assert.equal((await run.ended()).code, 130);
  const { interrupted, closed_run } = JSON.parse(stopped.stdout);
  // If this machine was slow, the command's grace was over by then: the run closed itself.
  const closedItself = eventsOf(place, "tool_result").some(({ status }) => status === "interrupted");
  if (!closedItself) assert.deepEqual([interrupted, closed_run], [run.process.pid, 1]);
  await until(() => running(word).length === 0, "the end of the command");
  assert.deepEqual(eventsOf(place, "run_ended").map(({ state }) => state), ["interrupted"]);
  await assertContinues(place);
});

Deno.test("interrupt without a writer: a run that was killed is closed, with a result for every call; once", async () => {
  const word = mark();
  await using place = new Place(sleeps(word));
  const run = await inCommand(place, word);
  run.process.kill("SIGKILL");
  await run.ended();
  await endLeftovers(word);
  const before = place.sandbox.turnNames("s");
  const dry = await place.call(["interrupt", "s", "--json", "--dry-run"]);
  const { changes, pid, plan } = JSON.parse(dry.stdout);
  assert.deepEqual(
    [changes, pid, plan],
    [[{ action: "end", what: "run", name: "s" }], null, "close the newest run if it is open"],
  );
  assert.deepEqual(place.sandbox.turnNames("s"), before, "--dry-run writes nothing");

  const closed = await place.call(["interrupt", "s", "--json"]);
  assert.equal(closed.code, 0, closed.stdout);
  const { answered_calls: answered, ...rest } = JSON.parse(closed.stdout);
  assert.deepEqual(rest, { session: "s", interrupted: null, closed_run: 1 });
  assert.equal(answered.length, 1);
  assert.deepEqual(statuses(place), ["ok", "orphaned"]);
  const [ended] = eventsOf(place, "run_ended");
  assert.deepEqual([ended.state, ended.exit_code], ["interrupted", 130]);
  const after = place.sandbox.turnNames("s");
  const again = await place.call(["interrupt", "s", "--json"]);
  assert.deepEqual(JSON.parse(again.stdout), NOTHING);
  assert.deepEqual(place.sandbox.turnNames("s"), after, "the second time there is nothing to close");
  await assertContinues(place);
});
