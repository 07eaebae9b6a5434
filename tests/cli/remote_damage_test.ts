/** Damaged copies on either side of a remote: named as damage, and nothing is moved here. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ID } from "../unit/store/support.ts";
import { TwoHomes } from "./two_homes.ts";

/** Both homes and the remote have run 1. */
async function shared(): Promise<TwoHomes> {
  const place = new TwoHomes();
  await place.write("a", 1);
  assert.equal((await place.call("a", "sync", ID)).code, 0);
  assert.equal((await place.call("b", "sync", ID)).code, 0);
  return place;
}

/** Forks the session of home `b`; returns the id of the fork. */
async function forkOf(place: TwoHomes): Promise<string> {
  const forked = await place.call("b", "fork", ID, "--json");
  assert.equal(forked.code, 0, forked.stderr);
  return JSON.parse(forked.stdout).session;
}

test("a damaged last turn on the remote is no divergence, and repair puts it there again", async () => {
  await using place = await shared();
  const before = place.turns("a");
  place.damage(before.length);
  for (const args of [["sync", ID], ["sync", ID, "--keep-mine-as", "mine"]]) {
    const refused = await place.call("a", ...args);
    assert.equal(refused.code, 12, refused.stderr);
    assert.ok(refused.stderr.includes(`turn ${before.length} is damaged there`), refused.stderr);
    assert.ok(refused.stderr.includes(` repair ${ID}`), refused.stderr);
  }
  assert.deepEqual(place.turns("a"), before);
  assert.equal((await place.call("a", "repair", ID)).code, 0);
  assert.equal((await place.call("a", "sync", ID)).code, 0);
});

test("no turn here is moved before those of the remote are verified, and the call can be repeated", async () => {
  await using place = await shared();
  await place.write("a", 2);
  assert.equal((await place.call("a", "sync", ID)).code, 0);
  await place.write("b", 2);
  const mine = place.turns("b");
  const parts = place.turns("a").findIndex((turn, index) => turn !== mine[index]) + 1;
  // The turn after the one at which both part.
  const key = `${ID}/turns/${String(parts + 1).padStart(6, "0")}.json`;
  const intact = place.server.objects.get(key);
  assert.ok(intact !== undefined && parts + 1 < mine.length);
  place.damage(parts + 1);
  const refused = await place.call("b", "sync", ID, "--keep-mine-as", "mine");
  assert.equal(refused.code, 12, refused.stderr);
  assert.deepEqual(place.turns("b"), mine);
  assert.throws(() => place.turns("b", "mine"), Deno.errors.NotFound);
  place.server.objects.set(key, intact);
  // A call that was killed after it made the fork.
  const forked = await forkOf(place);
  const fork = place.turns("b", forked);
  const kept = await place.call("b", "sync", ID, "--keep-mine-as", forked);
  assert.equal(kept.code, 0, kept.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  assert.deepEqual(place.turns("b", forked), fork);
  const unneeded = await place.call("b", "sync", ID, "--keep-mine-as", "other");
  assert.equal(unneeded.code, 0, unneeded.stderr);
  assert.match(unneeded.stderr, /no fork other: this home and the remote did not go different ways/);
});

test("a turn far above the others is a gap: nothing asks for each turn before it", async () => {
  await using place = await shared();

  place.server.objects.set("abc-def/turns/999999.json", new TextEncoder().encode("x"));
  place.server.objects.set(`${ID}/turns/999999.json`, new TextEncoder().encode("x"));
  const calls: readonly (readonly [string, readonly string[]])[] = [
    ["a", ["sync", "abc-def"]],
    ["a", ["sync", ID]],
    ["b", ["sync", ID]],
    ["b", ["fsck", "abc-def", "--requests", "--remote"]],
    ["b", ["repair", ID]],
  ];
  for (const [home, args] of calls) {
    place.server.requests.length = 0;
    // The end of a repair depends on what it finds.
    const called = await place.call(home, ...args);
    assert.throws(() => Deno.statSync(place.directory(home, "abc-def")), Deno.errors.NotFound);
    if (args[0] !== "repair") assert.equal(called.code, 12, called.stderr);
    assert.ok(place.server.requests.length < 60, `${args}: ${place.server.requests.length} requests`);
  }
});

test("keys in an address are not shown, and an empty address means no remote", async () => {
  await using place = await shared();
  const keys = await place.call("a", "sync", ID, "--remote", "s3://AKIA123:SECRET@bucket/p");
  assert.equal(keys.code, 2);
  assert.ok(keys.stderr.includes("s3://…@bucket/p"), keys.stderr);
  assert.doesNotMatch(keys.stderr, /AKIA123|SECRET/);
  place.server.requests.length = 0;
  const repaired = await place.call("a", "repair", ID, "--remote", "");
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.deepEqual(place.server.requests, []);
});
