/** rm, prune and gc: what they delete, and when they refuse. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message, type Script } from "../support/responses_server.ts";
import { assertError, holdLock, Place, readsThenAnswers, until } from "./harness.ts";

async function ok(place: Place, args: readonly string[]): Promise<string> {
  const called = await place.call(args, { env: { TMPDIR: temporary(place) } });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return called.stdout;
}

/** A temporary directory of the place's own: `rm --unused` looks into it. */
function temporary(place: Place): string {
  const path = `${place.sandbox.directory}/tmp`;
  Deno.mkdirSync(path, { recursive: true });
  return path;
}

function sessions(place: Place): string[] {
  return [...Deno.readDirSync(`${place.sandbox.home}/sessions`)].map(({ name }) => name).sort();
}

/** A server whose first answer takes until the test is over. */
const slow: Script = () => answer([message("Hello.")], { end: { kind: "stall" } });

test("rm deletes a session: with --yes, and only that one", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("a");
  await place.session("b");
  assert.deepEqual(JSON.parse(await ok(place, ["rm", "a", "--yes", "--json"])), {
    removed: [{ id: "a", why: "named" }],
    would_remove: [],
    skipped: [],
    dry_run: false,
  });
  assert.deepEqual(sessions(place), ["b"]);
  assert.equal(await ok(place, ["rm", "b", "--yes"]), "b: removed\n");
  assertError(await place.call(["rm", "b", "--yes", "--json"]), { code: "no_such_session", exit: 2 });
});

test("rm deletes a session: without --yes and without a terminal it refuses (exit 2), and --dry-run only says", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("a");
  const refused = await place.call(["rm", "a", "--json"], { stdin: "y\n" });
  assertError(refused, { code: "usage", exit: 2, says: /no terminal to ask on/, hint: /--yes/ });
  const { would_remove } = JSON.parse(await ok(place, ["rm", "a", "--dry-run", "--json"]));
  assert.deepEqual(would_remove, [{ id: "a", why: "named" }]);
  assert.match(await ok(place, ["rm", "a", "--dry-run"]), /^a: would be removed$/m);
  assert.deepEqual(sessions(place), ["a"]);
});

test.process("rm deletes a session: on a terminal it asks, and only a yes deletes", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("a");
  const asked = async (answer: string) => {
    const command = 'exec script -qefc "$*" /dev/null';
    const run = place.start(["rm", "a"], {
      through: ["sh", "-c", command, "sh"],
      env: { SHELL: "/bin/sh" },
      stdin: "piped",
    });
    await until(() => run.stdout.includes("[y]es, [n]o"), "the question");
    const keys = run.process.stdin.getWriter();
    await keys.write(new TextEncoder().encode(answer));
    const called = await run.ended();
    await keys.close().catch(() => {});
    return called;
  };
  assert.equal((await asked("n\n")).code, 2);
  assert.deepEqual(sessions(place), ["a"]);
  const called = await asked("y\n");
  assert.equal(called.code, 0, called.stdout);
  assert.deepEqual(sessions(place), []);
});

test.process("rm deletes a session: not while it is written to (exit 5); a choice and --unused skip and name it", async () => {
  await using place = new Place(slow);
  const run = place.start(["run", "--json", "--new", "-s", "busy", "Hello"]);
  await until(() => run.stdout.includes('"request"'), "the request");
  assertError(await place.call(["rm", "busy", "--yes", "--json"]), {
    code: "session_locked",
    exit: 5,
    says: /process \d+/,
  });
  const pruned = JSON.parse(await ok(place, ["rm", "--keep", "0", "--yes", "--json"]));
  assert.deepEqual(pruned, {
    removed: [],
    would_remove: [],
    skipped: [{ id: "busy", why: "in use" }],
    dry_run: false,
  });
  const { skipped } = JSON.parse(await ok(place, ["rm", "--unused", "--json"]));
  assert.deepEqual(skipped.map(({ path }: { path: string }) => path), ["busy"]);
  assert.deepEqual(sessions(place), ["busy"]);
});

test("rm deletes by age, number and size: with --yes; it refuses without, and without a rule", async () => {
  await using place = new Place(readsThenAnswers);
  for (const id of ["one", "two", "three"]) await place.session(id);
  assertError(await place.call(["rm", "--json", "--yes"]), {
    code: "usage",
    exit: 2,
    hint: /--older-than/,
  });
  assertError(await place.call(["rm", "--keep", "1", "--json"]), {
    code: "usage",
    exit: 2,
    says: /no terminal to ask on/,
  });
  const dry = JSON.parse(await ok(place, ["rm", "--keep", "1", "--dry-run", "--json"]));
  assert.deepEqual(dry.would_remove.map(({ id }: { id: string }) => id), ["one", "two"]);
  assert.match(await ok(place, ["rm", "--keep", "1", "--dry-run"]), /^one .*would be removed\ntwo /);
  assert.equal(sessions(place).length, 3);
  assert.deepEqual(
    JSON.parse(await ok(place, ["rm", "--older-than", "1", "--yes", "--json"])).removed,
    [],
  );
  const { removed } = JSON.parse(await ok(place, ["rm", "--keep", "1", "--yes", "--json"]));
  assert.deepEqual(removed.map(({ id, why }: { id: string; why: string }) => [id, why]), [
    ["one", "number"],
    ["two", "number"],
  ]);
  assert.deepEqual(sessions(place), ["three"]);
  await ok(place, ["rm", "--larger-than", "10", "--yes"]);
  assert.deepEqual(sessions(place), []);
  assertError(await place.call(["rm", "--older-than", "-1", "--json"]), { code: "usage", exit: 2 });
});

test("rm --unused removes unused files: and lists them; --dry-run only lists them", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("a");
  const blob = "0".repeat(64);
  Deno.writeTextFileSync(`${place.path("a")}/blobs/${blob}`, "x");
  Deno.mkdirSync(`${place.sandbox.home}/sessions/.removed-1-abc`);
  const found = [{ kind: "half_removed", path: ".removed-1-abc" }, {
    kind: "blob",
    path: `a/blobs/${blob}`,
  }];
  assert.deepEqual(JSON.parse(await ok(place, ["rm", "--unused", "--dry-run", "--json"])), {
    removed: [],
    would_remove: found,
    skipped: [],
    type: "dry_run",
    dry_run: true,
    verb: "rm",
    changes: found.map(({ path }) => ({ action: "remove", what: "file", name: path })),
  });
  assert.deepEqual(sessions(place), [".removed-1-abc", "a"]);
  assert.match(
    await ok(place, ["rm", "--unused"]),
    /^removed \.removed-1-abc \(half_removed\)\nremoved a\/blobs\/0+ \(blob\)\n$/,
  );
  assert.deepEqual(sessions(place), ["a"]);
  await ok(place, ["fsck", "--all"]);
  assert.equal(await ok(place, ["rm", "--unused"]), "");
});

test("rm --unused removes unused files: scratch directories of killed session tests, by their locks; others' and young ones stay", async () => {
  await using place = new Place([]);
  const directory = temporary(place);
  const old = new Date(Date.now() - 2 * 60_000);
  const ancient = new Date(Date.now() - 25 * 3_600_000);
  const make = (name: string, { lock = true, at = old }: { lock?: boolean; at?: Date } = {}) => {
    const path = `${directory}/${name}`;
    const home = `${path}/home`;
    Deno.mkdirSync(`${home}/sessions`, { recursive: true });
    Deno.symlinkSync(place.sandbox.home, `${path}/link`);
    if (lock) Deno.writeTextFileSync(`${path}/lock`, "");
    Deno.utimeSync(path, at, at);
    return path;
  };
  Deno.mkdirSync(place.sandbox.home, { mode: 0o700 });
  const gone = [
    make("reprise-session-killed"),
    make("reprise-session-old", { lock: false, at: ancient }),
  ];
  const kept = [
    make("reprise-session-now", { at: new Date() }),
    make("reprise-session-older-version", { lock: false }),
    make("somebody-else", { at: ancient }),
    make("reprise-session-held"),
  ];
  using _held = holdLock(`${kept.at(-1)}/lock`);
  const found = gone.map((path) => ({ kind: "scratch", path }));
  const dry = JSON.parse(await ok(place, ["rm", "--unused", "--dry-run", "--json"]));
  assert.deepEqual(dry.would_remove, found);
  assert.deepEqual(JSON.parse(await ok(place, ["rm", "--unused", "--json"])).removed, found);
  const left = [...Deno.readDirSync(directory)].map(({ name }) => `${directory}/${name}`).sort();
  assert.deepEqual(left, kept.toSorted());
  assert.ok(Deno.statSync(place.sandbox.home).isDirectory, "no link is followed");
});

test("rm deletes several sessions: none of them if one does not exist or is in use", async () => {
  await using place = new Place(readsThenAnswers);
  for (const id of ["a", "b", "c"]) await place.session(id);
  assertError(await place.call(["rm", "a", "nowhere", "--yes", "--json"]), {
    code: "no_such_session",
    exit: 2,
  });
  {
    using _held = holdLock(`${place.path("b")}/lock`);
    assertError(await place.call(["rm", "a", "b", "--yes", "--json"]), { code: "session_locked", exit: 5 });
  }
  assert.deepEqual(sessions(place), ["a", "b", "c"]);
  assert.match(
    await ok(place, ["rm", "a", "b", "--dry-run"]),
    /^a: would be removed\nb: would be removed\n$/,
  );
  assert.deepEqual(JSON.parse(await ok(place, ["rm", "a", "b", "a", "--yes", "--json"])), {
    removed: [{ id: "a", why: "named" }, { id: "b", why: "named" }],
    would_remove: [],
    skipped: [],
    dry_run: false,
  });
  assert.deepEqual(sessions(place), ["c"]);
});

test.process("rm on a terminal list what goes before they ask", async () => {
  await using place = new Place(readsThenAnswers);
  for (const id of ["one", "two", "three"]) await place.session(id);
  const refused = async (args: readonly string[]) => {
    const command = 'exec script -qefc "$*" /dev/null';
    const run = place.start([...args], {
      through: ["sh", "-c", command, "sh"],
      env: { SHELL: "/bin/sh" },
      stdin: "piped",
    });
    await until(() => run.stdout.includes("[y]es, [n]o"), "the question");
    const asked = run.stdout;
    const keys = run.process.stdin.getWriter();
    await keys.write(new TextEncoder().encode("n\n"));
    assert.equal((await run.ended()).code, 2);
    await keys.close().catch(() => {});
    return asked;
  };
  const pruned = await refused(["rm", "--keep", "1"]);
  assert.match(
    pruned,
    /one .* kB .*\(number\)[^]*two .* kB .*\(number\)[^]*Remove 2 sessions \([\d.]+ kB\) for good\?/,
  );
  assert.doesNotMatch(pruned, /three/);
  assert.match(await refused(["rm", "one", "three"]), /one[^]*three[^]*Remove 2 sessions for good\?/);
  assert.equal(sessions(place).length, 3);
});
