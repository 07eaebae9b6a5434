/**
 * The cost of a long line: twice as long, twice the time. Code that joins or searches a line again with every chunk takes
 * four times. The fastest rounds are compared: a line of megabytes gets memory that the process has used before, or new
 * memory, which takes ten times as long for the system to provide than this program to read the line.
 *
 * @module
 */
import { responsesApi } from "../src/apis/responses/api.ts";
import { readSse } from "../src/transport/sse.ts";
import { bodyOfChunks } from "../tests/support/streams.ts";
import { type Bench, sized } from "./bench.ts";
import { type Report, timeRow } from "./report.ts";
import { interleave, timedAsync } from "./timing.ts";

const CHUNKS = [4096, 300] as const;

/** Measures one event of 8 MB against one of 4 MB, from bytes to the item in it. */
export const lineBench: Bench = async (context) => {
  const megabytes = sized(context, { full: 8, quick: 2 });
  const rounds = sized(context, { full: 25, quick: 3 });
  const rows = [];
  for (const chunk of CHUNKS) {
    const long = chunksOf(megabytes, chunk);
    const half = chunksOf(megabytes / 2, chunk);
    const times = await interleave({
      long: { measure: () => timedAsync(() => readItem(long)) },
      half: { measure: () => timedAsync(() => readItem(half)) },
    }, { rounds, warmups: 2 });
    rows.push(timeRow({
      name: `a line of ${megabytes} MB in ${chunk}-byte chunks → item`,
      against: `one of ${megabytes / 2} MB, time`,
      times: [Math.min(...times.long)],
      againstTimes: [Math.min(...times.half)],
      target: { bound: "at_most", value: 2.6 },
    }));
  }
  return {
    rows,
    notes: [`The fastest of ${rounds} rounds; a compaction item; its blob makes the long line.`],
  } satisfies Report;
};

function chunksOf(megabytes: number, size: number): Uint8Array[] {
  const item = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAAA".repeat(megabytes * 1e6 / 6) };
  const data = JSON.stringify({ type: "response.output_item.done", output_index: 0, item });
  const bytes = new TextEncoder().encode(`event: response.output_item.done\ndata: ${data}\n\n`);
  return Array.from(
    { length: Math.ceil(bytes.length / size) },
    (_, index) => bytes.subarray(index * size, (index + 1) * size),
  );
}

async function readItem(chunks: readonly Uint8Array[]): Promise<void> {
  const assembler = responsesApi.newAssembler();
  let items = 0;
  for await (const batch of readSse(bodyOfChunks(chunks))) {
    for (const event of batch) items += assembler.feed(event).filter(({ kind }) => kind === "item").length;
  }
  if (items !== 1) throw new Error(`${items} items were read`);
}
