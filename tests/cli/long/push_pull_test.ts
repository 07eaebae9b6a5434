/** Sessions that two homes exchange through a remote with `push` and `pull`. */
import assert from "node:assert/strict";
import { ID } from "../../unit/store/support.ts";
import { TwoHomes } from "../two_homes.ts";

Deno.test("a pushed session is pulled by another home, file by file", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  assert.deepEqual((await place.call("a", "push", ID)).code, 0);
  const pulled = await place.call("b", "pull", ID);
  assert.deepEqual(pulled.code, 0, pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  const checked = await place.call("b", "fsck", ID);
  assert.match(checked.stdout, /^\S+: \d+ turns, ok$/m);
  const again = await place.call("a", "push", ID, "--json");
  assert.deepEqual(JSON.parse(again.stdout).sessions[0].put, 0);
});

Deno.test("a dry run of push and pull counts the turns, and changes neither side", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  const count = place.turns("a").length;
  const push = await place.call("a", "push", ID, "--dry-run", "--json");
  assert.equal(push.code, 0, push.stderr);
  const pushed = JSON.parse(push.stdout);
  assert.deepEqual([pushed.dry_run, pushed.sessions[0].put, pushed.changes], [true, count, [
    { action: "send", what: "turn", name: ID },
  ]]);
  assert.equal(place.server.objects.size, 0);
  await place.call("a", "push", ID);
  const pull = await place.call("b", "pull", ID, "--dry-run");
  assert.deepEqual([pull.code, pull.stdout], [0, `${ID}: ${count} turns would be fetched\n`]);
  assert.throws(() => place.turns("b"), Deno.errors.NotFound);
  await place.call("b", "pull", ID);
  await place.write("a", 2);
  await place.call("a", "push", ID);
  await place.write("b", 2);
  const before = place.turns("b");
  const kept = await place.call("b", "pull", ID, "--keep-mine-as", "mine", "--dry-run");
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(kept.stderr, /the turns of this home would become session mine/);
  assert.deepEqual(place.turns("b"), before);
  assert.throws(() => place.turns("b", "mine"), Deno.errors.NotFound);
});

Deno.test("a session that went two ways is left unchanged, and both ways can be kept", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  await place.call("a", "push", ID);
  await place.call("b", "pull", ID);
  const common = place.turns("b").length;
  await place.write("a", 2);
  await place.call("a", "push", ID);
  await place.write("b", 2);
  const [mine, remote] = [place.turns("b"), [...place.server.objects.keys()]];

  for (const verb of ["push", "pull"]) {
    const refused = await place.call("b", verb, ID);
    assert.deepEqual(refused.code, 5);
    assert.ok(refused.stderr.includes(`from turn ${common + 1} on`), refused.stderr);
    assert.ok(refused.stderr.includes(`pull ${ID} --keep-mine-as`), refused.stderr);
    assert.deepEqual(place.turns("b"), mine);
    assert.deepEqual([...place.server.objects.keys()], remote);
  }

  const kept = await place.call("b", "pull", ID, "--keep-mine-as", "mine");
  assert.deepEqual(kept.code, 0, kept.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  assert.deepEqual(place.turns("b", "mine").slice(0, mine.length), mine);
  for (const id of [ID, "mine"]) {
    const checked = await place.call("b", "fsck", id);
    assert.match(checked.stdout, /^\S+: \d+ turns, ok$/m);
  }
});

Deno.test("a turn that was altered on the remote is not fetched", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  await place.call("a", "push", ID);
  place.damage(2);
  const pulled = await place.call("b", "pull", ID);
  assert.deepEqual(pulled.code, 12);
  assert.ok(pulled.stderr.includes("turn 2"), pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a").slice(0, 1));
});
