/** Recorders in several processes that add to one fixture at the same time. */
import assert from "node:assert/strict";
import { readFixture } from "../../../../src/fixture/read.ts";
import { unsealed } from "../../../../src/fixture/seal.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { inputsOf, ScratchFolder } from "./appending.ts";
import { test } from "../../../support/test.ts";
import { scaled } from "../../../support/scale.ts";

const PROGRAM = new URL("append_loop.ts", import.meta.url).pathname;
/** Milliseconds for all processes of a test. */
const PATIENCE_MS = 120_000;
/** Recordings of each process. */
const EACH = scaled(15, 50);
const ROUNDS = scaled(2, 5);

/** Runs the loops of these names side by side. */
async function appendAll(path: string, names: readonly string[], count: number): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const outputs = await Promise.all(names.map((name) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", PROGRAM, path, name, `${count}`],
      signal,
    }).output()
  ));
  for (const { success, stderr } of outputs) assert.ok(success, new TextDecoder().decode(stderr));
}

test.long("processes that append to one folder in turn lose no exchange", async () => {
  using folder = new ScratchFolder();
  const names = ["a", "b", "c"];
  await appendAll(folder.path, names, EACH);
  const inputs = inputsOf(folder.path);
  assert.equal(inputs.length, 3 * EACH);
  for (const name of names) {
    const own = inputs.filter((input) => input.startsWith(name));
    assert.deepEqual(own, Array.from({ length: EACH }, (_, index) => `${name}${index + 1}`));
  }
  const { header } = readFixture(denoFiles, folder.path);
  assert.deepEqual(
    header.recordings?.map(({ exchanges }) => exchanges),
    inputs.map((_, index) => [index + 1, index + 1]),
  );
  assert.deepEqual(unsealed(denoFiles, folder.path), { added: [], changed: [], removed: [] });
  assert.equal(denoFiles.facts(`${folder.path}/.recording`), null);
});

test.long("processes that create the same folder at the same time lose no exchange", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    using folder = new ScratchFolder();
    const names = ["a", "b", "c", "d"];
    await appendAll(folder.path, names, 1);
    assert.deepEqual(inputsOf(folder.path).sort(), names.map((name) => `${name}1`));
    assert.equal(denoFiles.facts(`${folder.path}/.recording`), null);
  }
});
