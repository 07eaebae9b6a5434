/** Requests that `reprise serve` matches by rules, and in a large suite. */
import { writeFixture } from "../tests/doors/recordings/recording_files.ts";
import { makeBinaries } from "./binaries.ts";
import { sendAll } from "./clients.ts";
import { agentExchange, agentRequest, ELSEWHERE, RULED, SERVED_ELSEWHERE } from "./conversation.ts";
import { bench, type Candidate, interleave, sized, timed } from "./report.ts";
import { startReprise } from "./servers.ts";
import { PATH, requestBody, syntheticStream } from "./stream.ts";

/** Exchanges in the recording of each test. */
const PER_TEST = 10;
/** Tests that the rounds ask; the first request opens each. */
const TESTS = 3;

export const match = bench({
  rules: { what: "a conversation of 100 requests, by rules", against: "of the same meaning", target: 3 },
  suite: { what: "request to a suite of 10,000 exchanges", against: "to one of 10", target: 1.2 },
}, async (context) => {
  const { work } = context;
  const { reprise } = await makeBinaries(context);
  const turns = sized(context, 100, 10);
  const rounds = sized(context, 5, 2);
  // Each exchange is played once, so each round has its own.
  const count = (rounds + 1) * turns;
  const exchangeOf = (index: number) => agentExchange(String(Math.floor(index / turns)), index % turns);
  const exchanges = Array.from({ length: count }, (_, index) => exchangeOf(index));
  await using plain = await startReprise(reprise, "serve", writeFixture(`${work}/plain`, exchanges));
  const withRules = writeFixture(`${work}/ruled`, exchanges, RULED);
  await using ruled = await startReprise(reprise, "serve", withRules, ...SERVED_ELSEWHERE);
  const conversation = (origin: string, at?: typeof ELSEWHERE): Candidate<number> => (round) => {
    const requests = Array.from({ length: turns }, (_, turn) => agentRequest(String(round), turn, at));
    const other = at === undefined ? { prompt_cache_key: "another" } : {};
    const bodies = requests.map((body) => JSON.stringify({ ...body, ...other }));
    return timed(() => sendAll(origin, { bodies, clients: 1 }));
  };
  const own = conversation(ruled.origin, ELSEWHERE);
  const rules = await interleave({ own, other: conversation(plain.origin) }, { rounds });

  const tests = sized(context, 1000, 5);
  await using large = await startReprise(reprise, "serve", writeSuite(`${work}/large`, tests), "--repeat");
  await using small = await startReprise(reprise, "serve", writeSuite(`${work}/small`, 1), "--repeat");
  const bodies = Array.from({ length: 4 * PER_TEST }, (_, index) => requestBody(index % PER_TEST));
  const asking = (origin: string, tests: number): Candidate<number> => (round) => {
    const path = `/t/test-${Math.floor((round % TESTS) * tests / TESTS)}${PATH}`;
    return timed(() => sendAll(origin, { bodies, clients: 1, path }));
  };
  const suite = await interleave({ own: asking(large.origin, tests), other: asking(small.origin, 1) }, {
    rounds: sized(context, 41, 2),
    warmups: 3 * TESTS,
  });
  return { rules, suite };
});

/** Writes a suite with `tests` recordings. */
function writeSuite(directory: string, tests: number): string {
  const body = syntheticStream(20);
  const requests = Array.from({ length: PER_TEST }, (_, index) => JSON.parse(requestBody(index)));
  const exchanges = requests.map((request) => ({ request: { body: request }, body }));
  for (let test = 0; test < tests; test++) {
    writeFixture(`${directory}/test-${test}`, exchanges);
  }
  return directory;
}
