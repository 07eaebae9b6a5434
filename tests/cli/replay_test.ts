/** Refused reasoning over several processes: left out once, reported, kept on disk, lifted again. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { RunEvent } from "../../src/run/events.ts";
import { answer, message, reasoning, type Script } from "../support/responses_server.ts";
import { functionCall, type ScriptedResponse } from "../support/responses_server/script.ts";
import { reasoningIds, refuse } from "../support/responses_server/refusing.ts";
import { ending, events } from "../support/reprise.ts";
import { assertError, Place, until } from "./harness.ts";

const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);

const NOT_VERIFIED = (id: string) =>
  refuse({
    message: `The encrypted content for item ${id} could not be verified.`,
    code: "invalid_encrypted_content",
  }, "http");

/** Refuses every request that holds the first reasoning item of all. */
function refusesFirst(
  refusal: (id: string) => ScriptedResponse = NOT_VERIFIED,
): Exclude<Script, readonly unknown[]> {
  let bad: string | undefined;
  return (request) => {
    bad ??= reasoningIds(request)[0];
    return bad === undefined || !reasoningIds(request).includes(bad) ? TWO : refusal(bad);
  };
}

/** One run; gives its events and how many reasoning items each of its requests held. */
async function run(place: Place, words: string): Promise<{ all: RunEvent[]; sent: number[] }> {
  const first = place.server.requests.length;
  const fresh = first === 0 ? ["--new"] : [];
  const called = await place.call(["run", "--json", ...fresh, "-s", "s", words]);
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  assert.equal(ending(called).state, "completed");
  return {
    all: events(called),
    sent: place.server.requests.slice(first).map((request) => reasoningIds(request).length),
  };
}

async function explain(place: Place) {
  return JSON.parse((await place.call(["explain", "s", "--json"])).stdout);
}

async function assertSound(place: Place): Promise<void> {
  const checked = await place.call(["fsck", "s", "--json"]);
  assert.equal(checked.code, 0, checked.stdout);
  const verified = await place.call(["fsck", "s", "--requests"]);
  assert.equal(verified.code, 0, verified.stdout);
}

test("a refused item is left out once, and reported at once and afterwards: by run, explain and the files", async () => {
  await using place = new Place(refusesFirst(), { rules: "none" });
  await run(place, "One");
  const second = await run(place, "Two");
  assert.deepEqual(second.sent, [2, 0]);
  const notice = second.all.find((event) => event.type === "notice" && event.kind === "replay_stripped");
  const requests = second.all.filter((event) => event.type === "request");
  assert.deepEqual(requests.map(({ again }) => again), [undefined, true]);
  const order = second.all.filter((event) =>
    event === notice || event.type === "request" || event.type === "turn.saved"
  ).map((event) => event.type);
  assert.deepEqual(order.slice(0, 5), ["turn.saved", "request", "turn.saved", "notice", "request"]);
  const story = await explain(place);
  assert.deepEqual(
    story.refusals.map(({ run, reason }: { run: number; reason: string }) => [run, reason]),
    [[2, "reasoning_refused"]],
  );
  assert.match(story.refusals[0].error, /could not be verified/);
  const first = story.reasoning[0];
  assert.deepEqual([first.sent, first.reason], [false, "quarantined"]);
  assert.match(first.why, /--lift-quarantine/);
  const text = (await place.call(["explain", "s"])).stdout;
  assert.match(text, /run 2 {2}reasoning_refused \(seq 2 quarantined, seq 3 quarantined\): The API refused/);
  await assertSound(place);
});

/** A session with a quarantined item. */
async function quarantined(place: Place): Promise<void> {
  await run(place, "One");
  await run(place, "Two");
}

test("repair --lift-quarantine sends a refused item again: once it is lifted, and never before", async () => {
  await using place = new Place(refusesFirst(), { rules: "none" });
  await quarantined(place);
  const before = place.sandbox.turnNames("s");
  const foreseen = await place.call(["repair", "s", "--lift-quarantine", "--dry-run", "--json"]);
  assert.deepEqual(JSON.parse(foreseen.stdout), {
    type: "dry_run",
    dry_run: true,
    verb: "repair",
    changes: [{ action: "append", what: "turn", name: "s" }],
    session: "s",
    lifted: [2, 3],
  });
  assert.deepEqual(place.sandbox.turnNames("s"), before);
  const lifted = await place.call(["repair", "s", "--lift-quarantine", "--json"]);
  assert.equal(lifted.code, 0, lifted.stderr);
  assert.deepEqual(JSON.parse(lifted.stdout), { session: "s", lifted: [2, 3], dry_run: false });
  const again = await place.call(["repair", "s", "--lift-quarantine"]);
  assert.equal(again.stdout, "s: 0 quarantined items lifted\n");
  await assertSound(place);
  const missing = await place.call(["repair", "none", "--lift-quarantine", "--json"]);
  assertError(missing, { code: "no_such_session", exit: 2 });
});

test.process("repair --lift-quarantine sends a refused item again: not while another process writes; after a kill it closes that run first", async () => {
  let stalls = false;
  const refusing = refusesFirst();
  const stalling = answer([functionCall("read_file", { path: "a.txt", offset: null, limit: null })], {
    end: { kind: "stall" },
  });
  await using place = new Place((request) => stalls ? stalling : refusing(request), { rules: "none" });
  await quarantined(place);
  stalls = true;
  const requests = place.server.requests.length;
  const started = place.start(["run", "--json", "-s", "s", "Three"]);
  await until(() => place.server.requests.length > requests, "the request");
  const locked = await place.call(["repair", "s", "--lift-quarantine", "--json"]);
  assertError(locked, { code: "session_locked", exit: 5 });
  const foreseen = await place.call(["repair", "s", "--lift-quarantine", "--dry-run", "--json"]);
  assert.deepEqual(JSON.parse(foreseen.stdout).lifted, [2, 3]);
  started.process.kill("SIGKILL");
  await started.ended();
  assert.equal((await place.call(["repair", "s", "--lift-quarantine"])).code, 0);
  const last = place.sandbox.turns("s").slice(-2).map(({ events }) => events.at(-1));
  assert.deepEqual(last.map(({ type }) => type), ["run_ended", "replay_notice"]);
  assert.deepEqual([last[0].state, last[1].reason], ["interrupted", "quarantine_lifted"]);
  await assertSound(place);
  stalls = false;
  assert.equal((await place.call(["run", "--json", "-s", "s"])).code, 0, "the killed run can still continue");
  await assertSound(place);
});
