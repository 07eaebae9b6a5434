/** Switching replay, widening it, narrowing it: by flag and environment, on sessions that other processes wrote. */
import assert from "node:assert/strict";
import { reasoningIds } from "../support/responses_server/refusing.ts";
import { events } from "../support/reprise.ts";
import { Place, readsThenAnswers, together } from "./harness.ts";

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
  const told = events(called).find((event) => event.type === "request");
  assert.equal(told?.reasoning_sent, reasoningIds(request).length, "the event counts what was sent");
  return reasoningIds(request);
}

together("replay is switched off for a call, on a resumed session, and only for it", {
  "by each falsy spelling": async () => {
    await using place = await begun();
    for (const value of ["0", "false", "off", "no", "OFF", "False"]) {
      assert.deepEqual(await sentBy(place, [], { REPRISE_REASONING_REPLAY: value }), [], value);
    }
    for (const value of ["1", "true", "yes", ""]) {
      const dry = await place.call(["run", "--dry-run", "--json", "-s", "s", "Go"], {
        env: { REPRISE_REASONING_REPLAY: value },
      });
      assert.ok(JSON.parse(dry.stdout).reasoning_sent > 0, `${JSON.stringify(value)} leaves it on`);
    }
    assert.ok((await sentBy(place, [])).length > 0, "on again without it");
    assert.deepEqual(place.server.refusals, []);
  },
  "by --no-reasoning-replay and --replay none, which beat --replay family": async () => {
    await using place = await begun();
    assert.deepEqual(await sentBy(place, ["--no-reasoning-replay"]), []);
    assert.deepEqual(await sentBy(place, ["--replay", "none"]), []);
    assert.deepEqual(await sentBy(place, ["--replay", "family", "--no-reasoning-replay"]), []);
    assert.deepEqual(await sentBy(place, ["--replay", "family"], { REPRISE_REASONING_REPLAY: "off" }), []);
    assert.ok((await sentBy(place, [])).length > 0);
    assert.deepEqual(place.server.refusals, []);
  },
  "within a run with tools too": async () => {
    await using place = await begun();
    const first = place.server.requests.length;
    await sentBy(place, ["--no-reasoning-replay"]);
    const requests = place.server.requests.slice(first);
    assert.deepEqual(requests.map((request) => reasoningIds(request).length), [0, 0]);
    assert.deepEqual(place.server.refusals, []);
  },
});

together("replay reaches as far as it is told", {
  "--replay family sends what a model of the family made, exact does not": async () => {
    await using place = await begun();
    const foreign = ["-m", "gpt-5.6-mini"];
    assert.deepEqual(await sentBy(place, foreign), []);
    assert.equal((await sentBy(place, [...foreign, "--replay", "family"])).length, 4);
    const other = await place.call(["explain", "s", "--json", "-m", "gpt-6", "--replay", "family"]);
    const reasons = JSON.parse(other.stdout).reasoning.map(({ reason }: { reason: string }) => reason);
    assert.deepEqual(new Set(reasons), new Set(["other_model"]), "no family is another");
  },
  "--replay-window keeps the newest items from before the last user message": async () => {
    await using place = await begun();
    await sentBy(place, []);
    const all = await sentBy(place, []);
    assert.equal(all.length, 4);
    const whole = await sentBy(place, []);
    assert.equal(whole.length, 6);
    const windowed = await sentBy(place, ["--replay-window", "3"]);
    assert.equal(windowed.length, 3);
    assert.deepEqual(windowed.slice(0, 1), whole.slice(-1), "in order, the newest ones");
    assert.deepEqual(await sentBy(place, ["--replay-window", "0"]), []);
    // The step after the tool still has the reasoning that was made since the user message.
    assert.equal(reasoningIds(place.server.requests.at(-1) ?? { input: [] }).length, 1);
    const explained = await place.call(["explain", "s", "--json", "--replay-window", "2"]);
    const items = JSON.parse(explained.stdout).reasoning as { sent: boolean; reason: string }[];
    assert.ok(items.some(({ reason }) => reason === "outside_window"));
    assert.deepEqual(place.server.refusals, []);
  },
  "a session resumed at another endpoint sends none of it, and all of it back at its own": async () => {
    await using place = await begun();
    await using other = new Place(readsThenAnswers, { organization: "org-other" });
    const elsewhere = ["--base-url", `${other.server.baseUrl}/elsewhere`];
    const called = await place.call(["run", "--json", "-s", "s", ...elsewhere, "And now?"]);
    assert.equal(called.code, 0, called.stdout);
    const counts = other.server.requests.map((request) => reasoningIds(request).length);
    assert.deepEqual(counts, [0, 1], "its own item within the run, no foreign one");
    assert.ok(
      other.server.requests[0]?.input.every(({ id }) => id === undefined),
      "and no ids that ask for one",
    );
    assert.equal(
      (await sentBy(place, [])).length,
      2,
      "back home, what was made here goes, what was made there not",
    );
    assert.deepEqual([...place.server.refusals, ...other.server.refusals], []);
  },
});

together("--verbose says on stderr what goes back", {
  "one line for each request, in a shape that scripts can match": async () => {
    await using place = await begun();
    const called = await place.call(["run", "--verbose", "-s", "s", "And now?"]);
    const lines = called.stderr.split("\n").filter((line) => line.includes("reasoning replay"));
    assert.equal(lines.length, 2);
    for (const [index, line] of lines.entries()) {
      assert.match(line, /^reasoning replay items=\d+ fingerprint=openai:gpt-5\.6:[0-9a-f]{8}$/);
      assert.ok(line.startsWith(`reasoning replay items=${2 + index} `), line);
    }
    assert.equal(called.stdout, "Hello.\n");
  },
  "nothing without it": async () => {
    await using place = await begun();
    const called = await place.call(["run", "-s", "s", "And now?"]);
    assert.ok(!called.stderr.includes("reasoning replay"), called.stderr);
  },
});
