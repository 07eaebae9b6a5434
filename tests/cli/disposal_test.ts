/** `rm` as a user calls it: what it prints, asks and refuses; tests/doors/sessions has what it deletes. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { assertError, begun, HELLO, holdLock, json, ok, Place, until } from "./harness.ts";

const three = begun(() => HELLO, async (place) => {
  for (const id of ["one", "two", "three"]) await place.session(id);
});

function sessions(place: Place): string[] {
  return [...Deno.readDirSync(`${place.sandbox.home}/sessions`)].map(({ name }) => name).sort();
}

test("rm deletes the named sessions with --yes, and none of them if one does not exist or is in use", async () => {
  await using place = await three();
  const remove = (...args: readonly string[]) => place.call(["rm", ...args, "--json"]);
  assertError(await remove("one", "nowhere", "--yes"), { code: "no_such_session", exit: 2 });
  for (
    const [args, says] of [[[], /neither sessions nor a rule/], [
      ["one", "--keep", "1"],
      /exclude each other/,
    ]] as const
  ) {
    assertError(await remove(...args, "--yes"), { code: "usage", exit: 2, says });
  }
  // Without a terminal to ask on.
  const unasked = { code: "usage", exit: 2, says: /no terminal to ask on/, hint: /--yes/ };
  assertError(await place.call(["rm", "one", "--json"], { stdin: "y\n" }), unasked);
  {
    using _held = holdLock(`${place.path("two")}/lock`);
    const locked = { code: "session_locked", exit: 5, says: /process \d+/ };
    assertError(await remove("one", "two", "--yes"), locked);
    const { removed, skipped } = await json(place, ["rm", "--keep", "0", "--yes"]);
    assert.deepEqual(removed.map(({ id }: Json) => id), ["one", "three"]);
    assert.deepEqual(skipped, [{ id: "two", why: "in use" }]);
  }
  const dry = await json(place, ["rm", "two", "--dry-run"]);
  assert.deepEqual(dry.would_remove, [{ id: "two", why: "named" }]);
  assert.match(await ok(place, ["rm", "two", "--dry-run"]), /^two: would be removed$/m);
  assert.deepEqual(sessions(place), ["two"]);
  assert.deepEqual(await json(place, ["rm", "two", "two", "--yes"]), {
    removed: [{ id: "two", why: "named" }],
    would_remove: [],
    skipped: [],
    dry_run: false,
  });
  await place.session("four");
  assert.equal(await ok(place, ["rm", "four", "--yes"]), "four: removed\n");
  for (const rule of [["--keep", "1"], ["--older-than", "1d"], ["--larger-than", "1GB", "--dry-run"]]) {
    const { code, stderr } = await place.call(["rm", ...rule]);
    assert.deepEqual([code, stderr.split("\n")[0]], [0, "No session is to be removed by these rules."]);
  }
});

test.process("rm on a terminal lists what goes, then asks, and only a yes deletes", async () => {
  await using place = await three();
  const asked = async (args: readonly string[], answer: string) => {
    const run = place.start(["rm", ...args], {
      through: ["sh", "-c", 'exec script -qefc "$*" /dev/null', "sh"],
      env: { SHELL: "/bin/sh" },
      stdin: "piped",
    });
    await until(() => run.stdout.includes("[y]es, [n]o"), "the question");
    const keys = run.process.stdin.getWriter();
    await keys.write(new TextEncoder().encode(answer));
    const { code, stdout } = await run.ended();
    await keys.close().catch(() => {});
    return { code, stdout };
  };
  const chosen = await asked(["--keep", "1"], "n\n");
  const list =
    /one .* kB .*\(number\)[^]*two .* kB .*\(number\)[^]*Remove 2 sessions \([\d.]+ kB\) for good\?/;
  assert.match(chosen.stdout, list);
  assert.doesNotMatch(chosen.stdout, /three/);
  assert.deepEqual([chosen.code, sessions(place)], [2, ["one", "three", "two"]]);
  const named = await asked(["one", "three"], "y\n");
  assert.match(named.stdout, /one[^]*three[^]*Remove 2 sessions for good\?/);
  assert.deepEqual([named.code, sessions(place)], [0, ["two"]]);
});

test("rm --unused prints what it removes, with scratch directories of killed session tests, by their locks", async () => {
  await using place = new Place(() => HELLO);
  await place.session("a");
  const directory = `${place.sandbox.directory}/tmp`;
  const old = new Date(Date.now() - 2 * 60_000);
  const ancient = new Date(Date.now() - 25 * 3_600_000);
  const make = (name: string, { lock = true, at = old }: { lock?: boolean; at?: Date } = {}) => {
    const path = `${directory}/${name}`;
    Deno.mkdirSync(`${path}/state/sessions`, { recursive: true });
    Deno.symlinkSync(place.sandbox.home, `${path}/link`);
    if (lock) Deno.writeTextFileSync(`${path}/lock`, "");
    Deno.utimeSync(path, at, at);
    return path;
  };
  const gone = [make("reprise-session-killed"), make("reprise-session-old", { lock: false, at: ancient })];
  const kept = [
    make("reprise-session-now", { at: new Date() }),
    make("reprise-session-older-version", { lock: false }),
    make("another-program", { at: ancient }),
    make("reprise-session-held"),
  ];
  using _held = holdLock(`${kept.at(-1)}/lock`);
  Deno.mkdirSync(`${place.sandbox.home}/sessions/.removed-1-abc`);
  const found = [
    { kind: "half_removed", path: ".removed-1-abc" },
    ...gone.map((path) => ({ kind: "scratch", path })),
  ];
  const env = { TMPDIR: directory };
  const { would_remove, changes } = await json(place, ["rm", "--unused", "--dry-run"], env);
  assert.deepEqual(would_remove, found);
  assert.deepEqual(changes, found.map(({ path }) => ({ action: "remove", what: "file", name: path })));
  const removed = await ok(place, ["rm", "--unused"], env);
  assert.equal(removed, found.map(({ kind, path }) => `removed ${path} (${kind})\n`).join(""));
  assert.equal(await ok(place, ["rm", "--unused"], env), "");
  const left = [...Deno.readDirSync(directory)].map(({ name }) => `${directory}/${name}`).sort();
  assert.deepEqual(left, kept.toSorted());
  assert.deepEqual(sessions(place), ["a"], "no link is followed");
});

test("rm --larger-than takes what is larger, and --keep counts what no other rule takes", async () => {
  await using place = await three();
  const chosen = async (...rules: readonly string[]) =>
    (await json(place, ["rm", ...rules, "--dry-run"])).would_remove.map(({ id, bytes, why }: Json) => ({
      id,
      bytes,
      why,
    }));
  const [{ bytes }] = await chosen("--larger-than", "0");
  Deno.writeFileSync(`${place.path("three")}/blobs/${"0".repeat(64)}`, new Uint8Array(50_000), {
    mode: 0o600,
  });
  assert.deepEqual((await chosen("--larger-than", String(bytes))).map(({ id }: Json) => id), ["three"]);
  const sizes = (await chosen("--larger-than", "0")).map((session: Json) => session.bytes);
  const largest = Math.max(...sizes);
  assert.deepEqual(await chosen("--larger-than", String(largest)), []);
  const both = await chosen("--larger-than", String(largest - 1), "--keep", "1");
  // The newest one is too large, so that the next one is kept.
  assert.deepEqual(both.map(({ id, why }: Json) => [id, why]), [["one", "number"], ["three", "size"]]);
});
