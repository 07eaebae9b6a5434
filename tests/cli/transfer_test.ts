/** export and import: one portable file. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, begun, KEY, Place, readsThenAnswers } from "./harness.ts";

async function ok(place: Place, args: readonly string[], home?: string): Promise<string> {
  const called = await place.call([...args, ...(home === undefined ? [] : ["--home", home])]);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return called.stdout;
}

/** A place with the session "s". */
const one = begun(readsThenAnswers, (place) => place.session("s"));

test("export and import carry a session from home to home: by file: turn files byte for byte; the session continues there", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const [file, other] = [`${place.sandbox.directory}/s.jsonl`, `${place.sandbox.directory}/other`];
  const report = JSON.parse(await ok(place, ["export", "s", file, "--json"]));
  assert.deepEqual(report, {
    session: "s",
    file,
    bytes: Deno.statSync(file).size,
    turns: 5,
    blobs: 2,
    omitted: 0,
    redacted: null,
    dry_run: false,
  });
  assert.equal((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  const imported = JSON.parse(await ok(place, ["import", file, "--json"], other));
  assert.deepEqual(imported, {
    session: "s",
    path: `${other}/sessions/s`,
    turns: 5,
    blobs: 2,
    redacted: null,
    from: null,
    dry_run: false,
  });
  for (const name of place.sandbox.turnNames("s")) {
    assert.deepEqual(
      Deno.readFileSync(`${other}/sessions/s/turns/${name}`),
      Deno.readFileSync(`${place.path("s")}/turns/${name}`),
    );
  }
  await ok(place, ["run", "--json", "-s", "s", "Go on"], other);
  await ok(place, ["fsck", "s", "--requests"], other);
  await ok(place, ["fsck", "s"], other);
  assert.deepEqual(place.server.refusals, []);
});

test("export and import carry a session from home to home: by pipe: stdout is the file, stdin is read for -", async () => {
  await using place = await one();
  const called = await place.call(["export", "s"]);
  assert.match(called.stderr, /^exported s: 5 turns, 2 blobs, \d+ bytes\n$/);
  const other = `${place.sandbox.directory}/other`;
  const imported = await place.call(["import", "-", "--home", other], { stdin: called.stdout });
  assert.equal(imported.stdout, "s\n", imported.stderr);
  assert.equal((await place.call(["export", "s", "-", "--home", other])).stdout, called.stdout);
});

test("export and import carry a session from home to home: never over a session (exit 2), never from a broken file (exit 12), and nothing is left", async () => {
  await using place = await one();
  const text = await ok(place, ["export", "s", "--quiet"]);
  const taken = await place.call(["import", "-", "--json"], { stdin: text });
  assertError(taken, { code: "session_exists", exit: 2, says: /is there already/ });
  const other = `${place.sandbox.directory}/other`;
  const cut = await place.call(["import", "-", "--json", "--home", other], { stdin: text.slice(0, -100) });
  assertError(cut, { code: "bad_export", exit: 12, says: /line 15 is cut short/ });
  assert.deepEqual([...Deno.readDirSync(`${other}/sessions`)], []);
  const missing = await place.call(["import", `${other}/none.jsonl`, "--json"]);
  assertError(missing, { code: "usage", exit: 2, says: /no such file/ });
  const both = await place.call(["export", "s", "--json"]);
  assertError(both, { code: "usage", exit: 2, says: /both would print there/ });
  const directory = await place.call(["export", "s", other, "--json"]);
  assertError(directory, { code: "usage", exit: 2, says: /not a regular file/ });
  assertError(await place.call(["export", "none", `${other}/x`, "--json"]), {
    code: "no_such_session",
    exit: 2,
  });
});

test("export and import carry a session from home to home: --dry-run writes nothing on either side", async () => {
  await using place = await one();
  const file = `${place.sandbox.directory}/s.jsonl`;
  const other = `${place.sandbox.directory}/other`;
  const { bytes, dry_run } = JSON.parse(await ok(place, ["export", "s", file, "--dry-run", "--json"]));
  assert.equal(dry_run, true);
  assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
  await ok(place, ["export", "s", file]);
  assert.equal(Deno.statSync(file).size, bytes);
  for (const args of [["--dry-run"], []]) {
    Deno.writeTextFileSync(file, "mine");
    const taken = await place.call(["export", "s", file, "--json", ...args]);
    assertError(taken, { code: "usage", exit: 2, says: /s\.jsonl": the file exists$/, hint: /--force/ });
    assert.equal(Deno.readTextFileSync(file), "mine");
  }
  await ok(place, ["export", "s", file, "--force"]);
  assert.equal(Deno.statSync(file).size, bytes);
  assert.match(await ok(place, ["import", file, "--dry-run"], other), /Would import s: 5 turns, 2 blobs/);
  assert.throws(() => Deno.statSync(other), Deno.errors.NotFound);
});

test("export and import carry a session from home to home: --redact strips secrets, says what it did, and verify answers redacted instead of failing", async () => {
  await using place = new Place(readsThenAnswers);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, `DB_PASSWORD=hunter22\nkey ${KEY}\n`);
  await place.session("s", `Look at a.txt with ${KEY}`);
  const [file, other] = [`${place.sandbox.directory}/s.jsonl`, `${place.sandbox.directory}/other`];
  const report = JSON.parse(await ok(place, ["export", "s", file, "--redact", "--json"]));
  assert.equal(report.redacted.replaced, 2);
  assert.deepEqual(report.redacted.turns, [
    { turn: 1, kinds: { known: 1 } },
    // The key in the output was replaced before it was saved.
    { turn: 3, kinds: { assignment: 1 } },
  ]);
  const text = Deno.readTextFileSync(file);
  assert.doesNotMatch(text, /hunter22|never-printed/);
  assert.ok(text.includes("encrypted_content"));
  const imported = JSON.parse(await ok(place, ["import", file, "--json"], other));
  assert.deepEqual(imported.redacted, report.redacted);
  const verified = JSON.parse(await ok(place, ["fsck", "s", "--requests", "--json"], other));
  assert.deepEqual(verified.sessions[0].requests.map(({ verdict }: { verdict: string }) => verdict), [
    "redacted",
    "redacted",
  ]);
  // The mark survives another export and import.
  await ok(place, ["export", "s", `${file}.2`], other);
  await ok(place, ["import", `${file}.2`], `${other}2`);
  assert.match(await ok(place, ["fsck", "s", "--requests"], `${other}2`), /turn 2: redacted/);
  await ok(place, ["run", "--json", "-s", "s", "Go on"], `${other}2`);
});
