/** Sessions that two homes exchange through a remote with `push` and `pull`. */
import assert from "node:assert/strict";
import { ID } from "../unit/store/support.ts";
import { TwoHomes } from "./two_homes.ts";

Deno.test("a pushed session is pulled by another home, file by file", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  assert.deepEqual((await place.call("a", "push", ID)).code, 0);
  const pulled = await place.call("b", "pull", ID);
  assert.deepEqual(pulled.code, 0, pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  assert.deepEqual((await place.call("b", "fsck", ID)).code, 0);
  const again = await place.call("a", "push", ID, "--json");
  assert.deepEqual(JSON.parse(again.stdout).sessions[0].put, 0);
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
    assert.deepEqual(checked.code, 0, checked.stdout);
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
