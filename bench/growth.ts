/**
 * Costs by size: turns of a session, sessions of a home, clients of a server, bytes of a stream, exchanges of a suite.
 *
 * @module
 */
import { join } from "node:path";
import { type Bench, type BenchContext } from "./bench.ts";
import { bareServer, makeBinaries } from "./binaries.ts";
import { requestBody } from "./client_request.ts";
import { postOf, sendAll } from "./clients.ts";
import type { Curve, Series } from "./curves.ts";
import { makeServedFixture } from "./fixture.ts";
import { syncDisk, timeProgram } from "./programs.ts";
import { appends, compileC, openWriter } from "./publish.ts";
import { streamCurves } from "./growth_streams.ts";
import type { Report } from "./report.ts";
import { startBare, startReprise } from "./servers.ts";
import { makeSessions, TURNS_A_RUN } from "./session.ts";
import { serveSuite } from "./suite.ts";
import { type Candidate, interleave, spread, timedAsync } from "./timing.ts";

const PATH = "/v1/responses";

/** Measures all curves. */
export const growthBench: Bench = async (context) => {
  const { reprise, empty } = await makeBinaries(context);
  const curves = [
    await appendCurve(context),
    await listCurve(context, reprise, empty),
    await clientsCurve(context, reprise),
    ...await streamCurves(context, reprise),
    await suiteCurve(context, reprise),
  ];
  return {
    rows: [],
    curves,
    notes: ["Medians; each size and its reference in the same rounds."],
  } satisfies Report;
};

/** The sizes of a curve, or small ones for a quick bench. */
function sizesOf({ quick }: BenchContext, full: readonly number[], small: readonly number[]) {
  return quick ? small : full;
}

/** Medians of interleaved rounds: a series for each name, a point for each size. */
async function seriesOf(
  candidates: Readonly<Record<string, ReadonlyMap<number, Candidate>>>,
  { rounds, amount = (ms) => ms }: {
    readonly rounds: number;
    /** The amount of a point, from milliseconds and the size. @default {milliseconds} */
    readonly amount?: (ms: number, size: number) => number;
  },
): Promise<Series[]> {
  const flat = Object.entries(candidates).flatMap(([name, sizes]) =>
    [...sizes].map(([size, candidate]) => ({ key: `${name} ${size}`, name, size, candidate }))
  );
  const times = await interleave(
    Object.fromEntries(flat.map(({ key, candidate }) => [key, candidate])) as Record<string, Candidate>,
    { rounds, warmups: 3 },
  );
  return Object.keys(candidates).map((name) => ({
    name,
    points: flat.filter((each) => each.name === name).map(({ key, size }) => ({
      x: size,
      y: amount(spread(times[key] ?? []).median, size),
    })),
  }));
}

async function appendCurve(context: BenchContext): Promise<Curve> {
  const directory = join(context.workDirectory, "growth-append");
  Deno.mkdirSync(directory);
  const own = new Map<number, Candidate>();
  const writers = [];
  try {
    for (const turns of sizesOf(context, [10, 1000, 100_000], [10, 100])) {
      const writer = await openWriter(join(directory, String(turns)), turns);
      writers.push(writer);
      own.set(turns, appends(writer));
    }
    const inC = writers[0] === undefined ? null : compileC(context.root, directory, writers[0]);
    syncDisk();
    const reference = inC === null
      ? {}
      : { "the same system calls in C": new Map([...own.keys()].map((turns) => [turns, inC])) };
    return {
      file: "append",
      title: "Durable append of one turn of 2 KB",
      sizes: "turns before it",
      amounts: { label: "time of one append (ms)", scale: "linear" },
      series: await seriesOf({ "reprise": own, ...reference }, { rounds: context.quick ? 2 : 31 }),
    };
  } finally {
    for (const writer of writers) writer.close();
  }
}

async function listCurve(context: BenchContext, reprise: string, empty: string): Promise<Curve> {
  const own = new Map<number, Candidate>();
  const floor = new Map<number, Candidate>();
  for (const sessions of sizesOf(context, [10, 100, 1000, 10_000], [2, 10])) {
    const home = join(context.workDirectory, `growth-ls-${sessions}`);
    await makeSessions(home, sessions, TURNS_A_RUN);
    const env = { HOME: home, REPRISE_HOME: home };
    own.set(sessions, { measure: () => timeProgram({ program: reprise, args: ["ls"], env }) });
    floor.set(sessions, { measure: () => timeProgram({ program: empty, args: [], env }) });
  }
  return {
    file: "ls",
    title: "reprise ls, from start to exit; sessions of one run",
    sizes: "sessions in the home",
    amounts: { label: "time (ms)", scale: "logarithmic" },
    series: await seriesOf({ "reprise ls": own, "an empty binary": floor }, {
      rounds: context.quick ? 2 : 11,
    }),
  };
}

/** All clients ask for one recorded stream of 300 events, each the next time as soon as it has its answer. */
async function clientsCurve(context: BenchContext, reprise: string): Promise<Curve> {
  const requests = context.quick ? 8 : 512;
  const fixture = join(context.workDirectory, "growth-clients");
  makeServedFixture(fixture, 300);
  const own = await startReprise(reprise, ["serve", fixture, "--repeat"]);
  const bare = await startBare(
    await bareServer(context),
    join(fixture, "exchanges", "0001", "body"),
    "whole",
  );
  try {
    const candidates = (origin: string) =>
      new Map(
        sizesOf(context, [1, 16, 256], [1, 2]).map((clients): [number, Candidate] => {
          const all = Array.from({ length: requests }, () => postOf(origin, PATH, requestBody(0)));
          return [clients, {
            measure: () => timedAsync(() => sendAll(origin, all, { clients, leastBytes: 1000 })),
          }];
        }),
      );
    return {
      file: "clients",
      title: "Clients of serve at once, a stream of 300 events each",
      sizes: "clients",
      amounts: { label: "requests per second", scale: "linear" },
      series: await seriesOf({
        "reprise serve": candidates(own.origin),
        "Deno.serve, the body in one piece": candidates(bare.origin),
      }, {
        rounds: context.quick ? 2 : 9,
        amount: (ms) => requests / ms * 1000,
      }),
    };
  } finally {
    await own.stop();
    await bare.stop();
  }
}

async function suiteCurve(context: BenchContext, reprise: string): Promise<Curve> {
  const hit = new Map<number, Candidate>();
  const miss = new Map<number, Candidate>();
  const served = [];
  try {
    for (const exchanges of sizesOf(context, [10, 100, 1000, 10_000], [10, 20])) {
      const suite = await serveSuite(context, reprise, exchanges);
      served.push(suite);
      hit.set(exchanges, suite.hit);
      miss.set(exchanges, suite.miss);
    }
    const how = { rounds: context.quick ? 2 : 31 };
    return {
      file: "suite",
      title: "One request to a served suite, ten exchanges a test",
      sizes: "exchanges in the suite",
      amounts: { label: "time of one request (ms)", scale: "linear" },
      series: [...await seriesOf({ "hit": hit }, how), ...await seriesOf({ "miss": miss }, how)],
    };
  } finally {
    for (const suite of served) await suite.stop();
  }
}
