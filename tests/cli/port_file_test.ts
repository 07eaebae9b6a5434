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

const FOREIGN: Readonly<Record<string, readonly [make: (path: string) => void, why: RegExp]>> = {
  "a FIFO": [(path) => new Deno.Command("mkfifo", { args: [path] }).outputSync(), /it is no regular file/],
  "a link": [(path) => Deno.symlinkSync("/dev/null", path), /it is no regular file/],
  "a folder": [(path) => Deno.mkdirSync(path), /it is no regular file/],
  "a user's file": [(path) => Deno.writeTextFileSync(path, "notes\n"), /something other than a port/],
  "digits and more": [(path) => Deno.writeTextFileSync(path, "80\n81\n"), /something other than a port/],
};

for (const [what, [make, why]] of Object.entries(FOREIGN)) {
  test.process(`record and serve refuse a --port-file that is ${what}, before they do anything`, async () => {
    await using sandbox = new Sandbox();
    const { directory } = sandbox;
    const path = `${directory}/port`;
    make(path);
    const { ino, size } = Deno.lstatSync(path);
    const serve = ["serve", writeFixture(`${directory}/chat`, [{ body: "{}" }])];
    for (const args of [serve, ["record", "--upstream", "http://127.0.0.1:9", "--out", `${directory}/out`]]) {
      const called = await sandbox.call([...args, "--json", "--port-file", path, "--", "true"]);
      assertError(called, { code: "usage", exit: 2, says: why });
    }
    const after = Deno.lstatSync(path);
    assert.deepEqual([after.ino, after.size], [ino, size]);
    assert.throws(() => Deno.statSync(`${directory}/out`), Deno.errors.NotFound);
  });
}
