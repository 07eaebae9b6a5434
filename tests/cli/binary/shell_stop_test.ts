/** Runs that are stopped while a command runs: every call is answered, and nothing of the command is left. */
import assert from "node:assert/strict";
import { answer, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import type { ScriptedItem } from "../../support/scripted_api/responses_script.ts";
import { type Called, ending, events } from "../../support/reprise.ts";
import { HELLO, ok, Place, until } from "../harness.ts";
import {
  assertContinues,
  eventsOf,
  EXIT_OF,
  mark,
  NEW_RUN,
  read,
  running,
  shellArgv,
  shellLine,
  statuses,
  stubborn,
} from "../changes.ts";

/** A command of many minutes that is stopped is gone within its grace of two seconds; a busy machine gets more. */
const STOPPED_WITHIN_MS = 30_000;

/** A model that reads, runs `command`, and would then run another one; it answers whatever comes next. */
function reads(command: ScriptedItem): Script {
  const items = [reasoning("Hm"), read("a.txt"), command, shellLine("touch never")];
  return ({ number }) => number === 1 ? answer(items) : HELLO;
}

/** Asserts the state after any stop in the command of {@linkcode reads}. */
async function assertStopped(
  place: Place,
  called: Called,
  expected: { readonly code: number; readonly state: string; readonly word: string },
): Promise<void> {
  assert.deepEqual(running(expected.word), [], "nothing of the command is left when the run has ended");
  assert.equal(called.code, expected.code, called.stdout + called.stderr);
  assert.equal(ending(called).state, expected.state);
  assert.equal(ending(called).exit_code, expected.code);
  assert.deepEqual(statuses(place), ["ok", "interrupted", "not_run"]);
  assert.equal(place.sandbox.turns("s").at(-1).events.at(-1).state, expected.state);
  assert.equal(place.server.requests.length, 1, "no further request is paid");
  const finished = events(called).flatMap((event) => event.type === "tool.finished" ? [event.status] : []);
  assert.ok(finished.includes("interrupted"), finished.join());
  await ok(place, ["fsck", "s"]);
  assert.throws(() => Deno.statSync(`${place.sandbox.workspace}/never`), Deno.errors.NotFound);
}

for (
  const [what, signals, kind, prompt] of [
    ["SIGINT", ["SIGINT"], "plain", []],
    // A signal that comes again at once, as from a terminal and a parent, is the same one.
    ["SIGTERM twice at once", ["SIGTERM", "SIGTERM"], "stubborn", ["And now?"]],
  ] as const
) {
  Deno.test(`${what} while a command runs ends the run, and all that the ${kind} command started`, async () => {
    const word = mark();
    const command = kind === "plain" ? shellArgv("sleep", word) : shellLine(stubborn(word));
    await using place = new Place(reads(command));
    const run = place.start([...NEW_RUN, "--allow", "shell", "Go"]);
    await until(() => running(`sleep ${word}`).length >= (kind === "plain" ? 1 : 4), "the command");
    const began = performance.now();
    for (const signal of signals) {
      run.process.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    const called = await run.ended();
    assert.ok(performance.now() - began < STOPPED_WITHIN_MS);
    await assertStopped(place, called, { code: EXIT_OF[signals[0]], state: "interrupted", word });
    await assertContinues(place, ...prompt);
  });
}

Deno.test("--timeout is exit 124", async () => {
  const word = mark();
  await using place = new Place(reads(shellLine(stubborn(word))));
  const called = await place.call([...NEW_RUN, "--allow", "shell", "--timeout", "6", "Go"]);
  await assertStopped(place, called, { code: 124, state: "timed_out", word });
  await assertContinues(place);
});

Deno.test("a closed output is exit 141: the command that runs ends by itself, no other starts", async () => {
  await using place = new Place(reads(shellLine("sleep 0.5; touch ended")));
  const line = `{ "$@"; echo $? >code; } | sed '/tool.started.*shell/q' >/dev/null`;
  const args = [...NEW_RUN, "--allow", "shell", "Go"];
  const called = await place.call(args, { through: ["sh", "-c", line, "sh"] });
  assert.equal(called.stderr, "");
  assert.equal(Deno.readTextFileSync(`${place.sandbox.workspace}/code`), "141\n");
  assert.deepEqual(statuses(place), ["ok", "ok", "not_run"]);
  assert.ok(Deno.statSync(`${place.sandbox.workspace}/ended`).isFile);
  assert.equal(place.server.requests.length, 1, "no further request is paid");
  await ok(place, ["fsck", "s"]);
  await assertContinues(place);
});

for (const second of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`a second signal ends the process at once: the files are sound, and no process is left: ${second} after SIGINT`, async () => {
    const word = mark();
    await using place = new Place(reads(shellLine(stubborn(word))));
    const run = place.start([...NEW_RUN, "--allow", "shell", "Go"]);
    await until(() => running(`sleep ${word}`).length >= 4, "the command");
    run.process.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(running(word).length > 0, "the command still runs in its grace");
    const began = performance.now();
    run.process.kill(second);
    const called = await run.ended();
    // Of the grace, 1.7 s are left.
    assert.ok(performance.now() - began < 1500, "it does not wait for the command");
    assert.equal(called.code, EXIT_OF[second], called.stdout + called.stderr);
    await until(() => running(word).length === 0, "the end of the command");
    assert.deepEqual(eventsOf(place, "run_ended"), [], "there was no time to close the run");
    await ok(place, ["fsck", "s"]);
    const next = await assertContinues(place);
    assert.ok(next.stdout.includes('"kind":"run_closed"'), "the next writer closed it");
    assert.deepEqual(statuses(place), ["ok", "orphaned", "not_run"]);
    assert.deepEqual(eventsOf(place, "run_ended").map(({ state }) => state), ["interrupted", "completed"]);
  });
}
