/** Verbs that work on a remote instead of the home, and a repair from it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { endDraft, ID, userDraft } from "../unit/store/support.ts";
import { assertError } from "./harness.ts";
import { TwoHomes } from "./two_homes.ts";

async function pushed(): Promise<TwoHomes> {
  const place = new TwoHomes();
  await place.write("a", 1);
  assert.equal((await place.call("a", "sync", ID)).code, 0);
  return place;
}

function json(called: { readonly stdout: string }): JsonObject {
  return JSON.parse(called.stdout);
}

test("ls --remote lists the sessions there, with the turns that are here", async () => {
  await using place = await pushed();
  await place.write("a", 2);
  const listed = await place.call("a", "ls", "--remote", "--json");
  assert.equal(listed.code, 0, listed.stderr);
  const [session] = json(listed).sessions as JsonObject[];
  const keys = [...place.server.objects.keys()];
  assert.equal(session?.id, ID);
  assert.equal(session?.turns, keys.filter((key) => key.includes("/turns/")).length);
  assert.ok(Number(session?.here) > Number(session?.turns));
  const bytes = [...place.server.objects.values()].reduce((sum, { length }) => sum + length, 0);
  assert.equal(session?.bytes, bytes);
  const text = (await place.call("b", "ls", "--remote", "s3://sessions")).stdout;
  assert.match(text, /^ID +UPDATED +TURNS +HERE +SIZE\n/);
  assert.match(text, new RegExp(`^${ID} .* 0 `, "m"));
});

test("rm --remote takes keys as text: it removes none but those below the session's", async () => {
  await using place = await pushed();
  const { objects, requests } = place.server;
  const other = ["victim/turns/000001.json", "victim/x"];
  const odd = [
    `${ID}/a?b#c`,
    `${ID}/a\\..\\..\\victim\\x`,
    `${ID}/%2e%2e/victim/x`,
    `${ID}/folder/`,
    `${ID}//x`,
  ];
  for (const key of [...other, ...odd]) objects.set(key, new Uint8Array(1));
  objects.set(`${ID}/../${other[0]}`, new Uint8Array(1));
  const refused = await place.call("a", "rm", ID, "--remote", "--yes", "--json");
  assertError(refused, { code: "bad_remote", exit: 2, says: /it lists ".*victim.*", which is outside/ });
  assert.deepEqual(requests.filter((request) => /^DELETE (?!\.probe)/.test(request)), []);
  objects.delete(`${ID}/../${other[0]}`);
  const removed = await place.call("a", "rm", ID, "--remote", "--yes");
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual([...objects.keys()].sort(), [`${ID}/removed.json`, ...other].sort());
});

test("rm --remote leaves a tombstone: no home can put the session again, and both keep theirs", async () => {
  await using place = await pushed();
  const dry = await place.call("a", "rm", ID, "--remote", "--dry-run");
  assert.equal(dry.code, 0, dry.stderr);
  assert.equal((await place.call("a", "rm", ID, "--remote")).code, 2);
  assert.ok(place.server.objects.size > 1);
  const removed = await place.call("a", "rm", ID, "--remote", "--yes");
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual([...place.server.objects.keys()], [`${ID}/removed.json`]);
  assert.ok(place.turns("a").length > 0);
  const again = await place.call("a", "sync", ID);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /was removed there/);
  assert.equal((await place.call("a", "rm", ID, "--remote", "--yes")).code, 2);
  assert.equal((await place.call("a", "rm", "never-was", "--remote", "--yes")).code, 2);
});

test("a session with a young open run is not removed from the remote, and one whose run was killed is", async () => {
  await using place = await pushed();
  await place.add("a", userDraft("begun", 2));
  assert.equal((await place.call("a", "sync", ID)).code, 0);
  const newest = [...place.server.objects.keys()].filter((key) => key.includes("/turns/")).sort().at(-1) ??
    "";
  const refused = await place.call("a", "rm", ID, "--remote", "--yes");
  assert.equal(refused.code, 5, refused.stderr);
  const args = ["rm", "--remote", "--keep", "0", "--json"];
  for (const how of ["--yes", "--dry-run"]) {
    const { skipped } = json(await place.call("a", ...args, how));
    assert.deepEqual((skipped as JsonObject[]).map(({ id }) => id), [ID]);
  }
  place.server.ages.set(newest, 16 * 60 * 1000);
  assert.deepEqual(json(await place.call("a", ...args, "--dry-run")).skipped, []);
  const { removed } = json(await place.call("a", ...args, "--yes"));
  assert.deepEqual((removed as JsonObject[]).map(({ id }) => id), [ID]);
  assert.deepEqual([...place.server.objects.keys()], [`${ID}/removed.json`]);
});

test("neither interrupt nor sync ends the open run of another home", async () => {
  await using place = await pushed();
  await place.add("a", userDraft("begun", 2));
  assert.equal((await place.call("a", "sync", ID)).code, 0);
  const before = [...place.server.objects.keys()];
  const grow = (minutes: number) => before.forEach((each) => place.server.ages.set(each, minutes * 60_000));
  grow(3);
  const refused = await place.call("b", "interrupt", ID, "--remote", "s3://sessions");
  assert.equal(refused.code, 2, "the session is not here");
  assert.equal((await place.call("b", "sync", ID)).code, 0);
  const interrupted = await place.call("b", "interrupt", ID);
  assert.equal(interrupted.code, 5, interrupted.stdout);
  assert.match(interrupted.stderr, /this machine only, .* [12]\d\d seconds ago\n.*--take-over/);
  await place.add("b", endDraft(2));
  const put = await place.call("b", "sync", ID);
  assert.equal(put.code, 5, put.stdout);
  const repaired = json(await place.call("a", "repair", "--all", "--json"));
  assert.deepEqual((repaired.skipped as JsonObject[]).map(({ code }) => code), ["session_open_elsewhere"]);
  assert.deepEqual([...place.server.objects.keys()], before);
  grow(16);
  assert.equal((await place.call("a", "interrupt", ID)).code, 0);
  assert.equal(place.server.objects.size, before.length + 1);
});

test("fsck --remote checks the copy there, and puts nothing into the home", async () => {
  await using place = await pushed();
  const verified = await place.call("b", "fsck", ID, "--requests", "--remote");
  const here = await place.call("a", "fsck", ID, "--requests");
  assert.deepEqual([verified.code, verified.stdout], [here.code, here.stdout]);
  assert.match(verified.stdout, /turn 2: /);
  assert.throws(() => place.turns("b"), Deno.errors.NotFound);
  place.damage(2);
  const damaged = await place.call("b", "fsck", ID, "--requests", "--remote");
  assert.equal(damaged.code, 12);
  assert.match(damaged.stdout, /turn 2 on s3:\/\/sessions/);
  const all = await place.call("b", "fsck", "--all", "--requests", "--remote", "--json");
  assert.equal(all.code, 12);
  const [session] = json(all).sessions as JsonObject[];
  assert.deepEqual((session?.findings as JsonObject[]).map(({ code }) => code), ["remote_damage"]);
});

test("repair takes the remote's intact turn and blob before it makes a replacement", async () => {
  await using place = await pushed();
  const whole = place.turns("a");
  const directory = place.directory("a");
  Deno.writeTextFileSync(`${directory}/turns/000002.json`, "torn");
  const [blob = ""] = [...Deno.readDirSync(`${directory}/blobs`)].map(({ name }) => name);
  Deno.removeSync(`${directory}/blobs/${blob}`);
  const dry = await place.call("a", "repair", ID, "--dry-run");
  assert.match(dry.stdout, /restore turns\/000002\.json from s3:\/\/sessions\/.*000002\.json/);
  assert.notDeepEqual(place.turns("a"), whole);
  const repaired = await place.call("a", "repair", ID);
  assert.equal(repaired.code, 0, repaired.stdout + repaired.stderr);
  assert.deepEqual(place.turns("a"), whole);
  assert.equal((await place.call("a", "fsck", ID)).code, 0);
  assert.equal((await place.call("a", "sync", ID)).code, 0);
});

test("repair puts an intact turn beside a damaged one, and what is missing; others fetch it", async () => {
  await using place = await pushed();
  const names = [...place.server.objects.keys()];
  const blob = names.find((key) => key.includes("/blobs/")) ?? "";
  const damaged = place.damage(2);
  place.server.objects.delete(blob);
  const dry = await place.call("a", "repair", ID, "--dry-run");
  assert.match(dry.stdout, /put s3:\/\/sessions\/.*000002\.r1\.json/);
  assert.equal(place.server.objects.size, names.length - 1);
  const repaired = await place.call("a", "repair", ID);
  assert.equal(repaired.code, 0, repaired.stdout + repaired.stderr);
  assert.deepEqual(place.server.objects.get(`${ID}/turns/000002.json`), damaged);
  assert.ok(place.server.objects.has(blob));
  const pulled = await place.call("b", "sync", ID);
  assert.equal(pulled.code, 0, pulled.stderr);
  assert.deepEqual(place.turns("b"), place.turns("a"));
  const again = json(await place.call("a", "repair", ID, "--json"));
  assert.deepEqual([again.put, again.actions], [[], []]);
  assert.equal((await place.call("a", "sync", ID)).code, 0);
});

test("repair mixes no histories", async () => {
  await using place = await pushed();
  await place.call("b", "sync", ID);
  await place.write("a", 2);
  await place.call("a", "sync", ID);
  await place.write("b", 2);
  const [mine, there] = [place.turns("b"), place.server.objects.size];
  Deno.writeTextFileSync(`${place.directory("b")}/turns/000001.json`, "torn");
  const refused = await place.call("b", "repair", ID);
  assert.equal(refused.code, 5, refused.stdout + refused.stderr);
  assert.deepEqual(place.turns("b").slice(1), mine.slice(1));
  assert.equal(place.server.objects.size, there);
});
