/** Verbs on fixtures that were recorded over a WebSocket. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { said, Sandbox } from "../support/reprise.ts";
import { recordOverSocket } from "../support/socket_fixture.ts";

const LOOP = new URL("../sessions/loop", import.meta.url).pathname;

test.process("a session that was recorded over a WebSocket plays with the same turns, and --update records messages", async () => {
  await using sandbox = new Sandbox();
  const path = `${sandbox.directory}/loop`;
  const ends = async (code: number, ...args: readonly string[]) => {
    const called = await sandbox.call(args);
    assert.equal(called.code, code, said(called));
    return called.stdout + called.stderr;
  };
  cpSync(LOOP, path, { recursive: true });
  for (const step of ["1", "2"]) {
    recordOverSocket(`${path}/${step}`);
    await ends(0, "fixture", "seal", `${path}/${step}`);
  }
  await ends(0, "test", path);
  const run = ["run", "--new", "-m", "gpt-5.6", "--instructions", "Be brief.", "--fixture", `${path}/1`];
  await ends(0, ...run, "What do the files say?");
  const missed = await ends(7, ...run, "What do the folders say?");
  assert.match(missed, /No recording matches request 1 .*input\[0\]\.content/);

  const file = `${path}/session.json`;
  Deno.writeTextFileSync(file, Deno.readTextFileSync(file).replace("Be brief.", "Be long."));
  assert.match(await ends(7, "test", path), /step 1, request 1\b.*differs/);
  await ends(0, "test", path, "--update");
  const { method, transport, body } = JSON.parse(
    Deno.readTextFileSync(`${path}/1/exchanges/0002/request.json`),
  );
  assert.deepEqual([method, transport, body.type, body.instructions], [
    "GET",
    "ws",
    "response.create",
    "Be long.",
  ]);
  await ends(0, "test", path);
});
