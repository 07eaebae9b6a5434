/** Verbs on fixtures that were recorded over a WebSocket. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { sealFixture } from "../../src/fixture/seal.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { Sandbox } from "../support/reprise.ts";
import { recordOverSocket } from "../support/socket_fixture.ts";

const LOOP = new URL("../sessions/loop", import.meta.url).pathname;

/** A copy of a session test with two runs, as if both had been recorded over a WebSocket. */
class SocketSession extends Sandbox {
  readonly test = `${this.directory}/loop`;

  constructor() {
    super();
    cpSync(LOOP, this.test, { recursive: true });
    for (const step of ["1", "2"]) {
      recordOverSocket(`${this.test}/${step}`);
      sealFixture(denoFiles, `${this.test}/${step}`);
    }
  }
}

test.process("a session test plays a fixture that was recorded over a WebSocket, with the same turns", async () => {
  await using sandbox = new SocketSession();
  const { code, stdout, stderr } = await sandbox.call(["test", sandbox.test]);
  assert.equal(code, 0, `${stdout}${stderr}`);
});

test.process("a session test reports a request that a message did not ask for, and --update records it as a message", async () => {
  await using sandbox = new SocketSession();
  const file = `${sandbox.test}/session.json`;
  Deno.writeTextFileSync(file, Deno.readTextFileSync(file).replace("Be brief.", "Be long."));
  const failed = await sandbox.call(["test", sandbox.test]);
  assert.equal(failed.code, 7, failed.stderr);
  assert.match(`${failed.stdout}${failed.stderr}`, /step 1, request 1\b.*differs/);
  const updated = await sandbox.call(["test", sandbox.test, "--update"]);
  assert.equal(updated.code, 0, `${updated.stdout}${updated.stderr}`);
  const request = JSON.parse(Deno.readTextFileSync(`${sandbox.test}/1/exchanges/0002/request.json`));
  assert.deepEqual(
    [request.method, request.transport, request.body.type, request.body.instructions],
    ["GET", "ws", "response.create", "Be long."],
  );
  assert.equal((await sandbox.call(["test", sandbox.test])).code, 0);
});

test("run --fixture plays a fixture that was recorded over a WebSocket, and misses a changed prompt", async () => {
  await using sandbox = new SocketSession();
  const run = (prompt: string) => {
    const args = ["run", "--new", "-m", "gpt-5.6", "--instructions", "Be brief."];
    return sandbox.call([...args, "--fixture", `${sandbox.test}/1`, prompt]);
  };
  const played = await run("What do the files say?");
  assert.equal(played.code, 0, played.stderr);
  const missed = await run("What do the folders say?");
  assert.equal(missed.code, 7, missed.stderr);
  assert.match(missed.stderr, /No recording matches request 1 .*input\[0\]\.content/);
});
