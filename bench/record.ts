/** Long streams through `reprise record`: the memory that they add, and the time against the stream without it. */
import { join } from "node:path";
import { readLongStream, startLongStream } from "../tests/support/long_stream.ts";
import { makeBinaries } from "./binaries.ts";
import { bench, sized, timed } from "./report.ts";
import { memoryNow, peakMemory, startReprise } from "./servers.ts";

const against = "straight from its server";
const limit = { against: "64 MB", kind: "memory", target: 1 } as const;

export const record = bench({
  kept: { what: "250 MB through record", against },
  keptMemory: { what: "memory that recording 250 MB adds", ...limit },
  passed: { what: "1 GB through record, too long to keep", against },
  passedMemory: { what: "memory that recording 1 GB adds", ...limit },
}, async (context) => {
  const { reprise } = await makeBinaries(context);
  const upstream = startLongStream(1e6);
  const out = join(context.work, "out");
  try {
    await using recorder = await startReprise(reprise, "record", "--upstream", upstream.origin, "--out", out);
    await readLongStream(recorder.origin);
    const before = memoryNow(recorder.pid) ?? NaN;
    const timesOf = async (bytes: number) => {
      const reading = (origin: string) => timed(() => readLongStream(origin, `?bytes=${bytes}`));
      return { other: [await reading(upstream.origin)], own: [await reading(recorder.origin)] };
    };
    const added = () => ({ own: [((peakMemory(recorder.pid) ?? NaN) - before) / 1e6], other: [64] });
    const bytes = sized(context, 250e6, 5e6);
    const kept = await timesOf(bytes);
    await published(out, bytes);
    const keptMemory = added();
    const passed = await timesOf(4 * bytes);
    return { kept, keptMemory, passed, passedMemory: added() };
  } finally {
    await upstream.stop();
  }
});

/** Waits until a recorder has published an exchange with an answer of at least `bytes` bytes. */
export async function published(out: string, bytes: number): Promise<void> {
  const folder = join(out, "exchanges");
  const sizeOf = ({ name }: Deno.DirEntry) => Deno.statSync(join(folder, name, "body")).size;
  for (;;) {
    try {
      if ([...Deno.readDirSync(folder)].some((entry) => sizeOf(entry) >= bytes)) return;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
