/**
 * A stream of a gigabyte through `reprise record`: how much longer it takes than without, and how far the recorder's
 * memory grows.
 *
 * @module
 */
import { join } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { exchangeFolder } from "../src/fixture/format.ts";
import { denoFiles } from "../src/store/deno_files.ts";
import { readLongStream, startLongStream } from "../tests/support/long_stream.ts";
import { type Bench, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { memoryRow, type Report, type Row, type SkippedRow, timeRow } from "./report.ts";
import { memoryNow, peakMemory, startReprise } from "./servers.ts";
import { timedAsync } from "./timing.ts";

const MEMORY_TARGET_MB = 64;
/** How long checks and publication may take after the last byte. */
const PUBLISH_MS = 300_000;

/** Measures one recording, which takes as long as it takes: a second one would say the same. */
export const recordBench: Bench = async (context) => {
  const megabytes = sized(context, { full: 1000, quick: 64 });
  const { reprise } = await makeBinaries(context);
  const upstream = startLongStream(megabytes * 1e6);
  const out = join(context.workDirectory, "record");
  const recorder = await startReprise(reprise, ["record", "--upstream", upstream.origin, "--out", out]);
  try {
    // A small one first: what any request needs is there then.
    await readLongStream(recorder.origin, "?bytes=1000000");
    const before = memoryNow(recorder.pid);
    const direct = await timedAsync(() => readLongStream(upstream.origin));
    const recorded = await timedAsync(() => readLongStream(recorder.origin));
    await published(join(out, exchangeFolder(2)));
    const peak = peakMemory(recorder.pid);
    return {
      rows: [
        timeRow({
          name: `a stream of ${megabytes} MB through record`,
          against: "straight from its server, time",
          times: [recorded],
          againstTimes: [direct],
          detail: true,
        }),
        growthRow(megabytes, before, peak),
      ],
      notes: ["Memory: the most that the process ever held, less what it held after a stream of 1 MB."],
    } satisfies Report;
  } finally {
    await recorder.stop();
    await upstream.stop();
  }
};

/**
 * Waits until a recorder has published an exchange: the checks before that count too.
 *
 * @throws {RepriseError} `timed_out` after five minutes.
 */
export async function published(folder: string): Promise<void> {
  const until = performance.now() + PUBLISH_MS;
  while (denoFiles.facts(folder) === null) {
    if (performance.now() > until) {
      throw new RepriseError("timed_out", `Nothing was published as "${folder}"`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function growthRow(megabytes: number, before: number | null, peak: number | null): Row | SkippedRow {
  const name = `memory that record adds for a stream of ${megabytes} MB`;
  if (before === null || peak === null) return { name, skipped: "no /proc" };
  return memoryRow({
    name,
    against: `${MEMORY_TARGET_MB} MB`,
    megabytes: [(peak - before) / 1e6],
    againstMegabytes: [MEMORY_TARGET_MB],
    target: { bound: "at_most", value: 1 },
  });
}
