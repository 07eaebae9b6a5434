/** A very long stream through the recorder. */
import assert from "node:assert/strict";
import { lacksBinary, needing } from "../support/needs.ts";
import { memoryNow, peakMemory } from "../../bench/servers.ts";
import { readLongStream, startLongStream } from "../support/long_stream.ts";
import { Sandbox } from "../support/reprise.ts";
import { foldersIn } from "../doors/recordings/recording_files.ts";
import { withServer } from "./listening.ts";
import { scaled } from "../support/scale.ts";

const BYTES = scaled(128e6, 1e9);
const MEMORY_GROWTH = 64e6;

Deno.test({
  ...needing(
    "a stream of a gigabyte is recorded whole in memory that grows by less than 64 MB",
    lacksBinary(),
  ),
  fn: async () => {
    await using sandbox = new Sandbox();
    const upstream = startLongStream(BYTES);
    try {
      const out = `${sandbox.directory}/recorded`;
      const { value, called } = await withServer(
        sandbox,
        ["record", "--upstream", upstream.origin, "--out", out],
        async (origin, started) => {
          const { pid } = started.process;
          // A small one first: what any request needs is there then.
          await readLongStream(origin, "?bytes=1000000");
          await started.printed('"state":"published"');
          const before = memoryNow(pid);
          const bytes = await readLongStream(origin);
          await started.printed('"state":"published"', 2);
          return { bytes, before, peak: peakMemory(pid) };
        },
      );
      const { bytes, before, peak } = value;
      assert.ok(bytes >= BYTES);
      assert.equal(called.code, 0, called.stderr.slice(-2000));
      assert.equal(Deno.statSync(`${out}/${foldersIn(out)[1]}/body`).size, bytes);
      assert.ok(before !== null && peak !== null);
      const grown = peak - before;
      assert.ok(grown < MEMORY_GROWTH, `memory grew by ${(grown / 1e6).toFixed(0)} MB`);
    } finally {
      await upstream.stop();
    }
  },
});
