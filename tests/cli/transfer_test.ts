/** `export` and `import` as calls: files and pipes, what is never overwritten, and what --redact reports. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, begun, ok, Place, readsThenAnswers } from "./harness.ts";

const one = begun(readsThenAnswers, (place) => place.session("s"));

test("a session goes to another home by file, and continues there", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const [file, other] = [`${place.sandbox.directory}/s.jsonl`, `${place.sandbox.directory}/other`];
  const { bytes, ...dry } = JSON.parse(await ok(place, ["export", "s", file, "--dry-run", "--json"]));
  assert.equal(dry.dry_run, true);
  assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
  const report = JSON.parse(await ok(place, ["export", "s", file, "--json"]));
  const counts = { session: "s", turns: 5, blobs: 2, redacted: null, dry_run: false };
  assert.deepEqual(report, { ...counts, file, bytes, omitted: 0 });
  const { mode, size } = Deno.statSync(file);
  assert.deepEqual([(mode ?? 0) & 0o777, size], [0o600, bytes]);
  const there = ["--home", other];
  assert.match(await ok(place, ["import", file, "--dry-run", ...there]), /Would import s: 5 turns, 2 blobs/);
  assert.throws(() => Deno.statSync(other), Deno.errors.NotFound);
  const imported = JSON.parse(await ok(place, ["import", file, "--json", ...there]));
  assert.deepEqual(imported, { ...counts, path: `${other}/sessions/s`, from: null });
  await ok(place, ["run", "-s", "s", "Go on", ...there]);
  await ok(place, ["fsck", "s", "--requests", ...there]);
});

test("a session goes through a pipe: stdout is the file, stdin is read for -", async () => {
  await using place = await one();
  const called = await place.call(["export", "s"]);
  assert.match(called.stderr, /^exported s: 5 turns, 2 blobs, \d+ bytes\n$/);
  const there = ["--home", `${place.sandbox.directory}/other`];
  const imported = await place.call(["import", "-", ...there], { stdin: called.stdout });
  assert.equal(imported.stdout, "s\n", imported.stderr);
  assert.equal(await ok(place, ["export", "s", "-", ...there]), called.stdout);
});

test("export and import refuse what they cannot read or would overwrite", async () => {
  await using place = await one();
  const { directory } = place.sandbox;
  const file = `${directory}/s.jsonl`;
  Deno.writeTextFileSync(file, "mine");
  const rows: readonly (readonly [args: readonly string[], code: string, says: RegExp])[] = [
    [["export", "s", file], "usage", /s\.jsonl": the file exists$/],
    [["export", "s", file, "--dry-run"], "usage", /s\.jsonl": the file exists$/],
    [["export", "s"], "usage", /both would print there/],
    [["export", "s", directory], "usage", /not a regular file/],
    [["export", "none", `${directory}/x`], "no_such_session", /none/],
    [["import", `${directory}/none.jsonl`], "usage", /no such file/],
  ];
  for (const [args, code, says] of rows) {
    assertError(await place.call([...args, "--json"]), { code, exit: 2, says });
  }
  assert.equal(Deno.readTextFileSync(file), "mine");
  await ok(place, ["export", "s", file, "--force"]);
  assertError(await place.call(["import", file, "--json"]), { code: "session_exists", exit: 2 });
});
