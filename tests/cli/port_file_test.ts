/** Files that `--port-file` replaces and removes: port files of servers, and nothing else. */
import assert from "node:assert/strict";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { Sandbox } from "../support/reprise.ts";
import { test } from "../support/test.ts";
import { assertError } from "./harness.ts";

test.process("a port file of a killed server is replaced, and no other file that has its name is removed", async () => {
  await using sandbox = new Sandbox();
  const path = `${sandbox.directory}/port`;
  const fixture = writeFixture(`${sandbox.directory}/chat`, [{ body: "{}" }]);
  for (const [content, end] of [["40123\n", null], ["", "mine"]] as const) {
    Deno.writeTextFileSync(path, content);
    const server = sandbox.start(["serve", fixture, "--json", "--port-file", path]);
    await server.printed('"ready"');
    assert.match(Deno.readTextFileSync(path), /^\d+\n$/);
    if (end !== null) {
      Deno.writeTextFileSync(`${path}.other`, end);
      Deno.renameSync(`${path}.other`, path);
    }
    server.process.kill("SIGTERM");
    await server.ended();
    if (end === null) assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
    else assert.equal(Deno.readTextFileSync(path), end);
  }
});

test.process("record and serve refuse a --port-file that is something else, before they do anything", async () => {
  await using sandbox = new Sandbox();
  const { directory } = sandbox;
  Deno.symlinkSync("/dev/null", `${directory}/link`);
  Deno.writeTextFileSync(`${directory}/digits`, "80\n81\n");
  const serve = ["serve", writeFixture(`${directory}/chat`, [{ body: "{}" }])];
  const record = ["record", "--upstream", "http://127.0.0.1:9", "--out", `${directory}/out`];
  for (
    const [name, says] of [
      ["link", /it is no regular file/],
      ["digits", /something other than a port/],
    ] as const
  ) {
    for (const args of [serve, record]) {
      const called = await sandbox.call([
        ...args,
        "--json",
        "--port-file",
        `${directory}/${name}`,
        "--",
        "true",
      ]);
      assertError(called, { code: "usage", exit: 2, says });
    }
  }
  assert.deepEqual(Deno.readLinkSync(`${directory}/link`), "/dev/null");
  assert.deepEqual(Deno.readTextFileSync(`${directory}/digits`), "80\n81\n");
  assert.throws(() => Deno.statSync(`${directory}/out`), Deno.errors.NotFound);
});
