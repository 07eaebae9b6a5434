/**
 * Peak memory against the least that the same work takes: an empty binary, the bytes of a session, a bare server.
 *
 * @module
 */
import { join } from "node:path";
import { V8_FLAGS } from "../scripts/compile/build.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { bareServer, type Binaries, makeBinaries } from "./binaries.ts";
import { requestBody } from "./client_request.ts";
import { postOf, sendAll } from "./clients.ts";
import { makeServedFixture } from "./fixture.ts";
import { peakMeter } from "./peak.ts";
import { preparePlayedRuns } from "./played_run.ts";
import { outputOfProgram } from "./programs.ts";
import { memoryRow, type Report, type Row, type SkippedRow } from "./report.ts";
import { memoryNow, peakMemory, type RunningServer, startBare, startReprise } from "./servers.ts";
import { makeSession } from "./session.ts";

const EVENTS = 300;
const PATH = "/v1/responses";
const NO_PROC = "no /proc";

/** Measures a played run, a long session in one process, and a server with many clients. */
export const memoryBench: Bench = async (context) => {
  const binaries = await makeBinaries(context);
  return {
    rows: [
      await playedRunRow(context, binaries),
      await foldRow(context),
      ...await serveRows(context, binaries),
    ],
    notes: [
      "The most that a process ever held; of the fold, less what the process held after a session of 50 turns.",
    ],
  } satisfies Report;
};

async function playedRunRow(context: BenchContext, { reprise, empty }: Binaries): Promise<Row | SkippedRow> {
  const name = "memory of a played run";
  const rounds = sized(context, { full: 9, quick: 2 });
  const meter = peakMeter(context);
  if (meter === null) return { name, skipped: "no C compiler" };
  const directory = join(context.workDirectory, "memory-run");
  Deno.mkdirSync(directory);
  const command = await preparePlayedRuns(reprise, directory, rounds);
  const own: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < rounds; round++) {
    own.push(meter(command(round)).megabytes);
    floor.push(meter({ program: empty, args: [] }).megabytes);
  }
  return memoryRow({ name, against: "an empty binary", megabytes: own, againstMegabytes: floor });
}

/** In a process of its own, whose peak nothing else raised. */
async function foldRow(context: BenchContext): Promise<Row | SkippedRow> {
  const turns = sized(context, { full: 10_000, quick: 1000 });
  const name = `memory that folding ${turns.toLocaleString("en")} turns adds`;
  if (memoryNow(Deno.pid) === null) return { name, skipped: NO_PROC };
  const warm = await makeSession(join(context.workDirectory, "memory-warm"), 50);
  const session = await makeSession(join(context.workDirectory, "memory-fold"), turns);
  const rounds = sized(context, { full: 5, quick: 1 });
  const grown = Array.from({ length: rounds }, () => {
    const script = join(context.root, "bench", "fold_memory.ts");
    const flags = ["run", "-A", "--no-check", `--v8-flags=${V8_FLAGS.join(",")}`];
    const args = [...flags, script, warm.homePath, session.homePath];
    const { before, peak } = JSON.parse(
      outputOfProgram({ program: Deno.execPath(), args, cwd: context.root }),
    );
    return (peak - before) / 1e6;
  });
  return memoryRow({
    name,
    against: "the bytes of its turns",
    megabytes: grown,
    againstMegabytes: grown.map(() => session.bytes / 1e6),
    target: { bound: "at_most", value: 4 },
  });
}

/** All clients read the same recorded stream at once, each twice. */
async function serveRows(context: BenchContext, { reprise }: Binaries): Promise<(Row | SkippedRow)[]> {
  const clients = sized(context, { full: 200, quick: 20 });
  const name = `memory of serve with ${clients} clients`;
  const request = requestBody(0);
  const bodies = Array.from({ length: 1 + clients * 2 }, () => request);
  const fixture = join(context.workDirectory, "memory-serve");
  makeServedFixture(fixture, EVENTS);
  const bare = await bareServer(context);
  const own = await memoryOf(await startReprise(reprise, ["serve", fixture, "--repeat"]), bodies, clients);
  const body = join(fixture, "exchanges", "0001", "body");
  const other = await memoryOf(await startBare(bare, body, "whole"), bodies, clients);
  if (own === null || other === null) return [{ name, skipped: NO_PROC }];
  const against = "Deno.serve, the body in one piece";
  return [
    memoryRow({ name, against, megabytes: [own.peak], againstMegabytes: [other.peak] }),
    memoryRow({
      name: "its part after one request",
      against,
      megabytes: [own.before],
      againstMegabytes: [other.before],
      detail: true,
    }),
  ];
}

/** Megabytes of a server after the first request, and the most after all; stops the server. `null` without /proc. */
async function memoryOf({ origin, pid, stop }: RunningServer, bodies: readonly string[], clients: number) {
  try {
    const [first, ...rest] = bodies.map((body) => postOf(origin, PATH, body));
    await sendAll(origin, [first as Uint8Array], { clients: 1, leastBytes: 1 });
    const before = memoryNow(pid);
    await sendAll(origin, rest, { clients, leastBytes: 1 });
    const peak = peakMemory(pid);
    return before === null || peak === null ? null : { before: before / 1e6, peak: peak / 1e6 };
  } finally {
    await stop();
  }
}
