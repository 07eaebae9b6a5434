/** `test -k`: plays the tests whose path has a text. */
import assert from "node:assert/strict";
import { Sandbox } from "../../support/reprise.ts";

const SESSIONS = new URL("../../sessions", import.meta.url).pathname;

Deno.test("test -k plays only the tests with the text in their path", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["test", "-k", "refused-by", SESSIONS]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^TAP version 14\n1\.\.1\nok 1 - .*refused-by-name/);
});

Deno.test("test -k with a text that no path has exits with 2, and names the text", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["test", "-k", "nothing-like-it", SESSIONS]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /No test has "nothing-like-it" in its path/);
});
