/** Verbs that work on a remote instead of the home, and a repair from it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ended, user } from "../doors/sessions/session_files.ts";
import type { Json } from "../support/files.ts";
import { assertError } from "./harness.ts";
import { ID, key, TwoHomes } from "./two_homes.ts";

const BEGUN = user("begun", 2);

test("ls --remote lists the sessions there, with the turns that are here", async () => {
  await using place = await TwoHomes.pushed();
  place.write("a", 2);
  const { sessions: [session] } = await place.json("a", "ls", "--remote");
  const bytes = [...place.server.objects.values()].reduce((sum, { length }) => sum + length, 0);
  assert.deepEqual([session.id, session.turns, session.here, session.bytes], [ID, 5, 10, bytes]);
  const text = await place.ok("b", "ls", "--remote", "s3://sessions");
  assert.match(text, new RegExp(`^ID +UPDATED +TURNS +HERE +SIZE\n${ID} .* 0 `));
});

const REMOVE = ["rm", ID, "--remote", "--yes"] as const;

test("rm --remote takes keys as text: it removes none but those below the session's", async () => {
  await using place = await TwoHomes.pushed();
  const { objects, requests } = place.server;
  const other = ["victim/turns/000001.json", "victim/x"];
  const odd = ["a?b#c", "a\\..\\..\\victim\\x", "%2e%2e/victim/x", "folder/", "/x"].map((name) =>
    `${ID}/${name}`
  );
  const outside = `${ID}/../${other[0]}`;
  for (const name of [...other, ...odd, outside]) objects.set(name, new Uint8Array(1));
  const { stderr } = await place.in("a", ...REMOVE);
  assert.match(stderr, /passed over ".*\/\.\.\/victim/);
  assert.deepEqual(requests.filter((request) => /^DELETE (victim|.*\/\.\.\/)/.test(request)), []);
  assert.deepEqual([...objects.keys()].sort(), [`${ID}/removed.json`, ...other, outside].sort());
});

test("rm --remote leaves a tombstone: no home can put the session again, and both keep theirs", async () => {
  await using place = await TwoHomes.pushed();
  const { objects } = place.server;
  await place.ok("a", "rm", ID, "--remote", "--dry-run");
  await place.fails(2, "a", "rm", ID, "--remote");
  assert.ok(objects.size > 1);
  // What another home puts between the list and the tombstone goes too.
  place.server.isMute = (method, name) => {
    if (method === "PUT" && name.endsWith("removed.json")) objects.set(key(99), new Uint8Array(1));
    return false;
  };
  await place.ok("a", ...REMOVE);
  assert.deepEqual([...objects.keys()], [`${ID}/removed.json`]);
  assert.equal(place.files("a").length, 5);
  assert.match(await place.fails(2, "a", "sync", ID), /was removed there/);
  await place.fails(2, "a", ...REMOVE);
  await place.fails(2, "a", "rm", "never-was", "--remote", "--yes");
});

test("rm --remote reports a writer that never stops", async () => {
  await using place = await TwoHomes.pushed();
  const { objects } = place.server;
  place.server.isMute = (method, name) => {
    const isListed = method === "GET" && name === "" && objects.has(`${ID}/removed.json`);
    if (isListed) objects.set(key(99), new Uint8Array(1));
    return false;
  };
  const called = await place.in("a", ...REMOVE, "--json");
  assertError(called, { code: "session_open_elsewhere", exit: 5, says: /a writer keeps putting/ });
});

test("a session with a young open run is not removed from the remote, and one whose run was killed is", async () => {
  await using place = new TwoHomes();
  place.write("a", 1, BEGUN);
  await place.ok("a", "sync", ID);
  await place.fails(5, "a", ...REMOVE);
  const ids = (sessions: Json) => sessions.map(({ id }: Json) => id);
  const args = ["rm", "--remote", "--keep", "0"];
  for (const how of ["--yes", "--dry-run"]) {
    const { stdout } = await place.in("a", ...args, how, "--json");
    assert.deepEqual(ids(JSON.parse(stdout).skipped), [ID]);
  }
  place.server.ages.set(key(6), 16 * 60 * 1000);
  assert.deepEqual((await place.json("a", ...args, "--dry-run")).skipped, []);
  assert.deepEqual(ids((await place.json("a", ...args, "--yes")).removed), [ID]);
  assert.deepEqual([...place.server.objects.keys()], [`${ID}/removed.json`]);
});

test("neither interrupt nor sync ends the open run of another home", async () => {
  await using place = new TwoHomes();
  place.write("a", 1, BEGUN);
  await place.ok("a", "sync", ID);
  const before = [...place.server.objects.keys()];
  const grow = (minutes: number) => before.forEach((each) => place.server.ages.set(each, minutes * 60_000));
  grow(3);
  await place.fails(2, "b", "interrupt", ID, "--remote", "s3://sessions");
  await place.ok("b", "sync", ID);
  const interrupted = await place.fails(5, "b", "interrupt", ID);
  assert.match(interrupted, /this machine only, .* [12]\d\d seconds ago\n.*--take-over/);
  place.write("b", 1, BEGUN, ended(2));
  await place.fails(5, "b", "sync", ID);
  const { skipped } = JSON.parse((await place.in("a", "repair", "--all", "--json")).stdout);
  assert.deepEqual(skipped.map(({ code }: Json) => code), ["session_open_elsewhere"]);
  assert.deepEqual([...place.server.objects.keys()], before);
  grow(16);
  await place.ok("a", "interrupt", ID);
  assert.equal(place.server.objects.size, before.length + 1);
});

test("fsck --remote checks the copy there, and puts nothing into the home", async () => {
  await using place = await TwoHomes.pushed();
  const check = ["--requests", "--remote"];
  const [there, here] = [
    await place.in("b", "fsck", ID, ...check),
    await place.in("a", "fsck", ID, "--requests"),
  ];
  assert.deepEqual([there.code, there.stdout], [here.code, here.stdout]);
  assert.match(there.stdout, /turn 2: /);
  place.damage(2);
  assert.match(await place.fails(12, "b", "fsck", ID, ...check), /turn 2 on s3:\/\/sessions/);
  const all = JSON.parse(await place.fails(12, "b", "fsck", "--all", ...check, "--json"));
  assert.deepEqual(all.sessions[0].findings.map(({ code }: Json) => code), ["remote_damage"]);
  place.requireNone("b");
});

test("repair takes the remote's intact turn and blob before it makes a replacement", async () => {
  await using place = await TwoHomes.pushed();
  const [whole, path] = [place.files("a"), place.path("a")];
  Deno.writeTextFileSync(`${path}/turns/000002.json`, "torn");
  const [blob] = [...Deno.readDirSync(`${path}/blobs`)];
  Deno.removeSync(`${path}/blobs/${blob?.name}`);
  const dry = await place.ok("a", "repair", ID, "--dry-run");
  assert.match(dry, /restore turns\/000002\.json from s3:\/\/sessions\/.*000002\.json/);
  assert.notDeepEqual(place.files("a"), whole);
  await place.ok("a", "repair", ID);
  assert.deepEqual(place.files("a"), whole);
  for (const verb of ["fsck", "sync"]) await place.ok("a", verb, ID);
});

test("repair puts an intact turn beside a damaged one, and what is missing; others fetch it", async () => {
  await using place = await TwoHomes.pushed();
  const { objects } = place.server;
  const blob = [...objects.keys()].find((name) => name.includes("/blobs/")) as string;
  const damaged = place.damage(2);
  objects.delete(blob);
  const { size } = objects;
  assert.match(await place.ok("a", "repair", ID, "--dry-run"), /put s3:\/\/sessions\/.*000002\.r1\.json/);
  assert.equal(objects.size, size);
  await place.ok("a", "repair", ID);
  assert.deepEqual([objects.get(key(2)), objects.has(blob)], [damaged, true]);
  await place.ok("b", "sync", ID);
  assert.deepEqual(place.files("b"), place.files("a"));
  const again = await place.json("a", "repair", ID);
  assert.deepEqual([again.put, again.actions], [[], []]);
  await place.ok("a", "sync", ID);
});
