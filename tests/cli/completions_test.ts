/** `completions`: what shells read. Shells themselves are in tests/cli/binary/completions_test.ts. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { VERBS } from "../../src/cli/verbs.ts";
import { Sandbox } from "../support/reprise.ts";

test("completions name every flag of a verb", async () => {
  await using sandbox = new Sandbox();
  const run = VERBS.find(({ name }) => name === "run");
  const { code, stdout, stderr } = await sandbox.call(["completions", "words", "--", "run", "--"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const named = Object.values(run?.flags ?? {}).map(({ spec }) =>
    spec.replace(/^.*--/, "").replace(/ .*$/, "")
  );
  assert.deepEqual(named.filter((flag) => !new RegExp(`--${flag}\\b`).test(stdout)), []);
  assert.doesNotMatch(stdout, /undefined|\[object/);
});

test("completions for an unknown shell exit with 2 and list the shells", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["completions", "tcsh"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /bash, zsh, fish/);
});
