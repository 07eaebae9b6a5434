/** Calls without a home directory that they do not use, and calls from a working directory that cannot be named. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, Place } from "./harness.ts";

const FIXTURE = new URL("../../fixtures/demo/first", import.meta.url).pathname;
const TRANSCRIPT = new URL("../doors/transcripts/recorded/claude.jsonl", import.meta.url).pathname;
const PLAYED = ["run", "--fixture", FIXTURE, "--match", "sequence", "--no-stdin"];

/** Calls that read or write no session of the user's home, with their exit codes. */
const CALLS: readonly (readonly [args: readonly string[], code: number])[] = [
  [["record", "--out", "rec", "--dry-run", "--", "true"], 0],
  [["record", "--out", "rec", "--", "true"], 7],
  [[...PLAYED, "--home", "own", "Go"], 0],
  [[...PLAYED, "--dry-run", "Go"], 0],
  [["import", "--dry-run", TRANSCRIPT], 0],
  [["serve", FIXTURE, "--", "true"], 7],
  [["fixture", "lint", FIXTURE], 0],
];

/** No home directory is known. */
const UNSET = { HOME: "", REPRISE_HOME: "" };
/** Directories that no file can be below, also for root. */
const UNREADABLE = { ...UNSET, XDG_CONFIG_HOME: "/dev/null", XDG_DATA_HOME: "/dev/null" };

test.process("a call that uses no home does not mind an unset or unreadable one; others say what is wrong with HOME", async () => {
  for (const env of [UNSET, UNREADABLE]) {
    await using place = new Place([]);
    for (const [args, code] of CALLS) {
      const called = await place.call(args, { env });
      assert.equal(called.code, code, called.stdout + called.stderr);
      assert.doesNotMatch(called.stderr, /HOME|dev\/null/);
    }
  }
  await using place = new Place([]);
  const configured = await place.call(["run", "--json", "--no-stdin", "Go"], { env: UNREADABLE });
  assertError(configured, { code: "bad_configuration", exit: 2, says: /\/dev\/null.*cannot be read/ });
  const unset = await place.call([...PLAYED, "--json", "Go"], { env: UNSET });
  assertError(unset, { code: "usage", exit: 2, hint: /--home DIR/ });
});

test.process("a working directory whose path is not UTF-8 is named by each call that uses it", async () => {
  await using place = new Place([]);
  const inside = `d="$(printf 'bad\\377')"; mkdir -p "$d" && cd "$d" && exec "$@"`;
  const options = { through: ["sh", "-c", inside, "sh"] };
  const calls = [
    [...PLAYED, "--json", "Go"],
    ["record", "--json", "--out", "rec", "--", "true"],
    ["serve", "--json", FIXTURE, "--events", "e.jsonl", "--", "true"],
    ["import", "--json", TRANSCRIPT],
    ["show", "--json", "@last"],
  ];
  for (const args of calls) {
    const called = await place.call(args, options);
    assert.equal(called.code, 2, `${args[0]}: ${called.stdout}${called.stderr}`);
    assert.match(called.stdout + called.stderr, /working directory: its path is not UTF-8/);
  }
  assert.equal((await place.call(["fixture", "lint", FIXTURE], options)).code, 0);
});
