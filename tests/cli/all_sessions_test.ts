/** `fsck --all` and `repair --all`: every session, and totals. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { begun, holdLock, json, ok, readsThenAnswers } from "./harness.ts";

const four = begun(readsThenAnswers, async (place) => {
  for (const id of ["sound", "torn", "busy", "bare"]) await place.session(id);
});

test("fsck --all ends with totals, on stdout and in its JSON", async () => {
  await using place = await four();
  const turns = place.sandbox.turnNames("sound").length * 4;
  assert.match(
    await ok(place, ["fsck", "--all"]),
    new RegExp(`\n4 sessions, ${turns} turns: 0 damaged; 0 errors, 0 warnings\n$`),
  );
  Deno.truncateSync(place.turnPath("torn", 2), 100);
  Deno.removeSync(`${place.path("bare")}/manifest.json`);
  using _held = holdLock(`${place.path("busy")}/lock`);
  const checked = await place.call(["fsck", "--all", "--json"]);
  assert.equal(checked.code, 12);
  const { totals } = JSON.parse(checked.stdout);
  assert.deepEqual(totals, {
    ...{ sessions: 4, turns, damaged: 1, in_use: 1 },
    ...{ errors: 1, warnings: 1, infos: 0, differing: 0 },
  });
  const text = await place.call(["fsck", "--all"]);
  assert.match(text.stdout, /: 1 damaged, 1 in use; 1 error, 1 warning\n$/);
  assert.doesNotMatch(await ok(place, ["fsck", "sound"]), /sessions/, "one session has no totals");
});

test("a copy of a session's folder under another name is named by fsck --all and by doctor", async () => {
  await using place = await four();
  const sessions = `${place.sandbox.home}/sessions`;
  Deno.mkdirSync(`${sessions}/sound (conflict)/turns`, { recursive: true });
  Deno.writeTextFileSync(`${sessions}/Notes.txt`, "");
  // A removal that was killed is no news: rm --unused finishes it.
  Deno.mkdirSync(`${sessions}/.removed-12-ab`);
  const copy = "is a copy of a session under a name that is no id: no verb reads it";
  const checked = await ok(place, ["fsck", "--all"]);
  assert.deepEqual(checked.split("\n").filter((line) => /^(error|warning|info)/.test(line)), [
    "warning: Notes.txt: is not the name of a session",
    `warning: sound (conflict): ${copy}`,
  ]);
  assert.match(checked, /0 errors, 2 warnings\n$/);
  const { strays } = await json(place, ["fsck", "--all"]);
  assert.deepEqual(strays.map(({ path }: Json) => path), ["Notes.txt", "sound (conflict)"]);
  assert.ok((await ok(place, ["doctor"])).includes(`; "sound (conflict)" ${copy}`));
});

test("repair --all repairs every session that is free, skips the others by name, and ends with totals", async () => {
  await using place = await four();
  for (const id of ["torn", "busy"]) Deno.truncateSync(place.turnPath(id, 2), 100);
  Deno.removeSync(`${place.path("bare")}/manifest.json`);
  {
    using _held = holdLock(`${place.path("busy")}/lock`);
    const dry = await place.call(["repair", "--all", "--dry-run"]);
    assert.match(dry.stdout, /^torn: .*would be made$/m);
    assert.match(dry.stderr, /skipped busy: .*locked/);
    assert.equal((await place.call(["fsck", "torn"])).code, 12, "a dry run repairs nothing");
    const { sessions, skipped, totals } = await json(place, ["repair", "--all"]);
    assert.deepEqual(skipped.map(({ id, code }: Json) => [id, code]), [["busy", "session_locked"]]);
    assert.deepEqual(sessions.map(({ session }: Json) => session).sort(), ["bare", "sound", "torn"]);
    assert.deepEqual([totals.repaired, totals.left], [2, 0]);
  }
  // What no repair can open is damage that stays.
  Deno.renameSync(`${place.path("sound")}/turns`, `${place.sandbox.directory}/turns`);
  Deno.symlinkSync(`${place.sandbox.directory}/turns`, `${place.path("sound")}/turns`);
  const refused = await place.call(["repair", "--all", "--json"]);
  const { ok: isOk, skipped, totals } = JSON.parse(refused.stdout);
  assert.deepEqual([refused.code, isOk, totals.left], [12, false, 0]);
  assert.deepEqual(skipped.map(({ id, code }: Json) => [id, code]), [["sound", "session_damaged"]]);
  Deno.removeSync(`${place.path("sound")}/turns`);
  Deno.renameSync(`${place.sandbox.directory}/turns`, `${place.path("sound")}/turns`);
  const last = await ok(place, ["repair", "--all"]);
  assert.match(last, /\n4 sessions: \d+ repairs? made in \d; 0 errors left\n$/);
  await ok(place, ["fsck", "--all"]);
});
