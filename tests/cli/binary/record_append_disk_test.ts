/** `record --append` on real file systems that are full or read-only, where this process may mount them. */
import assert from "node:assert/strict";
import { needing } from "../../support/needs.ts";
import { bytesBelow } from "../../support/files.ts";
import { fill, lacksMount, withMount } from "../../support/mounts.ts";
import { RecordServer, TestFolder } from "../test_folder.ts";

async function remount(at: string, mode: "ro" | "rw"): Promise<void> {
  const { success } = await new Deno.Command("mount", { args: ["-o", `remount,${mode}`, at] }).output();
  assert.ok(success);
}

Deno.test(
  needing(
    "record --append on a full or read-only disk ends with 14, and the fixture does not change",
    await lacksMount("tmpfs"),
  ),
  async () => {
    await using folder = new TestFolder();
    const at = `${folder.directory}/at`;
    const flags = ["--append", "--upstream", folder.upstream.origin, "--out", `${at}/fixture`];
    const add = async (input: string) => {
      const server = await RecordServer.start(folder, flags);
      // The client gets its answer, also if the recording fails.
      assert.equal((await server.post("/v1/responses", { model: "m", input })).status, 200);
      return await server.end();
    };
    Deno.mkdirSync(at);
    await withMount(at, { type: "tmpfs", options: "size=256k" }, async () => {
      assert.equal((await add("a")).code, 0);
      const before = bytesBelow(`${at}/fixture`);
      fill(`${at}/other`);
      const full = await add("b".repeat(8192));
      assert.equal(full.code, 14, full.stderr);
      assert.deepEqual([full.events.at(-2).code, full.events.at(-1).published], ["storage_full", 0]);
      assert.match(full.events.at(-2).message, /^Cannot record: the disk or the quota is full/);
      assert.deepEqual(bytesBelow(`${at}/fixture`), before);
      await remount(at, "ro");
      const denied = await folder.call(["record", ...flags, "--", Deno.execPath(), "eval", "Deno.exit(3)"]);
      assert.equal(denied.code, 14, denied.stderr);
      assert.match(denied.stderr, /Cannot begin the recording: the file system is read-only/);
      assert.deepEqual(bytesBelow(`${at}/fixture`), before);
      await remount(at, "rw");
      Deno.removeSync(`${at}/other`);
      const { code, events } = await add("c");
      assert.deepEqual([code, events[0].before, events.at(-1).published], [0, 1, 1]);
    });
  },
);
