/** Switching replay by flag and environment, on sessions that other processes wrote. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { reasoningIds } from "../support/responses_server/refusing.ts";
import { events } from "../support/reprise.ts";
import { assertError, Place, readsThenAnswers } from "./harness.ts";

/** A session with two reasoning items of an earlier process. */
async function begun(): Promise<Place> {
  const place = new Place(readsThenAnswers);
  await place.session("s");
  return place;
}

/** The reasoning ids of the first request of one more run. */
async function sentBy(
  place: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<readonly string[]> {
  const number = place.server.requests.length;
  const called = await place.call(["run", "--json", "-s", "s", ...args, "And now?"], { env });
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  const request = place.server.requests[number];
  assert.ok(request !== undefined);
  const sent = events(called).find((event) => event.type === "request");
  assert.equal(sent?.reasoning_sent, reasoningIds(request).length, "the event counts what was sent");
  return reasoningIds(request);
}

/** Number of reasoning items that the next run would send: `--dry-run` creates the same request. */
async function wouldSend(place: Place, args: readonly string[], switched?: string): Promise<number> {
  const env = switched === undefined ? {} : { REPRISE_REASONING_REPLAY: switched };
  const called = await place.call(["run", "--dry-run", "--json", "-s", "s", ...args, "And now?"], { env });
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return JSON.parse(called.stdout).reasoning_sent;
}

test("replay is switched off for a call, on a resumed session, and only for it: by each falsy spelling, by flags, and by flags before the environment", async () => {
  await using place = await begun();
  assert.deepEqual(await sentBy(place, [], { REPRISE_REASONING_REPLAY: "0" }), []);
  const off = ["false", "off", "no", "OFF", "False"];
  for (const value of off) assert.equal(await wouldSend(place, [], value), 0, value);
  for (const value of ["1", "true", "yes", ""]) {
    assert.ok(await wouldSend(place, [], value) > 0, `${JSON.stringify(value)} leaves it on`);
  }
  assert.equal(await wouldSend(place, ["--replay", "none"]), 0);
  for (const mode of ["exact", "family"]) {
    assert.ok(await wouldSend(place, ["--replay", mode], "off") > 0, `--replay ${mode} counts more`);
  }
  assert.equal(await wouldSend(place, ["--replay", "none"], "on"), 0);
  assert.ok((await sentBy(place, [])).length > 0, "on again without it");
  assert.deepEqual(place.server.refusals, []);
});

test("a switch in the environment is on or off, and anything else is refused before anything is sent: under its name, and as LLM_REASONING_REPLAY", async () => {
  await using place = await begun();
  assert.deepEqual(await sentBy(place, [], { LLM_REASONING_REPLAY: "0" }), []);
  const both = { LLM_REASONING_REPLAY: "0", REPRISE_REASONING_REPLAY: "1" };
  assert.ok((await sentBy(place, [], both)).length > 0, "our own name counts first");
  const requests = place.server.requests.length;
  const turns = place.sandbox.turnNames("s").length;
  for (const name of ["REPRISE_REASONING_REPLAY", "LLM_REASONING_REPLAY", "REPRISE_STRICT_DRIFT"]) {
    for (const value of ["2", "none", "exact", "disabled", " 0"]) {
      const called = await place.call(["run", "--json", "-s", "s", "Go"], { env: { [name]: value } });
      const says = new RegExp(`${name}=${JSON.stringify(value)}.*neither on nor off`);
      assertError(called, { code: "usage", exit: 2, says, hint: /1, true, on, yes, 0, false, off, no/ });
    }
  }
  assert.equal((await place.call(["explain", "s"], { env: { LLM_REASONING_REPLAY: "maybe" } })).code, 2);
  assert.equal(place.server.requests.length, requests);
  assert.equal(place.sandbox.turnNames("s").length, turns);
  assert.equal(
    (await place.call(["run", "--new", "-s", "n", "Go"], { env: { REPRISE_STRICT_DRIFT: "x" } })).code,
    2,
  );
  assert.throws(() => Deno.lstatSync(place.path("n")), Deno.errors.NotFound, "no session is created");
});

test("--verbose says on stderr what goes back: one line for each request, in a shape that scripts can match; nothing without it", async () => {
  await using place = await begun();
  const called = await place.call(["run", "--verbose", "-s", "s", "And now?"]);
  const lines = called.stderr.split("\n").filter((line) => line.includes("reasoning replay"));
  assert.equal(lines.length, 2);
  for (const [index, line] of lines.entries()) {
    assert.match(line, /^reasoning replay items=\d+ fingerprint=openai:gpt-5\.6:[0-9a-f]{8}$/);
    assert.ok(line.startsWith(`reasoning replay items=${2 + index} `), line);
  }
  assert.equal(called.stdout, "Hello.\n");
  const silent = await place.call(["run", "-s", "s", "And now?"]);
  assert.ok(!silent.stderr.includes("reasoning replay"), silent.stderr);
});
