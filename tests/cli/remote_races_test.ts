/** Objects of a remote that another program altered, and sessions that are removed there meanwhile. */
import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { ID } from "../unit/store/support.ts";
import { assertError } from "./harness.ts";
import { TwoHomes } from "./two_homes.ts";

const key = (turn: number) => `${ID}/turns/${String(turn).padStart(6, "0")}.json`;

/** A session of two runs in home `a` and on the remote. */
async function pushed(): Promise<TwoHomes> {
  const place = new TwoHomes();
  for (const run of [1, 2]) await place.write("a", run);
  const called = await place.call("a", "sync", ID);
  assert.equal(called.code, 0, called.stderr);
  return place;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Objects that another program may have put under the key of turn 3, and how many turns are fetched then. */
const FORGED: Readonly<Record<string, (bytes: Bytes, objects: ReadonlyMap<string, Bytes>) => Bytes>> = {
  "a torn file": (bytes) => bytes.slice(0, -20),
  "a changed byte": (bytes) => bytes.with(200, (bytes[200] as number) ^ 1),
  "an empty file": () => new Uint8Array(),
  "another turn": (_, objects) => objects.get(key(4)) as Bytes,
};

for (const [name, forge] of Object.entries(FORGED)) {
  test.long(`a fetch refuses ${name}, and keeps the turns before it`, async () => {
    await using place = await pushed();
    const { objects } = place.server;
    const intact = objects.get(key(3)) as Bytes;
    objects.set(key(3), forge(intact, objects));
    assertError(await place.call("b", "sync", ID, "--json"), {
      code: "session_damaged",
      exit: 12,
      says: /turn 3/,
    });
    assert.deepEqual(place.turns("b"), place.turns("a").slice(0, 2));
    objects.set(key(3), intact);
    assert.equal((await place.call("b", "sync", ID)).code, 0);
    assert.deepEqual(place.turns("b"), place.turns("a"));
  });
}

test.long("a fetch refuses a blob with other bytes, and the turns of another session", async () => {
  await using place = await pushed();
  const { objects } = place.server;
  for (const [name, bytes] of [...objects]) objects.set(name.replace(ID, "stranger-7k2m"), bytes);
  const stranger = await place.call("b", "sync", "stranger-7k2m", "--json");
  assertError(stranger, { code: "session_damaged", exit: 12, says: new RegExp(ID) });
  for (const name of objects.keys()) {
    if (name.includes("/blobs/")) objects.set(name, new TextEncoder().encode("other"));
  }
  assertError(await place.call("b", "sync", ID, "--json"), {
    code: "session_damaged",
    exit: 12,
    says: /other bytes there/,
  });
});

test.long("a removal takes what was put between its list and its tombstone", async () => {
  await using place = await pushed();
  const { server } = place;
  server.isMute = (method, name) => {
    if (method === "PUT" && name.endsWith("removed.json")) server.objects.set(key(99), new Uint8Array(1));
    return false;
  };
  assert.equal((await place.call("a", "rm", ID, "--remote", "--yes")).code, 0);
  assert.deepEqual([...server.objects.keys()], [`${ID}/removed.json`]);
});

test.long("a removal reports a writer that never stops", async () => {
  await using place = await pushed();
  const { server } = place;
  server.isMute = (method, name) => {
    const isMarked = server.objects.has(`${ID}/removed.json`);
    if (method === "GET" && name === "" && isMarked) server.objects.set(key(99), new Uint8Array(1));
    return false;
  };
  const called = await place.call("a", "rm", ID, "--remote", "--yes", "--json");
  assertError(called, { code: "session_open_elsewhere", exit: 5, says: /a writer keeps putting/ });
});

for (const turn of [3, 10]) {
  test.long(`a push during which the session is removed, at turn ${turn} of 10, ends and leaves nothing`, async () => {
    await using place = new TwoHomes();
    for (const run of [1, 2]) await place.write("a", run);
    const { server } = place;
    server.isMute = (method, name) => {
      if (method !== "PUT" || name !== key(turn)) return false;
      server.objects.clear();
      server.objects.set(`${ID}/removed.json`, new TextEncoder().encode("{}\n"));
      return false;
    };
    const called = await place.call("a", "sync", ID, "--json");
    assertError(called, { code: "session_removed", exit: 2 });
    assert.deepEqual([...server.objects.keys()], [`${ID}/removed.json`]);
    assert.equal(place.turns("a").length, 10);
  });
}

test.long("blobs are put before the turn that names them, and the turn waits until the remote has it", async () => {
  await using place = new TwoHomes();
  await place.write("a", 1);
  const { server } = place;
  assert.equal((await place.call("a", "sync", ID)).code, 0);
  const puts = server.requests.filter((request) => request.startsWith("PUT ")).map((request) =>
    request.slice(4)
  );
  const first = puts.findIndex((name) => name.includes("/turns/"));
  assert.deepEqual(puts.slice(first), [1, 2, 3, 4, 5].map(key));
  assert.equal(puts.slice(0, first).filter((name) => name.includes("/blobs/")).length, 2);
});
