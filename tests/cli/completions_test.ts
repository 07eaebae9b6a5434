/** `completions`: what shells and `man` read. Shells themselves are in tests/cli/long/completions_test.ts. */
import assert from "node:assert/strict";
import { FIXTURE_VERBS, VERBS } from "../../src/cli/verbs.ts";
import { Sandbox } from "../support/reprise.ts";

Deno.test("completions and the man page name every flag of every verb", async () => {
  await using sandbox = new Sandbox();
  const flags = [...VERBS, ...FIXTURE_VERBS].flatMap((verb) =>
    Object.values(verb.flags).map(({ spec }) => spec.replace(/^.*--/, "").replace(/ .*$/, ""))
  );
  for (const shell of ["bash", "zsh", "fish", "man"]) {
    const { code, stdout, stderr } = await sandbox.call(["completions", shell]);
    assert.deepEqual([code, stderr], [0, ""]);
    const text = stdout.replaceAll("\\-", "-");
    const missing = flags.filter((flag) => !new RegExp(`(--|-l )${flag}\\b`).test(text));
    assert.deepEqual(missing, [], shell);
    assert.doesNotMatch(stdout, /undefined|\[object/);
  }
});

Deno.test("completions for an unknown shell exit with 2 and list the shells", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["completions", "tcsh"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /bash, zsh, fish, man/);
});
