/** Sessions whose files are moved, removed or lost while the program uses them. */
import assert from "node:assert/strict";
import { lacksLinux, needing } from "../../support/needs.ts";
import { DEFAULT_INSTRUCTIONS } from "../../../src/cli/run/resolve_run.ts";
import { events } from "../../support/reprise.ts";
import { assertError, HELLO, holdLock, Place, READS_A, readsThenAnswers, until } from "../harness.ts";

/** Turn files and manifest of a session, by name. */
function filesOf(directory: string): Record<string, string> {
  const names = ["manifest.json"];
  for (const { name } of Deno.readDirSync(`${directory}/turns`)) names.push(`turns/${name}`);
  return Object.fromEntries(
    names.sort().map((name) => [name, Deno.readTextFileSync(`${directory}/${name}`)]),
  );
}

Deno.test("a session that is replaced during a run stays apart from it: the run ends as diverged (exit 5), and the session that took the name is unchanged", async () => {
  let requests = 0;
  await using place = new Place(({ input }) => {
    // The answer to the first request of the run is under way: its turn would be the next number of either.
    if (++requests === 3) {
      Deno.renameSync(place.path("s"), `${place.sandbox.home}/moved`);
      Deno.renameSync(place.path("other"), place.path("s"));
    }
    return input.at(-1)?.type === "message" ? READS_A : HELLO;
  });
  await place.session("s");
  const exported = `${place.sandbox.home}/s.jsonl`;
  assert.equal((await place.call(["export", "s", exported])).code, 0);
  Deno.renameSync(place.path("s"), `${place.sandbox.home}/first`);
  assert.equal((await place.call(["import", exported])).code, 0);
  Deno.renameSync(place.path("s"), place.path("other"));
  Deno.renameSync(`${place.sandbox.home}/first`, place.path("s"));
  const before = filesOf(place.path("other"));
  const run = await place.call(["run", "--json", "-s", "s", "go on"]);
  const error = assertError(run, {
    code: "session_diverged",
    exit: 5,
    says: /moved or replaced/,
    hint: /show s/,
  });
  assert.equal(error.code, "session_diverged");
  assert.equal((events(run) as { type: string; state?: string }[]).at(-1)?.state, "diverged");
  assert.deepEqual(filesOf(place.path("s")), before);
  assert.equal((await place.call(["fsck", "s"])).code, 0);
});

/** The blob that a turn of session `s` names with a member, and the turn's number. */
const LOST: Readonly<Record<string, { readonly name: (place: Place) => string; readonly says: RegExp }>> = {
  "the pinned instructions": {
    name: (place) => place.sandbox.turns("s")[0].pins.instructions,
    says: /pins\.instructions of turn 1; a run without --instructions starts with the default ones/,
  },
  "the pinned tools": {
    name: (place) => place.sandbox.turns("s")[0].pins.tools,
    says: /pins\.tools of turn 1; each run brings its own tools/,
  },
  "the whole of a large tool result": {
    name: (place) => place.sandbox.turns("s")[2].events[0].blob.sha256,
    says: /the result with seq 5 of turn 3; the turn still holds the text that the model got/,
  },
};

/** Every verb that takes a session, in an order in which each finds something to do. */
const VERBS: readonly (readonly string[])[] = [
  ["fsck", "s"],
  ["fsck", "s", "--requests"],
  ["explain", "s"],
  ["run", "-s", "s", "--dry-run", "--body", "go on"],
  ["export", "s", "-"],
  ["export", "s", "--redact", "-"],
  ["compact", "s", "--tail-events", "0"],
  ["fsck", "s", "--requests"],
  ["run", "-s", "s", "--dry-run", "--body", "go on"],
  ["run", "-s", "s", "go on"],
  ["compact", "s", "--undo"],
  ["run", "-s", "s", "and on"],
  ["fsck", "s"],
];

/** Starts the session `s`, whose instructions are a blob. */
async function startSession(place: Place): Promise<void> {
  const args = ["run", "--json", "--new", "-s", "s", "--instructions", "Be brief.", "Look"];
  const first = await place.call(args);
  assert.equal(first.code, 0, first.stdout);
}

for (const [what, { name, says }] of Object.entries(LOST)) {
  Deno.test(`after repair of a lost blob, every verb takes the session, and the loss is named: ${what}`, async () => {
    await using place = new Place(readsThenAnswers);
    Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, "alpha beta gamma\n".repeat(20_000));
    await startSession(place);
    const sha256 = name(place);
    Deno.removeSync(`${place.path("s")}/blobs/${sha256}`);
    assert.equal((await place.call(["fsck", "s"])).code, 12);
    const repaired = await place.call(["repair", "s"]);
    assert.equal(repaired.code, 0, repaired.stdout + repaired.stderr);
    // Forks at every place where the session may be cut, before the record of the loss too.
    for (const turn of [4, 6]) {
      const { seq } = place.sandbox.turns("s")[turn - 1];
      const forked = await place.call(["fork", "s", "--to-seq", String(seq[1])]);
      assert.equal(forked.code, 0, `at turn ${turn}: ${forked.stderr}`);
      const id = forked.stdout.trim();
      assert.equal((await place.call(["fsck", id])).code, 0, `fsck of a fork at turn ${turn}`);
      const file = `${place.sandbox.home}/${turn}.jsonl`;
      for (const args of [["export", id, file], ["rm", id, "--yes"], ["import", file], ["fsck", id]]) {
        const called = await place.call(args);
        assert.equal(called.code, 0, `${args.join(" ")}: ${called.stdout}${called.stderr}`);
      }
      const run = await place.call(["run", "-s", id, "go on"]);
      assert.equal(run.code, 0, run.stderr);
    }
    for (const args of VERBS) {
      const called = await place.call(args);
      assert.equal(called.code, 0, `${args.join(" ")}: ${called.stdout}${called.stderr}`);
    }
    assert.match(repaired.stdout, says);
    assert.ok(repaired.stdout.includes(sha256));
  });
}

Deno.test("lost instructions are replaced: by those of a new session, which run, input and explain say, until a run pins others", async () => {
  await using place = new Place(readsThenAnswers);
  await startSession(place);
  const { instructions } = place.sandbox.turns("s")[0].pins;
  Deno.removeSync(`${place.path("s")}/blobs/${instructions}`);
  const refused = await place.call(["run", "-s", "s", "--json", "go on"]);
  assertError(refused, { code: "session_damaged", exit: 12, hint: /repair s/ });
  const { lost, lost_blobs } = JSON.parse((await place.call(["repair", "s", "--json"])).stdout);
  assert.deepEqual(lost_blobs, [instructions]);
  assert.deepEqual(lost, [{
    sha256: instructions,
    turn: 1,
    by: "pins.instructions",
    instead: "a run without --instructions starts with the default ones",
  }]);
  const verified = JSON.parse((await place.call(["fsck", "s", "--requests", "--json"])).stdout);
  assert.deepEqual(
    verified.sessions[0].requests.map(({ verdict }: { verdict: string }) => verdict),
    ["repaired", "repaired"],
  );
  const input = await place.call(["run", "-s", "s", "--dry-run", "--body", "go on"]);
  assert.equal(JSON.parse(input.stdout).instructions, DEFAULT_INSTRUCTIONS);
  assert.match(input.stderr, /the instructions of session "s" are lost; the default ones replace them/);
  const run = await place.call(["run", "-s", "s", "--json", "go on"]);
  assert.equal(run.code, 0, run.stdout);
  const notices = (events(run) as { type: string; kind?: string }[]).filter(({ kind }) =>
    kind === "instructions_lost"
  );
  assert.equal(notices.length, 1);
  const next = await place.call(["run", "-s", "s", "--json", "and on"]);
  assert.equal(next.code, 0, next.stdout);
  assert.doesNotMatch(next.stdout, /instructions_lost/);
});

/** The paths that a process has open. */
function openPaths(pid: number): string[] {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) => {
      try {
        return Deno.readLinkSync(`/proc/${pid}/fd/${name}`);
      } catch {
        // Closed since the listing.
        return "";
      }
    });
  } catch {
    return [];
  }
}

Deno.test(
  needing(
    "fsck --all continues when a session is removed meanwhile: the others are checked, and it is named as gone",
    lacksLinux(),
  ),
  async () => {
    await using place = new Place(readsThenAnswers);
    await place.session("s");
    // The last in the list, as all without a manifest.
    Deno.mkdirSync(place.path("z"), { mode: 0o700 });
    // Each of them is looked at for a moment, because its lock is held.
    using locks = new DisposableStack();
    for (let copy = 0; copy < 15; copy++) {
      Deno.mkdirSync(place.path(`held-${copy}`), { mode: 0o700 });
      locks.use(holdLock(`${place.path(`held-${copy}`)}/lock`));
    }
    const started = place.start(["fsck", "--all", "--json"]);
    await until(
      () => openPaths(started.process.pid).some((path) => path.includes("/sessions/held-")),
      "fsck",
    );
    Deno.removeSync(place.path("z"), { recursive: true });
    const called = await started.ended();
    assert.equal(called.code, 0, called.stdout + called.stderr);
    const { ok, sessions, skipped } = JSON.parse(called.stdout);
    assert.deepEqual([ok, sessions.length], [true, 16]);
    assert.deepEqual(skipped.map(({ id }: { id: string }) => id), ["z"]);
    assertError(await place.call(["fsck", "z", "--json"]), { code: "no_such_session", exit: 2 });
  },
);
