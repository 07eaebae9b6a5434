/**
 * A stream of a gigabyte through `reprise record`: how much longer it takes than without, and how far the recorder's
 * memory grows.
 *
 * @module
 */
import { join } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import { exchangeFolder, MAX_RESPONSE_BYTES } from "../src/fixture/format.ts";
import { denoFiles } from "../src/store/deno_files.ts";
import { readLongStream, startLongStream } from "../tests/support/long_stream.ts";
import { type Bench, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { memoryRow, type Report, type Row, type SkippedRow, timeRow } from "./report.ts";
import { memoryNow, peakMemory, startReprise } from "./servers.ts";
import { timedAsync } from "./timing.ts";

const MEMORY_TARGET_MB = 64;
/** Longest time for checks and publication after the last byte. */
const PUBLISH_MS = 300_000;

/** Measures each size once, which takes as long as it takes: a second time would say the same. */
export const recordBench: Bench = async (context) => {
  // The larger one passes through, but no fixture keeps it.
  const sizes = [250, 1000].map((full) => sized(context, { full, quick: full / 8 }));
  const { reprise } = await makeBinaries(context);
  const upstream = startLongStream(1e6);
  const out = join(context.workDirectory, "record");
  const recorder = await startReprise(reprise, ["record", "--upstream", upstream.origin, "--out", out]);
  try {
    // A small one first: what any request needs is there then.
    await readLongStream(recorder.origin);
    const before = memoryNow(recorder.pid);
    const rows: (Row | SkippedRow)[] = [];
    for (const [index, megabytes] of sizes.entries()) {
      const query = `?bytes=${megabytes * 1e6}`;
      const direct = await timedAsync(() => readLongStream(upstream.origin, query));
      const recorded = await timedAsync(() => readLongStream(recorder.origin, query));
      const isKept = megabytes * 1e6 < MAX_RESPONSE_BYTES;
      if (isKept) await published(join(out, exchangeFolder(index + 2)));
      rows.push(growthRow(megabytes, isKept, { before, peak: peakMemory(recorder.pid) }));
      rows.push(timeRow({
        name: `a stream of ${megabytes} MB through record`,
        against: "straight from its server, time",
        times: [recorded],
        againstTimes: [direct],
        detail: true,
      }));
    }
    return {
      rows,
      notes: [
        "Memory: the most that the process ever held, less what it held after a stream of 1 MB. A fixture keeps " +
        `answers of up to ${
          MAX_RESPONSE_BYTES / 1024 / 1024
        } MiB; a longer one passes through to its client.`,
      ],
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

function growthRow(
  megabytes: number,
  isKept: boolean,
  { before, peak }: { readonly before: number | null; readonly peak: number | null },
): Row | SkippedRow {
  const name = `memory that record adds, ${megabytes} MB ${isKept ? "kept" : "passed through"}`;
  if (before === null || peak === null) return { name, skipped: "no /proc" };
  return memoryRow({
    name,
    against: `${MEMORY_TARGET_MB} MB`,
    megabytes: [(peak - before) / 1e6],
    againstMegabytes: [MEMORY_TARGET_MB],
    target: { bound: "at_most", value: 1 },
  });
}
