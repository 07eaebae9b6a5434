/** Switching replay by flag and environment, on sessions that other processes wrote. */
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

/** How many reasoning items the next run would send: `--dry-run` makes the very request. */
async function wouldSend(place: Place, args: readonly string[], switched?: string): Promise<number> {
  const env = switched === undefined ? {} : { REPRISE_REASONING_REPLAY: switched };
  const called = await place.call(["run", "--dry-run", "--json", "-s", "s", ...args, "And now?"], { env });
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return JSON.parse(called.stdout).reasoning_sent;
}

together("replay is switched off for a call, on a resumed session, and only for it", {
  "by each falsy spelling, by flags, and by what of both says less": async () => {
    await using place = await begun();
    assert.deepEqual(await sentBy(place, [], { REPRISE_REASONING_REPLAY: "0" }), []);
    const off = ["false", "off", "no", "OFF", "False"];
    for (const value of off) assert.equal(await wouldSend(place, [], value), 0, value);
    for (const value of ["1", "true", "yes", ""]) {
      assert.ok(await wouldSend(place, [], value) > 0, `${JSON.stringify(value)} leaves it on`);
    }
    assert.equal(await wouldSend(place, ["--no-reasoning-replay"]), 0);
    assert.equal(await wouldSend(place, ["--replay", "none"]), 0);
    assert.equal(await wouldSend(place, ["--replay", "family", "--no-reasoning-replay"]), 0);
    assert.equal(await wouldSend(place, ["--replay", "family"], "off"), 0);
    assert.ok((await sentBy(place, [])).length > 0, "on again without it");
    assert.deepEqual(place.server.refusals, []);
  },
});

together("--verbose says on stderr what goes back", {
  "one line for each request, in a shape that scripts can match; nothing without it": async () => {
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
  },
});
