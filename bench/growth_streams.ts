/**
 * Streams of 1 KB to 1 GB through `reprise record`: time and memory by size.
 *
 * @module
 */
import { join } from "node:path";
import { exchangeFolder, MAX_RESPONSE_BYTES } from "../src/fixture/format.ts";
import { readLongStream, startLongStream } from "../tests/support/long_stream.ts";
import type { BenchContext } from "./bench.ts";
import type { Curve, Point } from "./curves.ts";
import { published } from "./record.ts";
import { peakMemory, startReprise } from "./servers.ts";
import { spread, timedAsync } from "./timing.ts";

/** Measures one recorder with rising sizes, so that its peak belongs to the largest so far. */
export async function streamCurves(context: BenchContext, reprise: string): Promise<Curve[]> {
  const sizes = context.quick ? [1e3, 1e5] : [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
  const upstream = startLongStream(1e3);
  const out = join(context.workDirectory, "growth-streams");
  const recorder = await startReprise(reprise, ["record", "--upstream", upstream.origin, "--out", out]);
  const [through, straight, memory]: Point[][] = [[], [], []];
  let recorded = 0;
  const throughRecord = async (query: string) => {
    recorded++;
    return await timedAsync(() => readLongStream(recorder.origin, query));
  };
  try {
    for (let warmup = 0; warmup < 3; warmup++) await throughRecord("?bytes=1000");
    for (const x of sizes) {
      const query = `?bytes=${x}`;
      const [own, floor]: number[][] = [[], []];
      for (let round = 0; round < roundsOf(x); round++) {
        floor?.push(await timedAsync(() => readLongStream(upstream.origin, query)));
        own?.push(await throughRecord(query));
        if (x < MAX_RESPONSE_BYTES) await published(join(out, exchangeFolder(recorded)));
      }
      through?.push({ x, y: spread(own ?? []).median });
      straight?.push({ x, y: spread(floor ?? []).median });
      const peak = peakMemory(recorder.pid);
      if (peak !== null) memory?.push({ x, y: peak / 1e6 });
    }
  } finally {
    await recorder.stop();
    await upstream.stop();
    Deno.removeSync(out, { recursive: true });
  }
  const shared = { sizes: "bytes of the stream" };
  return [{
    ...shared,
    file: "record-time",
    title: "A stream through record, and straight from its server",
    amounts: { label: "time until its last byte (ms)", scale: "logarithmic" },
    series: [{ name: "through record", points: through ?? [] }, { name: "straight", points: straight ?? [] }],
  }, {
    ...shared,
    file: "record-memory",
    title: "Peak memory of record (answers over 256 MiB pass through)",
    amounts: { label: "memory (MB)", scale: "linear" },
    series: [{ name: "record", points: memory ?? [] }],
  }];
}

/** Long streams say enough in one round. */
function roundsOf(bytes: number): number {
  return bytes > 1e8 ? 1 : bytes > 1e6 ? 3 : 7;
}
