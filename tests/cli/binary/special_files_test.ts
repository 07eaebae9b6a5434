/** Messages about FIFOs and devices instead of files and folders. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { assertError } from "../harness.ts";

function fifo(path: string): string {
  assert.ok(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
  return path;
}

const SPECIAL = /it is a FIFO, a socket or a device/;

Deno.test("a FIFO or device is named as that, and never opened: record --out", async () => {
  await using sandbox = new Sandbox();
  const out = fifo(`${sandbox.directory}/out`);
  const called = await sandbox.call(["record", "--upstream", "http://127.0.0.1:9", "--out", out, "--json"]);
  assertError(called, { code: "usage", exit: 2, says: SPECIAL });
});

Deno.test("a FIFO or device is named as that, and never opened: a FIFO inside a fixture", async () => {
  await using sandbox = new Sandbox();
  const fixture = writeFixture(`${sandbox.directory}/chat`, [{ body: "{}" }]);
  Deno.removeSync(`${fixture}/exchanges/0001/request.json`);
  fifo(`${fixture}/exchanges/0001/request.json`);
  const called = await sandbox.call(["fixture", "show", fixture, "--json"]);
  assertError(called, { code: "bad_fixture", exit: 2, says: SPECIAL });
});
