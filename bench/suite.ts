/**
 * A served suite: the cost of a request with and without a recording, in a small and in a large suite.
 *
 * @module
 */
import { join } from "node:path";
import { writeFixture } from "../tests/support/fixture.ts";
import { responseStream } from "../tests/unit/fixture/serve/given.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { requestBody } from "./client_request.ts";
import { postOf, sendAll } from "./clients.ts";
import { type Report, timeRow } from "./report.ts";
import { startReprise } from "./servers.ts";
import { denoFilesWithoutSync } from "./session.ts";
import { type Candidate, interleave, timedAsync } from "./timing.ts";

const PATH = "/v1/responses";
/** Exchanges in the recording of each test. */
const PER_TEST = 10;
/** Requests of one measurement, all by one client. */
const BATCH = 40;
const ANSWER = responseStream([]);
/** Each of these opens another test, which the rounds after them ask again. */
const WARMUPS = 3;
const NO_RECORDING = 400;

/** A suite that is served. */
export interface ServedSuite {
  /** Milliseconds of a request that has a recording … */
  readonly hit: Candidate;
  /** … and of a request without a recording. */
  readonly miss: Candidate;
  stop(): Promise<unknown>;
}

/** Measures a request to a suite of 10,000 exchanges against one to a suite of 10. */
export const suiteBench: Bench = async (context) => {
  const rounds = sized(context, { full: 41, quick: 2 });
  const [few, many] = [PER_TEST, sized(context, { full: 10_000, quick: 100 })];
  const { reprise } = await makeBinaries(context);
  const [small, large] = [await serveSuite(context, reprise, few), await serveSuite(context, reprise, many)];
  try {
    const how = { rounds, warmups: 3 * WARMUPS };
    // One after the other: what a miss leaves to collect would be paid by the hits after it.
    const times = {
      ...await interleave({ hit: large.hit, smallHit: small.hit }, how),
      ...await interleave({ miss: large.miss, smallMiss: small.miss }, how),
    };
    const name = (what: string) => `${what} in a suite of ${many.toLocaleString("en")} exchanges`;
    return {
      rows: [
        timeRow({
          name: name("hit"),
          against: `in one of ${few}`,
          times: times.hit,
          againstTimes: times.smallHit,
          target: { bound: "at_most", value: 1.2 },
        }),
        timeRow({
          name: name("miss"),
          against: `in one of ${few}`,
          times: times.miss,
          againstTimes: times.smallMiss,
          detail: true,
        }),
      ],
      notes: [
        `${rounds} rounds of ${BATCH} requests with --repeat; ${PER_TEST} exchanges in the recording of each test.`,
      ],
    } satisfies Report;
  } finally {
    await small.stop();
    await large.stop();
  }
};

/** Serves a suite of `exchanges` exchanges; the rounds ask several of its tests. */
export async function serveSuite(
  { workDirectory }: BenchContext,
  reprise: string,
  exchanges: number,
): Promise<ServedSuite> {
  const directory = Deno.makeTempDirSync({ dir: workDirectory, prefix: "suite-" });
  const tests = Math.ceil(exchanges / PER_TEST);
  for (let test = 0; test < tests; test++) {
    const recorded = Array.from({ length: PER_TEST }, (_, index) => ({
      request: { path: PATH, body: JSON.parse(requestBody(index)) },
      body: ANSWER,
    }));
    writeFixture(join(directory, testName(test)), recorded, {}, denoFilesWithoutSync());
  }
  const server = await startReprise(reprise, ["serve", directory, "--repeat"]);
  const measure = (firstPrompt: number, status: number): Candidate => ({
    measure: async (round) => {
      const path = `/t/${testName(Math.floor((round % WARMUPS) * tests / WARMUPS))}${PATH}`;
      const requests = Array.from(
        { length: BATCH },
        (_, index) => postOf(server.origin, path, requestBody(firstPrompt + index % PER_TEST)),
      );
      return await timedAsync(() => sendAll(server.origin, requests, { clients: 1, leastBytes: 1, status })) /
        BATCH;
    },
  });
  return { hit: measure(0, 200), miss: measure(PER_TEST, NO_RECORDING), stop: () => server.stop() };
}

function testName(test: number): string {
  return `test-${String(test).padStart(4, "0")}`;
}
