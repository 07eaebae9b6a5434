/** The lock of a fixture folder between processes of this machine. */
import assert from "node:assert/strict";
import { lockFixture } from "../../../src/cli/fixture_lock.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { spyFiles } from "../store/spy_files.ts";
import { append, inputsOf, portsWith, ScratchFolder } from "./appending.ts";
import { test } from "../../support/test.ts";

const PORTS = portsWith(denoFiles);

async function requireLocked(act: Promise<unknown>): Promise<void> {
  await assert.rejects(act, (error) => {
    assert.ok(error instanceof RepriseError);
    assert.deepEqual([error.code, error.exitCode], ["fixture_locked", 5]);
    assert.match(error.message, new RegExp(`locked by process ${Deno.pid} on host `));
    assert.equal((error.details as { readonly owner: { readonly pid: number } }).owner.pid, Deno.pid);
    return true;
  });
}

test.long("a folder that is locked refuses a second recorder, and the error names the process with the lock", async () => {
  using folder = new ScratchFolder();
  const lock = await lockFixture(PORTS, folder.path);
  assert.equal(lock.leftBehind, false);
  for (const grows of [true, false]) await requireLocked(append(folder.path, ["a"], { grows }));
  await requireLocked(lockFixture(PORTS, folder.path));
  assert.deepEqual(denoFiles.list(`${folder.path}/.recording`), ["lock"]);
  lock.release(true);
  assert.deepEqual(denoFiles.list(folder.path), []);
  await append(folder.path, ["a"]);
  assert.deepEqual(inputsOf(folder.path), ["a"]);
});

Deno.test("a lock that is released from a folder with unlisted exchanges shows that to the next owner", async () => {
  using folder = new ScratchFolder();
  (await lockFixture(PORTS, folder.path)).release(false);
  const next = await lockFixture(PORTS, folder.path);
  assert.equal(next.leftBehind, true);
  // The process that cleaned up the folder removes the sign.
  next.release(true);
  const last = await lockFixture(PORTS, folder.path);
  assert.equal(last.leftBehind, false);
  last.release(true);
});

Deno.test("a lock with something else beside it keeps its folder", async () => {
  using folder = new ScratchFolder();
  const lock = await lockFixture(PORTS, folder.path);
  Deno.mkdirSync(`${folder.path}/.recording/1`);
  lock.release(true);
  assert.deepEqual(denoFiles.list(`${folder.path}/.recording`).sort(), ["1", "lock"]);
  const next = await lockFixture(PORTS, folder.path);
  assert.equal(next.leftBehind, true);
  next.release(true);
});

Deno.test("the remains of a recorder that came and was killed while a lock was taken are removed", async () => {
  using folder = new ScratchFolder();
  await append(folder.path, ["a"]);
  let hasCome = false;
  const files = spyFiles(({ name, path }) => {
    if (hasCome || name !== "facts" || !path.endsWith("/.recording/lock")) return;
    if (denoFiles.facts(`${folder.path}/.recording`) === null) return;
    hasCome = true;
    Deno.writeTextFileSync(path, '{"pid":1,"host":"h","since":"2026-11-21T00:00:00.000Z"}\n');
    Deno.mkdirSync(`${folder.path}/exchanges/0002`);
    Deno.writeTextFileSync(`${folder.path}/exchanges/0002/body`, "half");
  });
  await append(folder.path, ["b"], { files });
  assert.ok(hasCome);
  assert.deepEqual(inputsOf(folder.path), ["a", "b"]);
});

Deno.test({
  name: "an owner that ends while another process takes its lock leaves that process its own",
  // A runtime that can only wait for a lock still waits for a moment after the test.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    // The folder goes after each look at the lock, as if its owner had just ended.
    using folder = new ScratchFolder();
    let goes = 3;
    const files = spyFiles(({ name, path }) => {
      if (name !== "facts" || !path.endsWith("/.recording/lock") || goes === 0) return;
      if (denoFiles.facts(`${folder.path}/.recording`) === null) return;
      goes -= 1;
      Deno.removeSync(`${folder.path}/.recording`, { recursive: true });
    });
    const lock = await lockFixture(portsWith(files), folder.path);
    assert.equal(goes, 0);
    await requireLocked(lockFixture(PORTS, folder.path));
    lock.release(true);
    assert.deepEqual(denoFiles.list(folder.path), []);
  },
});
