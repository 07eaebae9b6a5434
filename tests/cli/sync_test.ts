/** Sessions that two homes exchange through a remote with `sync`. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ID } from "../unit/store/support.ts";
import { TwoHomes } from "./two_homes.ts";

test("a session that one home puts is fetched by another one, file by file", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  assert.deepEqual((await place.call("a", "sync", ID)).code, 0);
  const pulled = await place.call("b", "sync", ID);
  assert.deepEqual(pulled.code, 0, pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  const checked = await place.call("b", "fsck", ID);
  assert.match(checked.stdout, /^\S+: \d+ turns, ok$/m);
  const again = await place.call("a", "sync", "@last:any", "--json");
  const nothing = { session: ID, put: 0, fetched: 0, blobs: 0, omitted: 0, mine: null };
  assert.deepEqual(JSON.parse(again.stdout).sessions, [nothing]);
});

test("a dry run of sync counts the turns, and changes neither side", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  const count = place.turns("a").length;
  const push = await place.call("a", "sync", ID, "--dry-run", "--json");
  assert.equal(push.code, 0, push.stderr);
  const pushed = JSON.parse(push.stdout);
  assert.deepEqual([pushed.dry_run, pushed.sessions[0].put, pushed.changes], [true, count, [
    { action: "send", what: "turn", name: ID },
  ]]);
  assert.equal(place.server.objects.size, 0);
  await place.call("a", "sync", ID);
  const pull = await place.call("b", "sync", ID, "--dry-run");
  assert.deepEqual([pull.code, pull.stdout], [0, `${ID}: ${count} turns would be fetched\n`]);
  assert.throws(() => place.turns("b"), Deno.errors.NotFound);
  await place.call("b", "sync", ID);
  await place.write("a", 2);
  await place.call("a", "sync", ID);
  await place.write("b", 2);
  const before = place.turns("b");
  const kept = await place.call("b", "sync", ID, "--keep-mine-as", "mine", "--dry-run");
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(kept.stderr, /the turns of this home would become session mine/);
  assert.deepEqual(place.turns("b"), before);
  assert.throws(() => place.turns("b", "mine"), Deno.errors.NotFound);
});

test("a session that went two ways is left unchanged, and both ways can be kept", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  await place.call("a", "sync", ID);
  await place.call("b", "sync", ID);
  const common = place.turns("b").length;
  await place.write("a", 2);
  await place.call("a", "sync", ID);
  await place.write("b", 2);
  const [mine, remote] = [place.turns("b"), [...place.server.objects.keys()]];

  for (const args of [[ID], []]) {
    const refused = await place.call("b", "sync", ...args);
    assert.deepEqual(refused.code, 5);
    assert.ok(refused.stderr.includes(`from turn ${common + 1} on`), refused.stderr);
    assert.ok(refused.stderr.includes(`sync ${ID} --keep-mine-as`), refused.stderr);
    assert.deepEqual(place.turns("b"), mine);
    assert.deepEqual([...place.server.objects.keys()], remote);
  }

  const kept = await place.call("b", "sync", ID, "--keep-mine-as", "mine");
  assert.deepEqual(kept.code, 0, kept.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  assert.deepEqual(place.turns("b", "mine").slice(0, mine.length), mine);
  for (const id of [ID, "mine"]) {
    const checked = await place.call("b", "fsck", id);
    assert.match(checked.stdout, /^\S+: \d+ turns, ok$/m);
  }
});

test("a turn that was altered on the remote is not fetched", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  await place.call("a", "sync", ID);
  place.damage(2);
  const pulled = await place.call("b", "sync", ID);
  assert.deepEqual(pulled.code, 12);
  assert.ok(pulled.stderr.includes("turn 2"), pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a").slice(0, 1));
});

test("without an id every session goes the way it lacks, and one that fails does not keep back the others", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  assert.equal((await place.call("a", "sync")).stdout, `${ID}: ${place.turns("a").length} turns put\n`);
  await place.call("b", "sync");
  assert.deepEqual(place.turns("b"), place.turns("a"));
  // One session that only B has, one that only the remote has, and one that went two ways.
  const fork = JSON.parse((await place.call("b", "fork", ID, "--json", "--remote", "")).stdout).session;
  const there = JSON.parse((await place.call("a", "fork", ID, "--json")).stdout).session;
  await place.write("a", 2);
  await place.call("a", "sync", ID);
  await place.write("b", 2);
  const mine = place.turns("b");
  const called = await place.call("b", "sync", "--json");
  assert.equal(called.code, 5, called.stderr);
  const { sessions, skipped } = JSON.parse(called.stdout) as {
    sessions: { session: string; put: number; fetched: number }[];
    skipped: { code: string; details: { session: string } }[];
  };
  assert.deepEqual(
    new Map(sessions.map(({ session, put, fetched }) => [session, [put > 0, fetched > 0]])),
    new Map([[fork, [true, false]], [there, [false, true]]]),
  );
  assert.deepEqual(skipped.map(({ code, details }) => [code, details.session]), [["session_diverged", ID]]);
  assert.deepEqual(place.turns("b"), mine);
  const unfit = await place.call("b", "sync", "--keep-mine-as", "mine");
  assert.equal(unfit.code, 2, unfit.stderr);
});
