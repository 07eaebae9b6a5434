/** fork as a user calls it, and ls --tree; tests/doors/sessions has the places where a fork can begin. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { assertError, begun, json, ok, readsThenAnswers } from "./harness.ts";

const one = begun(readsThenAnswers, (place) => place.session("s"));

test("fork --dry-run says where, and changes nothing; then the fork is reported; for people stdout is the new id", async () => {
  await using place = await one();
  assert.deepEqual(await json(place, ["fork", "s", "--dry-run"]), {
    ...{ type: "dry_run", dry_run: true, verb: "fork" },
    changes: [{ action: "create", what: "session", name: null }],
    parent: "s",
    to_seq: place.sandbox.turns("s")[4].seq[1],
    to_turn: 5,
    ...{ closed_run: null, notices: 0, summary: null },
  });
  assert.equal([...Deno.readDirSync(`${place.sandbox.home}/sessions`)].length, 1);
  const { session, path, ...report } = await json(place, ["fork", "s"]);
  assert.match(session, /^s-[0-9a-z]{4}$/);
  assert.equal(path, place.path(session));
  assert.deepEqual([report.parent, report.to_turn, report.turn], ["s", 5, 6]);
  assert.deepEqual([report.closed_run, report.notices, report.summary], [null, 0, null]);
  const user = place.sandbox.turns("s")[0].seq[1];
  const summarized = await json(place, ["fork", "s", "--to-seq", String(user), "--summarize"]);
  assert.equal(summarized.closed_run, 1);
  assert.match(summarized.summary, /call: read_file .*: ok/);
  const called = await place.call(["fork", "s"]);
  assert.match(called.stdout, /^s-[0-9a-z]{4}\n$/);
  assert.match(called.stderr, /forked from s after turn 5/);
  assert.match(await ok(place, ["show", called.stdout.trim()]), /forked from s after seq/);
  for (const [args, code] of [[["none"], "no_such_session"], [["s", "--to-seq", "x"], "usage"]] as const) {
    assertError(await place.call(["fork", ...args, "--json"]), { code, exit: 2 });
  }
});

test("ls --tree shows forks under the sessions that they were forked from: also when the parent is gone, and then says so", async () => {
  await using place = await one();
  const child = (await json(place, ["fork", "s"])).session;
  const grandchild = (await json(place, ["fork", child])).session;
  const tree = await ok(place, ["ls", "--tree"]);
  assert.match(tree, new RegExp(`^ID  .*\\ns  .*\\n  ${child}  .*\\n    ${grandchild} .*\\n$`));
  const [root] = (await json(place, ["ls", "--tree"])).sessions;
  const [fork] = root.forks;
  assert.deepEqual([root.id, fork.id, fork.parent, fork.forks[0].id], ["s", child, "s", grandchild]);
  assert.deepEqual([fork.parent_gone, fork.forks[0].parent_gone], [undefined, undefined]);
  await ok(place, ["rm", child, "--yes"]);
  assert.match(await ok(place, ["ls", "--tree"]), new RegExp(`forked from ${child}, which no longer exists`));
  const { sessions } = await json(place, ["ls", "--tree"]);
  const gone = sessions.map(({ id, parent_gone }: Json) => [id, parent_gone ?? false]);
  assert.deepEqual(Object.fromEntries(gone), { s: false, [grandchild]: true });
  await ok(place, ["run", "--json", "-s", grandchild, "Go on"]);
  await ok(place, ["fsck", "--all"]);
});
