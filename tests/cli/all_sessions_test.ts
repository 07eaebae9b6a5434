/** `fsck --all` and `repair --all`: every session, and totals. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { begun, holdLock, readsThenAnswers } from "./harness.ts";

const twoSound = begun(readsThenAnswers, async (place) => {
  for (const id of ["sound", "torn", "busy", "bare"]) await place.session(id);
});

test("fsck --all ends with totals, on stdout and in its JSON", async () => {
  await using place = await twoSound();
  const turns = place.sandbox.turnNames("sound").length * 4;
  const sound = await place.call(["fsck", "--all"]);
  assert.equal(sound.code, 0);
  assert.match(sound.stdout, new RegExp(`\n4 sessions, ${turns} turns: 0 damaged; 0 errors, 0 warnings\n$`));
  Deno.truncateSync(place.turnPath("torn", 2), 100);
  Deno.removeSync(`${place.path("bare")}/manifest.json`);
  using _held = holdLock(`${place.path("busy")}/lock`);
  const checked = await place.call(["fsck", "--all", "--json"]);
  assert.equal(checked.code, 12);
  const { totals, ok } = JSON.parse(checked.stdout);
  assert.equal(ok, false);
  assert.deepEqual(totals, {
    sessions: 4,
    turns,
    damaged: 1,
    in_use: 1,
    errors: 1,
    warnings: 1,
    infos: 0,
    differing: 0,
  });
  const text = await place.call(["fsck", "--all"]);
  assert.match(text.stdout, /: 1 damaged, 1 in use; 1 error, 1 warning\n$/);
  assert.doesNotMatch((await place.call(["fsck", "sound"])).stdout, /sessions/, "one session has no totals");
});

test("a copy of a session's folder under another name is named by fsck --all and by doctor", async () => {
  await using place = await twoSound();
  const sessions = `${place.sandbox.home}/sessions`;
  Deno.mkdirSync(`${sessions}/sound (conflict)/turns`, { recursive: true });
  Deno.writeTextFileSync(`${sessions}/Notes.txt`, "");
  // A removal that was killed is no news: gc finishes it.
  Deno.mkdirSync(`${sessions}/.removed-12-ab`);
  const copy = "is a copy of a session under a name that is no id: no verb reads it";
  const checked = await place.call(["fsck", "--all"]);
  assert.equal(checked.code, 0);
  const lines = checked.stdout.split("\n").filter((line) => /^(error|warning|info)/.test(line));
  assert.deepEqual(lines, [
    "warning: Notes.txt: is not the name of a session",
    `warning: sound (conflict): ${copy}`,
  ]);
  assert.match(checked.stdout, /0 errors, 2 warnings\n$/);
  const { strays, ok } = JSON.parse((await place.call(["fsck", "--all", "--json"])).stdout);
  assert.deepEqual([ok, strays.map(({ path }: { path: string }) => path)], [
    true,
    ["Notes.txt", "sound (conflict)"],
  ]);
  const { stdout } = await place.call(["doctor"]);
  assert.ok(stdout.includes(`; "sound (conflict)" ${copy}`), stdout);
});

test("repair --all repairs every session that is free, skips the others by name, and ends with totals", async () => {
  await using place = await twoSound();
  Deno.truncateSync(place.turnPath("torn", 2), 100);
  Deno.truncateSync(place.turnPath("busy", 2), 100);
  Deno.removeSync(`${place.path("bare")}/manifest.json`);
  const held = holdLock(`${place.path("busy")}/lock`);
  const dry = await place.call(["repair", "--all", "--dry-run"]);
  assert.match(dry.stdout, /^torn: .*would be made$/m);
  assert.match(dry.stderr, /skipped busy: .*locked/);
  assert.equal((await place.call(["fsck", "torn"])).code, 12, "a dry run repairs nothing");
  const repaired = await place.call(["repair", "--all", "--json"]);
  assert.equal(repaired.code, 0, repaired.stdout);
  const { sessions, skipped, totals, ok } = JSON.parse(repaired.stdout);
  assert.equal(ok, true);
  assert.deepEqual(skipped.map(({ id, code }: Record<string, string>) => [id, code]), [[
    "busy",
    "session_locked",
  ]]);
  assert.deepEqual(sessions.map(({ session }: { session: string }) => session).sort(), [
    "bare",
    "sound",
    "torn",
  ]);
  assert.equal(totals.repaired, 2);
  assert.equal(totals.left, 0);
  held[Symbol.dispose]();
  const last = await place.call(["repair", "--all"]);
  assert.match(last.stdout, /\n4 sessions: \d+ repairs? made in 1; 0 errors left\n$/);
  assert.equal((await place.call(["fsck", "--all"])).code, 0);
});
