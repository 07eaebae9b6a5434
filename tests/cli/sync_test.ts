/** Sessions that two homes exchange through a remote with `sync`, and objects there that another program altered. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError } from "./harness.ts";
import { ID, key, TwoHomes } from "./two_homes.ts";

test("a session that one home puts is fetched by another one; a dry run counts the turns and changes neither side", async () => {
  await using place = new TwoHomes();
  place.write("a", 1);
  const push = await place.json("a", "sync", ID, "--dry-run");
  assert.deepEqual([push.dry_run, push.sessions[0].put, push.changes], [true, 5, [
    { action: "send", what: "turn", name: ID },
  ]]);
  assert.equal(place.server.objects.size, 0);
  assert.equal(await place.ok("a", "sync"), `${ID}: 5 turns put\n`);
  const puts = place.server.requests.flatMap((request) =>
    /^PUT (.*\/(?:turns|blobs)\/.*)/.exec(request)?.[1] ?? []
  );
  assert.ok(puts.slice(0, 2).every((name) => name.includes("/blobs/")), "blobs come before turns");
  assert.deepEqual(puts.slice(2), [1, 2, 3, 4, 5].map(key));
  assert.equal(await place.ok("b", "sync", ID, "--dry-run"), `${ID}: 5 turns would be fetched\n`);
  place.requireNone("b");
  await place.ok("b", "sync", ID);
  assert.deepEqual(place.files("b"), place.files("a"));
  await place.ok("b", "fsck", ID);
  const nothing = { session: ID, put: 0, fetched: 0, blobs: 0, omitted: 0, mine: null };
  assert.deepEqual((await place.json("a", "sync", "@last:any")).sessions, [nothing]);
});

test("a session that went two ways is left unchanged, and both ways can be kept once all turns there are verified", async () => {
  await using place = await TwoHomes.pushed(1, "b");
  place.write("a", 2);
  await place.ok("a", "sync", ID);
  place.write("b", 2);
  const [mine, there] = [place.files("b"), [...place.server.objects.keys()]];
  for (const args of [[ID], []]) {
    const refused = await place.fails(5, "b", "sync", ...args);
    assert.match(refused, new RegExp(`from turn 6 on[^]*sync ${ID} --keep-mine-as`));
  }
  await place.fails(5, "b", "repair", ID);
  const keep = ["sync", ID, "--keep-mine-as"];
  assert.match((await place.in("b", ...keep, "mine", "--dry-run")).stderr, /would become session mine/);
  const intact = place.server.objects.get(key(7)) as Uint8Array<ArrayBuffer>;
  place.damage(7);
  await place.fails(12, "b", ...keep, "mine");
  place.requireNone("b", "mine");
  assert.deepEqual([place.files("b"), [...place.server.objects.keys()]], [mine, there]);
  place.server.objects.set(key(7), intact);
  // A call that was killed after it made the fork can be repeated.
  const { session } = await place.json("b", "fork", ID);
  const fork = place.files("b", session);
  await place.ok("b", ...keep, session);
  assert.deepEqual([place.files("b"), place.files("b", session)], [place.files("a"), fork]);
  assert.deepEqual(fork.slice(0, mine.length), mine);
  for (const id of [ID, session]) await place.ok("b", "fsck", id);
  assert.match((await place.in("b", ...keep, "other")).stderr, /no fork other: .* did not go different ways/);
});

test("without an id every session goes the way it lacks, and one that fails does not keep back the others", async () => {
  await using place = await TwoHomes.pushed(1, "b");
  // One session that only B has, one that only the remote has, and one that went two ways.
  const fork = (await place.json("b", "fork", ID, "--remote", "")).session;
  const there = (await place.json("a", "fork", ID)).session;
  place.write("a", 2);
  await place.ok("a", "sync", ID);
  place.write("b", 2);
  const { sessions, skipped } = JSON.parse((await place.in("b", "sync", "--json")).stdout);
  assert.deepEqual(
    new Map(sessions.map(({ session, put, fetched }: Record<string, number>) => [session, [put, fetched]])),
    new Map([[fork, [6, 0]], [there, [0, 6]]]),
  );
  assert.deepEqual([skipped[0].code, skipped[0].details.session], ["session_diverged", ID]);
  await place.fails(2, "b", "sync", "--keep-mine-as", "mine");
});

test("a damaged last turn on the remote is no divergence", async () => {
  await using place = await TwoHomes.pushed();
  place.damage(5);
  for (const more of [[], ["--keep-mine-as", "mine"]]) {
    const refused = await place.fails(12, "a", "sync", ID, ...more);
    assert.match(refused, new RegExp(`turn 5 is damaged there[^]* repair ${ID}`));
  }
});

test("a turn far above the others is a gap: nothing asks for each turn before it", async () => {
  await using place = await TwoHomes.pushed(1, "b");
  for (const id of ["abc-def", ID]) {
    place.server.objects.set(`${id}/turns/999999.json`, new TextEncoder().encode("x"));
  }
  for (const args of [["sync", "abc-def"], ["sync", ID], ["fsck", "abc-def", "--requests", "--remote"]]) {
    place.server.requests.length = 0;
    await place.fails(12, "b", ...args);
    place.requireNone("b", "abc-def");
    assert.ok(place.server.requests.length < 60, `${args}: ${place.server.requests.length} requests`);
  }
});

type Bytes = Uint8Array<ArrayBuffer>;

/** Objects that another program may have put under the key of turn 3. */
const FORGED: Readonly<Record<string, (bytes: Bytes, objects: ReadonlyMap<string, Bytes>) => Bytes>> = {
  "a changed byte": (bytes) => bytes.with(200, (bytes[200] as number) ^ 1),
  "another turn": (_, objects) => objects.get(key(4)) as Bytes,
};

for (const [name, forge] of Object.entries(FORGED)) {
  test.long(`a fetch refuses ${name}, and keeps the turns before it`, async () => {
    await using place = await TwoHomes.pushed(2);
    const { objects } = place.server;
    const intact = objects.get(key(3)) as Bytes;
    objects.set(key(3), forge(intact, objects));
    const refused = await place.in("b", "sync", ID, "--json");
    assertError(refused, { code: "session_damaged", exit: 12, says: /turn 3/ });
    assert.deepEqual(place.files("b"), place.files("a").slice(0, 2));
    objects.set(key(3), intact);
    await place.ok("b", "sync", ID);
    assert.deepEqual(place.files("b"), place.files("a"));
  });
}

test.long("a fetch refuses a blob with other bytes, and the turns of another session", async () => {
  await using place = await TwoHomes.pushed(2);
  const { objects } = place.server;
  for (const [name, bytes] of [...objects]) objects.set(name.replace(ID, "stranger-7k2m"), bytes);
  for (const name of objects.keys()) {
    if (name.startsWith(`${ID}/blobs/`)) objects.set(name, new TextEncoder().encode("other"));
  }
  for (const [id, says] of [["stranger-7k2m", new RegExp(ID)], [ID, /other bytes there/]] as const) {
    const refused = await place.in("b", "sync", id, "--json");
    assertError(refused, { code: "session_damaged", exit: 12, says });
  }
});

test.long("a push during which the session is removed ends and leaves nothing", async () => {
  await using place = new TwoHomes();
  place.write("a", 2);
  const { server } = place;
  server.isMute = (method, name) => {
    if (method !== "PUT" || name !== key(3)) return false;
    server.objects.clear();
    server.objects.set(`${ID}/removed.json`, new TextEncoder().encode("{}\n"));
    return false;
  };
  assertError(await place.in("a", "sync", ID, "--json"), { code: "session_removed", exit: 2 });
  assert.deepEqual([...server.objects.keys()], [`${ID}/removed.json`]);
  assert.equal(place.files("a").length, 10);
});

test("a turn is not put after a predecessor that was replaced on the remote meanwhile, or is gone", async () => {
  for (const change of ["replaced", "gone"] as const) {
    await using place = await TwoHomes.pushed();
    // Another history, whose turns have other sums.
    place.write("b", 2);
    const other = new TextEncoder().encode(place.files("b")[5]);
    place.write("a", 2);
    let gets = 0;
    place.server.instead = ({ method }, asked) => {
      // The first look compares the session with the remote.
      if (method === "GET" && asked === key(5) && ++gets === 2) {
        if (change === "gone") place.server.objects.delete(asked);
        else place.server.objects.set(asked, other);
      }
      return null;
    };
    const before = place.files("a");
    const said = await place.fails(5, "a", "sync", ID);
    assert.match(said, change === "gone" ? /it has no turn 5/ : /its turn 5 is another one/);
    assert.deepEqual([place.server.objects.has(key(6)), place.files("a")], [false, before]);
  }
});
