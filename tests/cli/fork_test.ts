/** fork: a new session from the start of another, and ls --tree. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, ok, Place, readsThenAnswers } from "./harness.ts";

interface ForkReport {
  readonly session: string;
  readonly path: string;
  readonly turn: number;
  readonly parent: string;
  readonly to_seq: number;
  readonly to_turn: number;
  readonly closed_run: number | null;
  readonly notices: number;
  readonly summary: string | null;
}

async function fork(place: Place, args: readonly string[]): Promise<ForkReport> {
  const called = await place.call(["fork", ...args, "--json"]);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return JSON.parse(called.stdout);
}

test("fork begins a new session from the start of another: --to-seq inside a turn or between a call and its result is exit 2, and names the nearest", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const [user, model, tools] = place.sandbox.turns("s").map(({ seq }) => seq);
  const inside = await place.call(["fork", "s", "--to-seq", String(model[0]), "--json"]);
  assertError(inside, {
    code: "usage",
    exit: 2,
    says: /inside turn 2/,
    hint: new RegExp(`--to-seq ${user[1]}$`),
  });
  const parted = await place.call(["fork", "s", "--to-seq", String(model[1]), "--json"]);
  assertError(parted, {
    code: "usage",
    exit: 2,
    says: /part the call/,
    hint: new RegExp(`--to-seq ${tools[1]}$`),
  });
  assertError(await place.call(["fork", "none", "--json"]), { code: "no_such_session", exit: 2 });
  const bad = await place.call(["fork", "s", "--to-seq", "x", "--json"]);
  assertError(bad, { code: "usage", exit: 2 });
  assert.deepEqual([...Deno.readDirSync(`${place.sandbox.home}/sessions`)].map(({ name }) => name), ["s"]);
});

test("fork begins a new session from the start of another: --dry-run says where, and changes nothing; then the fork is reported; for people stdout is the new id", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const report = JSON.parse(await ok(place, ["fork", "s", "--dry-run", "--json"]));
  assert.deepEqual(report, {
    type: "dry_run",
    dry_run: true,
    verb: "fork",
    changes: [{ action: "create", what: "session", name: null }],
    parent: "s",
    to_seq: place.sandbox.turns("s")[4].seq[1],
    to_turn: 5,
    closed_run: null,
    notices: 0,
    summary: null,
  });
  assert.equal([...Deno.readDirSync(`${place.sandbox.home}/sessions`)].length, 1);
  const document = await fork(place, ["s"]);
  assert.match(document.session, /^s-[0-9a-z]{4}$/);
  assert.equal(document.path, place.path(document.session));
  assert.deepEqual([document.parent, document.to_turn, document.turn], ["s", 5, 6]);
  assert.deepEqual([document.closed_run, document.notices, document.summary], [null, 0, null]);
  const user = place.sandbox.turns("s")[0].seq[1];
  const summarized = await fork(place, ["s", "--to-seq", String(user), "--summarize"]);
  assert.equal(summarized.closed_run, 1);
  assert.match(summarized.summary ?? "", /call: read_file .*: ok/);
  const called = await place.call(["fork", "s"]);
  assert.match(called.stdout, /^s-[0-9a-z]{4}\n$/);
  assert.match(called.stderr, /forked from s after turn 5/);
  assert.match(await ok(place, ["show", called.stdout.trim()]), /forked from s after seq/);
});

test("ls --tree shows forks under the sessions that they were forked from: also when the parent is gone, and then says so", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const child = (await fork(place, ["s"])).session;
  const grandchild = (await fork(place, [child])).session;
  const tree = await ok(place, ["ls", "--tree"]);
  assert.match(tree, new RegExp(`^ID  .*\\ns  .*\\n  ${child}  .*\\n    ${grandchild} .*\\n$`));
  const [root] = JSON.parse(await ok(place, ["ls", "--tree", "--json"])).sessions;
  assert.deepEqual([root.id, root.forks[0].id, root.forks[0].parent, root.forks[0].forks[0].id], [
    "s",
    child,
    "s",
    grandchild,
  ]);
  await ok(place, ["rm", child, "--yes"]);
  assert.match(await ok(place, ["ls", "--tree"]), new RegExp(`forked from ${child}, which no longer exists`));
  const { sessions } = JSON.parse(await ok(place, ["ls", "--tree", "--json"]));
  assert.deepEqual(sessions.map(({ id }: { id: string }) => id).sort(), ["s", grandchild].sort());
  assert.equal(sessions.find(({ id }: { id: string }) => id === grandchild).parent_gone, true);
  await ok(place, ["run", "--json", "-s", grandchild, "Go on"]);
  await ok(place, ["fsck", "--all"]);
});
