/** A fixture that grows day by day. */
import assert from "node:assert/strict";
import { readFixture } from "../../../../src/fixture/read.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { append, inputsOf, ScratchFolder } from "./appending.ts";
import { CHANGING, spyFiles } from "../../store/spy_files.ts";
import { test } from "../../../support/test.ts";
import { scaled } from "../../../support/scale.ts";

const MANY = scaled(40, 100);

/** Work of one recording. */
interface Cost {
  readonly reads: number;
  readonly changes: number;
  /** Size of `fixture.json` after it, in bytes. */
  readonly headerBytes: number;
}

test.long("each of many recordings reads what the fixture holds, and writes only its own exchanges", async () => {
  using folder = new ScratchFolder();
  const costs: Cost[] = [];
  for (let number = 1; number <= MANY; number++) {
    let [reads, changes] = [0, 0];
    const files = spyFiles(({ name }) => {
      if (CHANGING.has(name)) changes += 1;
      else reads += 1;
    }, { syncs: false });
    const { published } = await append(folder.path, [`${number}`], { files });
    assert.equal(published, 1);
    const headerBytes = Deno.statSync(`${folder.path}/fixture.json`).size;
    costs.push({ reads, changes, headerBytes });
  }
  assert.deepEqual(inputsOf(folder.path), Array.from({ length: MANY }, (_, index) => `${index + 1}`));
  assert.equal(readFixture(denoFiles, folder.path).header.recordings?.length, MANY);
  const [ten, last] = [costs[9], costs[MANY - 1]] as [Cost, Cost];
  // Each recording reads every file, because all sums are checked, and it writes only its own.
  const perExchange = (last.reads - ten.reads) / (MANY - 10);
  assert.ok(perExchange < 30, `${perExchange} reads for each exchange`);
  assert.equal(last.changes, ten.changes);
  assert.ok(
    last.headerBytes < MANY / 10 * ten.headerBytes,
    `${ten.headerBytes} and ${last.headerBytes} bytes`,
  );
});
