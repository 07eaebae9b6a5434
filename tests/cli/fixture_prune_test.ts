/** Fixtures that a recorder is writing to; plans and refusals of `fixture prune` are in tests/doors/recordings. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../support/reprise.ts";
import { ended, fixtureOf, inputsOf, useOf, writeEvents } from "../doors/recordings/prune_lists.ts";
import { assertError } from "./harness.ts";

test.process("fixture prune, seal and redact are exit 5 while a recorder writes to one of the fixtures, and change none", async () => {
  await using sandbox = new Sandbox();
  const [login, chat] = ["login", "chat"].map((name) =>
    fixtureOf(`${sandbox.workspace}/suite/${name}`, [`${name} a`, `${name} b`])
  ) as [string, string];
  const list = writeEvents(`${sandbox.directory}/used.jsonl`, ended([useOf(chat, 1), useOf(login, 1)]));
  const prune = ["fixture", "prune", "suite", "--events", list, "--json"];
  const upstream = ["--upstream", "http://127.0.0.1:9"];
  const recorder = sandbox.start(["record", "--append", "--json", "--out", login, ...upstream]);
  await recorder.printed('"type":"ready"');
  try {
    const says = new RegExp(`locked by process ${recorder.process.pid} `);
    for (
      const args of [prune, ["fixture", "seal", login, "--json"], ["fixture", "redact", login, "--json"]]
    ) {
      assertError(await sandbox.call(args), { code: "fixture_locked", exit: 5, says });
    }
    assert.deepEqual([inputsOf(chat).length, inputsOf(login).length], [2, 2]);
  } finally {
    recorder.process.kill("SIGTERM");
    await recorder.ended();
  }
  assert.equal((await sandbox.call(prune)).code, 0);
  assert.deepEqual([inputsOf(chat), inputsOf(login)], [["chat a"], ["login a"]]);
});
