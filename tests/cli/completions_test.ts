/** `completions`: what shells and `man` read. Shells themselves are in tests/cli/long/completions_test.ts. */
import assert from "node:assert/strict";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";
import type { FlagTable } from "../../src/cli/declare.ts";
import { Sandbox } from "../support/reprise.ts";

/** The names of flags, without dashes. */
function namesOf(tables: readonly FlagTable[]): string[] {
  return tables.flatMap((flags) =>
    Object.values(flags).map(({ spec }) => spec.replace(/^.*--/, "").replace(/ .*$/, ""))
  );
}

Deno.test("the man page names every flag of every verb, and completions every flag of a verb", async () => {
  await using sandbox = new Sandbox();
  const { run: ofRun = {} } = Object.fromEntries(VERBS.map((verb) => [verb.name, verb.flags]));
  for (
    const [args, named] of [
      [["man"], namesOf([...VERBS, ...FIXTURE_VERBS].map((verb) => verb.flags))],
      [["words", "--", "run", "--"], namesOf([ofRun])],
    ] as const
  ) {
    const { code, stdout, stderr } = await sandbox.call(["completions", ...args]);
    assert.deepEqual([code, stderr], [0, ""]);
    const text = stdout.replaceAll("\\-", "-");
    assert.deepEqual(named.filter((flag) => !new RegExp(`--${flag}\\b`).test(text)), [], args[0]);
    assert.doesNotMatch(stdout, /undefined|\[object/);
  }
});

Deno.test("completions for an unknown shell exit with 2 and list the shells", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["completions", "tcsh"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /bash, zsh, fish, man/);
});
