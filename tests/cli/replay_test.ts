/** Refused reasoning over several processes: left out once, reported, kept on disk, lifted again. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, message, reasoning, type Script } from "../support/scripted_api/responses.ts";
import { reasoningIds, refuse } from "../support/scripted_api/responses_script.ts";
import { ok, Place } from "./harness.ts";

const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);

/** Refuses every request that holds the first reasoning item of all. */
function refusesFirst(): Exclude<Script, readonly unknown[]> {
  let bad: string | undefined;
  return (request) => {
    bad ??= reasoningIds(request)[0];
    return bad === undefined || !reasoningIds(request).includes(bad) ? TWO : refuse({
      message: `The encrypted content for item ${bad} could not be verified.`,
      code: "invalid_encrypted_content",
    }, "http");
  };
}

/** Runs two prompts; the second leaves the reasoning of the first in quarantine. */
async function quarantine(place: Place): Promise<void> {
  for (const args of [["--new", "-s", "s", "One"], ["-s", "s", "Two"]]) await ok(place, ["run", ...args]);
  assert.deepEqual(place.server.requests.map((request) => reasoningIds(request).length), [0, 2, 0]);
}

const LIFT = ["repair", "s", "--lift-quarantine"];

test("explain reports a refused item that is left out, and --lift-quarantine lifts it", async () => {
  await using place = new Place(refusesFirst(), { rules: "none" });
  await quarantine(place);
  const story = JSON.parse(await ok(place, ["explain", "s", "--json"]));
  assert.deepEqual(story.refusals.map(({ run, reason }: Json) => [run, reason]), [[2, "reasoning_refused"]]);
  const [first] = story.reasoning;
  assert.deepEqual([first.sent, first.reason], [false, "quarantined"]);
  assert.match(first.why, /--lift-quarantine/);
  /** The numbers of items and of reasoning items, sent and left out, in the text. */
  const counts = async (...flags: readonly string[]) => {
    const text = await ok(place, ["explain", "s", ...flags]);
    const [, items, sent, left] =
      /with (\d+) items?\.[^]*\nReasoning: (\d+) sent, (\d+) left out\.\n/.exec(text) ?? [];
    const verdicts = (word: string) => text.split("\n").filter((line) => line.includes(`  ${word}: `)).length;
    assert.deepEqual([sent, left], [String(verdicts("sent")), String(verdicts("left out"))], text);
    return [items, sent, left].map(Number);
  };
  // Two prompts, two answers, and the reasoning that is sent.
  assert.deepEqual(await counts(), [6, 2, 2]);
  assert.deepEqual(await counts("--replay", "none"), [4, 0, 4]);
  assert.match(
    await ok(place, ["explain", "s"]),
    /run 2 {2}reasoning_refused \(seq 2 quarantined, seq 3 quarantined\): The API refused/,
  );
  const before = place.sandbox.turnNames("s");
  const dry = JSON.parse(await ok(place, [...LIFT, "--dry-run", "--json"]));
  assert.deepEqual([dry.lifted, dry.changes], [[2, 3], [{ action: "append", what: "turn", name: "s" }]]);
  assert.deepEqual(place.sandbox.turnNames("s"), before);
  const lifted = JSON.parse(await ok(place, [...LIFT, "--json"]));
  assert.deepEqual(lifted, { session: "s", lifted: [2, 3], dry_run: false });
  assert.deepEqual(await counts(), [8, 4, 0]);
  assert.equal(await ok(place, LIFT), "s: 0 quarantined items lifted\n");
  await ok(place, ["fsck", "s", "--requests"]);
});
