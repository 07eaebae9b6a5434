/**
 * The longest stall of a server's event loop: small requests of another client, one after the other, while the server
 * works on something large, against their median while it does not.
 */
import { writeFixture } from "../tests/doors/recordings/recording_files.ts";
import { readLongStream, startLongStream } from "../tests/support/long_stream.ts";
import { makeBinaries } from "./binaries.ts";
import { sendAll } from "./clients.ts";
import { agentExchange, agentRequest, ELSEWHERE, RULED, SERVED_ELSEWHERE } from "./conversation.ts";
import { published } from "./record.ts";
import { MODEL } from "./session.ts";
import { bench, median, type Pair, sized, timed } from "./report.ts";
import { startReprise } from "./servers.ts";

const row = { against: "longest request of 1 KB beside it", kind: "added", target: 50 } as const;

export const stall = bench({
  record2: { what: "record keeps an answer of 2 MB", ...row },
  record16: { what: "record keeps an answer of 16 MB", ...row },
  record64: { what: "record keeps an answer of 64 MB", ...row },
  serve: { what: "serve takes a request of 9 MB, by rules", ...row },
  members: { what: "serve takes a request of 90,000 members", ...row },
  manyMembers: { what: "serve takes a request of 900,000 members", ...row },
  first: { what: "serve compares with a recording of 500 MB, first", ...row },
}, async (context) => {
  const { work } = context;
  const { reprise } = await makeBinaries(context);
  const repeated = async (measure: (round: number) => Promise<[number, number]>): Promise<Pair> => {
    const stalls = [];
    for (let round = 0; round < sized(context, 5, 1); round++) stalls.push(await measure(round));
    return { own: stalls.map(([beside]) => beside), other: stalls.map(([, alone]) => alone) };
  };
  const recording = (megabytes: number) =>
    repeated(async (round) => {
      const bytes = megabytes * sized(context, 1e6, 1e5);
      const out = `${work}/${megabytes}-${round}`;
      const args = ["record", "--upstream", upstream.origin, "--out", out];
      await using recorder = await startReprise(reprise, ...args);
      return await stallOf(() => readLongStream(recorder.origin), async () => {
        await readLongStream(recorder.origin, `?bytes=${bytes}`);
        await published(out, bytes);
      });
    });
  // 600 bytes a call.
  const calls = sized(context, 15_000, 200);
  const brief = { input: "Go", user: "x".repeat(1000) };
  const exchanges = [agentExchange("large", calls), { request: { body: brief }, body: "data: {}\n\n" }];
  const fixture = writeFixture(`${work}/fixture`, exchanges, RULED);
  const large = JSON.stringify(agentRequest("large", calls, ELSEWHERE));
  const small = JSON.stringify(brief);
  const serving = (fixture: string, large: string, ...flags: readonly string[]) =>
    repeated(async () => {
      await using server = await startReprise(reprise, "serve", fixture, "--repeat", ...flags);
      const post = (body: string) => () => sendAll(server.origin, { bodies: [body], clients: 1 });
      return await stallOf(post(small), post(large));
    });
  const others = exchanges.slice(1);
  const withMembers = (count: number) => {
    const members = Array.from(
      { length: sized(context, count, 1000) },
      (_, index) => [`member_${index}`, index],
    );
    const body = { model: MODEL, input: "Go", ...Object.fromEntries(members) };
    const fixture = writeFixture(`${work}/members-${count}`, [...others, {
      request: { body },
      body: "data: {}\n\n",
    }]);
    return serving(fixture, JSON.stringify({ ...body, user: "another" }), "--rules", "none");
  };
  const first = () => {
    // 1.1 MB each.
    const each = Array.from(
      { length: sized(context, 450, 2) },
      (_, index) => agentExchange(`p${index}`, 1700),
    );
    const fixture = writeFixture(`${work}/first`, [...others, ...each]);
    return serving(fixture, JSON.stringify({ ...agentRequest("p0", 1700), user: "another" }));
  };
  const upstream = startLongStream(1000);
  try {
    const [record2, record16, record64] = [await recording(2), await recording(16), await recording(64)];
    const [members, manyMembers] = [await withMembers(90_000), await withMembers(900_000)];
    const serve = await serving(fixture, large, ...SERVED_ELSEWHERE);
    return { record2, record16, record64, serve, members, manyMembers, first: await first() };
  } finally {
    await upstream.stop();
  }
});

type Work = () => Promise<unknown>;

/** Milliseconds of the longest small request during `work`, and their median before it. */
async function stallOf(small: Work, work: Work): Promise<[number, number]> {
  const [beside, alone]: [number[], number[]] = [[], []];
  while (alone.length < 50) alone.push(await timed(small));
  let isDone = false;
  const asking = async () => {
    while (!isDone) beside.push(await timed(small));
  };
  await Promise.all([asking(), work().finally(() => isDone = true)]);
  return [Math.max(...beside), median(alone)];
}
