/** `reprise serve` with its checks on, against a server that only sends the same bytes, and against aimock. */
import { writeFixture } from "../tests/doors/recordings/recording_files.ts";
import { makeBinaries } from "./binaries.ts";
import { sendAll } from "./clients.ts";
import { NOT_INSTALLED, npmPackage } from "./programs.ts";
import { bench, type Candidate, interleave, sized, timed } from "./report.ts";
import { peakMemory, type RunningServer, startReprise, startServer } from "./servers.ts";
import { EVENTS, requestBody, syntheticStream } from "./stream.ts";

const AIMOCK = "@copilotkit/aimock@1.43.0";
const what = "serve, 300 events, 16 clients";
const bareServer = "Deno.serve, the same bytes";
/** The first thousands of requests compile the code of a server. */
const WARMUPS = 3;

export const serve = bench({
  bare: { what, against: `${bareServer}, speed`, kind: "speed", target: 0.6 },
  aimock: { what, against: `${AIMOCK}, speed`, kind: "speed", target: 5 },
  growth: { what: "serve, one recording, 256 clients", against: "16 clients" },
  memory: { what: "memory of serve, one recording, 256 clients", against: bareServer, kind: "memory" },
}, async (context) => {
  const { work } = context;
  const { reprise, bare } = await makeBinaries(context);
  const perRound = sized(context, 256, 32);
  const rounds = sized(context, 7, 2);
  const body = syntheticStream(EVENTS);
  const requests = Array.from({ length: perRound * (rounds + WARMUPS) }, (_, index) => requestBody(index));
  // Each event is a recorded piece.
  const chunks = [...new TextDecoder().decode(body).matchAll(/\n\n(?=.)/g)].map((
    { index },
  ) => [index + 2, 0]);
  const response = { chunks: [[0, 0], ...chunks] };
  const exchanges = requests.map((request) => ({ request: { body: JSON.parse(request) }, response, body }));
  const all = writeFixture(`${work}/all`, exchanges);
  const one = writeFixture(`${work}/one`, exchanges.slice(0, 1));
  await using own = await startReprise(reprise, "serve", all);
  await using again = await startReprise(reprise, "serve", one, "--repeat");
  await using plain = await startServer({ program: bare, args: [`${one}/exchanges/0001/body`] });
  const modules = await npmPackage(context, AIMOCK);
  await using aimock = modules === null ? null : await startAimock(modules, work);
  // Each exchange is played once.
  const asking = ({ origin }: RunningServer): Candidate<number> => (round) => {
    const bodies = requests.slice(round * perRound, (round + 1) * perRound);
    return timed(() => sendAll(origin, { bodies, clients: 16 }));
  };
  const bodies = Array.from({ length: perRound }, () => requestBody(0));
  const repeating = ({ origin }: RunningServer, clients: number) => () =>
    timed(() => sendAll(origin, { bodies, clients }));
  const times = await interleave({
    own: asking(own),
    plain: asking(plain),
    aimock: aimock === null ? () => NaN : asking(aimock),
    few: repeating(again, 16),
    many: repeating(again, 256),
    // For its memory.
    plainMany: repeating(plain, 256),
  }, { rounds, warmups: WARMUPS });
  const megabytes = ({ pid }: RunningServer) => [(peakMemory(pid) ?? NaN) / 1e6];
  return {
    bare: { own: times.own, other: times.plain },
    aimock: aimock === null ? NOT_INSTALLED : { own: times.own, other: times.aimock },
    growth: { own: times.many, other: times.few },
    memory: { own: megabytes(again), other: megabytes(plain) },
  };
});

/** aimock with an answer of its own, cut so that it sends about as many events. */
function startAimock(modules: string, work: string): Promise<RunningServer> {
  const answer = { match: { userMessage: "Go" }, response: { content: "total ".repeat(EVENTS - 9) } };
  Deno.mkdirSync(`${work}/aimock`);
  Deno.writeTextFileSync(`${work}/aimock/go.json`, JSON.stringify({ fixtures: [answer] }));
  const args = [`${modules}/@copilotkit/aimock/dist/cli.js`, "-p", "0", "-f", `${work}/aimock`, "-c", "6"];
  return startServer({ program: "node", args, cwd: modules });
}
