/** A history that exceeds the model's window, and the command that the hint names. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, httpError, message, reasoning } from "../support/scripted_api/responses.ts";
import { assertError, ok, Place, READS_A } from "./harness.ts";

/** Input characters that the server accepts. */
const WINDOW = 20_000;
const TOO_LONG = { message: "Your input exceeds the context window.", code: "context_length_exceeded" };
const BODY = ["run", "-s", "s", "--dry-run", "--body"];

test("after an overflow by one result, the command of the hint shortens it, the run continues, and --undo restores it", async () => {
  await using place = new Place(({ input }) => {
    if (JSON.stringify(input).length > WINDOW) return httpError(400, TOO_LONG);
    return input.at(-1)?.type === "message" ? READS_A : answer([reasoning("Done"), message("It is long.")]);
  });
  const long = Array.from({ length: 900 }, (_, line) => `line ${line}: ${"word ".repeat(5)}`).join("\n");
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, long);
  const first = await place.call(["run", "--json", "--new", "-s", "s", "Read a.txt"]);
  assertError(first, { code: "context_overflow", exit: 11, hint: /"reprise compact s"/ });
  const [before, files] = [await ok(place, BODY), place.sandbox.turnNames("s").length];
  const planned = JSON.parse(await ok(place, ["compact", "s", "--dry-run", "--json"]));
  assert.equal(place.sandbox.turnNames("s").length, files);
  const done = JSON.parse(await ok(place, ["compact", "s", "--json"]));
  assert.deepEqual([done.elided, done.elided.length], [planned.elided, 1]);
  assert.ok(done.after.tokens <= done.before.tokens / 2);
  const events: Json[] = place.sandbox.turns("s").flatMap((turn) => turn.events);
  const { kept, result_seq } = events.find(({ type }) => type === "result_elided");
  assert.match(kept, /^.*line 0: word.*characters left out here to shorten the history.*line 899/s);
  assert.ok(events.find(({ seq }) => seq === result_seq).output.length > WINDOW, "the log keeps the result");
  assert.match(await ok(place, ["explain", "s"]), /is sent shortened since it was compacted/);
  // The same session elsewhere, and from a fork.
  await ok(place, ["export", "s", "s.export"]);
  await ok(place, ["rm", "s", "--yes"]);
  await ok(place, ["import", "s.export"]);
  await ok(place, ["fork", "s"]);
  await ok(place, ["fsck", "--all", "--requests"]);
  const undone = JSON.parse(await ok(place, ["compact", "s", "--undo", "--json"]));
  assert.deepEqual(undone.restored_results, [result_seq]);
  assert.equal(await ok(place, BODY), before);
  await ok(place, ["compact", "s"]);
  await ok(place, ["run", "-s", "s"]);
});
