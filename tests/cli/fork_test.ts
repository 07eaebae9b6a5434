/** fork: a new session from the start of another, and ls --tree. */
import assert from "node:assert/strict";
import { isJsonObject } from "../../src/domain/json.ts";
import { assertError, Place, readsThenAnswers, together } from "./harness.ts";

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

async function ok(place: Place, args: readonly string[]): Promise<string> {
  const called = await place.call(args);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return called.stdout;
}

together("fork begins a new session from the start of another", {
  "which goes on by itself: same prompt cache key, reasoning replayed, both verify": async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    const report = await fork(place, ["s"]);
    assert.match(report.session, /^s-[0-9a-z]{4}$/);
    assert.equal(report.path, place.path(report.session));
    assert.deepEqual([report.parent, report.to_turn, report.turn], ["s", 5, 6]);
    assert.deepEqual([report.closed_run, report.notices, report.summary], [null, 0, null]);
    await ok(place, ["run", "--json", "-s", report.session, "Go on"]);
    await ok(place, ["run", "--json", "-s", "s", "Go on"]);
    assert.deepEqual(place.server.refusals, []);
    const keys = new Set(
      place.server.requests.map(({ body }) => isJsonObject(body) ? body.prompt_cache_key : null),
    );
    assert.deepEqual([...keys], ["s"]);
    const verified = JSON.parse(await ok(place, ["verify", "--all", "--json"]));
    // deno-lint-ignore no-explicit-any
    const verdicts = verified.sessions.flatMap(({ requests }: any) => requests.map((r: any) => r.verdict));
    assert.equal(verdicts.length, 8);
    assert.deepEqual([...new Set(verdicts)], ["same"]);
    await ok(place, ["fsck", "--all"]);
  },
  "inside a run it closes the run, and the fork goes on without a prompt": async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    const user = place.sandbox.turns("s")[0].seq[1];
    const report = await fork(place, ["s", "--to-seq", String(user)]);
    assert.equal(report.closed_run, 1);
    await ok(place, ["run", "--json", "-s", report.session]);
    await ok(place, ["fsck", report.session]);
    assert.equal(place.sandbox.turns(report.session).length, 7);
  },
  "--to-seq inside a turn or between a call and its result is exit 2, and names the nearest": async () => {
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
  },
  "--dry-run says where, and changes nothing; for people the new id is all of stdout": async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    const report = JSON.parse(await ok(place, ["fork", "s", "--dry-run", "--json"]));
    assert.deepEqual(report, {
      type: "dry_run",
      parent: "s",
      to_seq: place.sandbox.turns("s")[4].seq[1],
      to_turn: 5,
      closed_run: null,
      notices: 0,
      summary: null,
    });
    assert.equal([...Deno.readDirSync(`${place.sandbox.home}/sessions`)].length, 1);
    const called = await place.call(["fork", "s"]);
    assert.match(called.stdout, /^s-[0-9a-z]{4}\n$/);
    assert.match(called.stderr, /forked from s behind turn 5/);
    assert.match(await ok(place, ["show", called.stdout.trim()]), /forked from s behind seq/);
  },
  "--summarize tells the model what the other session went on to do": async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    await ok(place, ["run", "--json", "-s", "s", "Second question"]);
    const end = place.sandbox.turns("s")[4].seq[1];
    const report = await fork(place, ["s", "--to-seq", String(end), "--summarize"]);
    assert.match(report.summary ?? "", /user: Second question/);
    assert.match(report.summary ?? "", /call: read_file .*: ok/);
    await ok(place, ["run", "--json", "-s", report.session, "Third question"]);
    const sent = place.server.requests.at(-1)?.input;
    const told = JSON.stringify(sent ?? []).match(/<branch_summary>/g);
    assert.equal(told?.length, 1);
    assert.deepEqual(place.server.refusals, []);
    await ok(place, ["verify", report.session]);
  },
});

together("ls --tree shows forks under the sessions that they were forked from", {
  "also when the parent is gone, and then says so": async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    const child = (await fork(place, ["s"])).session;
    const grandchild = (await fork(place, [child])).session;
    const tree = await ok(place, ["ls", "--tree"]);
    assert.match(tree, new RegExp(`^s  .*\\n  ${child}  .*\\n    ${grandchild} .*\\n$`));
    const [root] = JSON.parse(await ok(place, ["ls", "--tree", "--json"])).sessions;
    assert.deepEqual([root.id, root.forks[0].id, root.forks[0].parent, root.forks[0].forks[0].id], [
      "s",
      child,
      "s",
      grandchild,
    ]);
    await ok(place, ["rm", child, "--yes"]);
    assert.match(await ok(place, ["ls", "--tree"]), new RegExp(`forked from ${child}, which is gone`));
    const { sessions } = JSON.parse(await ok(place, ["ls", "--tree", "--json"]));
    assert.deepEqual(sessions.map(({ id }: { id: string }) => id).sort(), ["s", grandchild].sort());
    assert.equal(sessions.find(({ id }: { id: string }) => id === grandchild).parent_gone, true);
    await ok(place, ["run", "--json", "-s", grandchild, "Go on"]);
    await ok(place, ["fsck", "--all"]);
  },
});
