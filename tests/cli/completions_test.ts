/** `completions`: what shells read. Shells themselves are in tests/cli/binary/completions_test.ts. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../support/reprise.ts";

test("completions name every flag of a verb, and an unknown shell is exit 2 with a list of the shells", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["completions", "words", "--", "run", "--"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const help = (await sandbox.call(["run", "--help"])).stdout;
  const flags = Array.from(help.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm), ([, flag = ""]) => flag);
  assert.ok(flags.length > 30, help);
  assert.deepEqual(flags.filter((flag) => !new RegExp(`${flag}\\b`).test(stdout)), []);
  assert.doesNotMatch(stdout, /undefined|\[object/);
  const wrong = await sandbox.call(["completions", "tcsh"]);
  assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
  assert.match(wrong.stderr, /bash, zsh, fish/);
});
