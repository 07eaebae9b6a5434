/**
 * `reprise serve` with its checks on, under sixteen clients that each ask for a stream of 300 events, against a server
 * of the same runtime that only sends the same bytes, and against aimock.
 *
 * @module
 */
import { join } from "node:path";
import { writeFixture } from "../tests/support/fixture.ts";
import { type Aimock, installAimock } from "./aimock.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { bareServer, makeBinaries } from "./binaries.ts";
import { requestBody } from "./client_request.ts";
import { postOf, sendAll } from "./clients.ts";
import { type Measured, type Report, type Row, type SkippedRow, speedRow } from "./report.ts";
import { type RunningServer, startBare, startReprise } from "./servers.ts";
import { syntheticStream } from "./stream.ts";
import { type Candidate, interleave, timedAsync } from "./timing.ts";

const CLIENTS = 16;
const EVENTS = 300;
/** The first thousands of requests compile the code of a server. */
const WARMUPS = 3;
const PATH = "/v1/responses";

/** Measures throughput; each exchange of the fixture is requested once, as each is played once. */
export const serveBench: Bench = async (context) => {
  const perRound = sized(context, { full: 240, quick: 48 });
  const rounds = sized(context, { full: 7, quick: 2 });
  const stream = syntheticStream(EVENTS);
  const bodies = Array.from({ length: perRound * (rounds + WARMUPS) }, (_, index) => requestBody(index));
  const fixture = writeFixture(
    join(context.workDirectory, "serve"),
    bodies.map((body) => ({ request: { path: PATH, body: JSON.parse(body) }, body: stream })),
  );
  const { reprise } = await makeBinaries(context);
  const bare = await bareServer(context);
  const body = join(fixture, "exchanges", "0001", "body");
  const servers: RunningServer[] = [];
  const started = async (server: Promise<RunningServer>) => {
    servers.push(await server);
    return await server;
  };
  try {
    const aimock = await installAimock(context);
    const candidate = (server: RunningServer, leastBytes: number): Candidate => ({
      measure: (round) => {
        const asked = bodies.slice(round * perRound, (round + 1) * perRound)
          .map((body) => postOf(server.origin, PATH, body));
        return timedAsync(() => sendAll(server.origin, asked, { clients: CLIENTS, leastBytes }));
      },
    });
    const times = await interleave({
      own: candidate(await started(startReprise(reprise, ["serve", fixture])), stream.length),
      whole: candidate(await started(startBare(bare, body, "whole")), stream.length),
      events: candidate(await started(startBare(bare, body, "events")), stream.length),
      aimock: typeof aimock === "string"
        ? null
        : candidate(await started(startAimock(context, aimock)), stream.length / 2),
    }, { rounds, warmups: WARMUPS });
    return {
      rows: rowsOf(times, typeof aimock === "string" ? aimock : null),
      notes: [
        `${rounds} rounds of ${perRound} requests by ${CLIENTS} clients; a stream of ${EVENTS} events and ` +
        `${stream.length.toLocaleString("en")} bytes.`,
      ],
    } satisfies Report;
  } finally {
    for (const server of servers) await server.stop();
  }
};

function rowsOf(
  times: Readonly<Record<"own" | "whole" | "events" | "aimock", readonly number[]>>,
  withoutAimock: string | null,
): (Row | SkippedRow)[] {
  const own = { name: "serve", times: times.own };
  const against = (row: Omit<Measured, "name" | "times">) => speedRow({ ...own, ...row });
  return [
    against({
      against: "Deno.serve, the body in one piece, speed",
      againstTimes: times.whole,
      target: { bound: "at_least", value: 0.6 },
    }),
    against({
      against: "Deno.serve, one event at a time, speed",
      againstTimes: times.events,
      detail: true,
    }),
    withoutAimock === null
      ? against({
        against: "aimock, speed",
        againstTimes: times.aimock,
        target: { bound: "at_least", value: 5 },
      })
      : { name: "serve against aimock", skipped: withoutAimock },
  ];
}

/** aimock with an answer of its own making, cut so that it sends about as many events. */
function startAimock({ workDirectory }: BenchContext, aimock: Aimock): Promise<RunningServer> {
  const fixtures = join(workDirectory, "serve-aimock");
  Deno.mkdirSync(fixtures, { recursive: true });
  const deltas = EVENTS - 9;
  const content = "total ".repeat(deltas);
  Deno.writeTextFileSync(
    join(fixtures, "go.json"),
    JSON.stringify({ fixtures: [{ match: { userMessage: "Go" }, response: { content } }] }),
  );
  return aimock.start(["-f", fixtures, "-c", "6"]);
}
