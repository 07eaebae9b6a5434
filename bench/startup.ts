/** Calls from the shell, against an empty binary. */
import { writeFixture } from "../tests/doors/recordings/recording_files.ts";
import { makeBinaries } from "./binaries.ts";
import { meterOf, outputOf, pairOf, type Start } from "./programs.ts";
import { bench, interleave, sized } from "./report.ts";
import { BASE_URL, ID, makeSession, MODEL } from "./session.ts";
import { ANSWERED, EVENTS, syntheticStream } from "./stream.ts";

const against = "an empty binary";
const WARMUPS = 2;

export const startup = bench({
  version: { what: "--version", against, target: 1.1 },
  help: { what: "--help", against, target: 1.1 },
  ls: { what: "ls, one session", against, target: 1.5 },
  show: { what: "show, 10 turns", against, target: 1.5 },
  run: { what: "played run: 100 turns before it, 300 events", against, target: 2.8 },
  memory: { what: "memory of that run", against, kind: "memory" },
}, async (context) => {
  const rounds = sized(context, 41, 2);
  const { work } = context;
  const { reprise, bare } = await makeBinaries(context);
  const { homePath } = await makeSession(`${work}/small`, 10);
  await makeSession(`${work}/home`, 100);
  writeFixture(`${work}/fixture`, [{ body: syntheticStream(EVENTS) }], {
    base_url: BASE_URL,
    models: [MODEL],
  });
  const run = (round: number): Start => ({
    program: reprise,
    args: ["run", "-s", ID, "--fixture", `${work}/fixture`, "--match", "sequence", "What is wrong?"],
    env: { HOME: work, REPRISE_HOME: `${work}/home-${round}` },
    cwd: work,
  });
  // A run appends to its session, so each has a copy.
  for (let round = -1; round < WARMUPS + rounds; round++) {
    outputOf({ program: "cp", args: ["-a", `${work}/home`, `${work}/home-${round}`] });
  }
  const answer = outputOf(run(-1));
  if (!answer.includes(ANSWERED)) throw new Error(`The played run answered ${JSON.stringify(answer)}`);
  const meter = meterOf(context);
  const env = { HOME: work, REPRISE_HOME: homePath };
  const verb = (...args: string[]) => () => meter({ program: reprise, args, env });
  const taken = await interleave({
    empty: () => meter({ program: bare, args: [], env }),
    version: verb("--version"),
    help: verb("--help"),
    ls: verb("ls"),
    show: verb("show", ID),
    run: (round) => meter(run(round)),
  }, { rounds, warmups: WARMUPS });
  return {
    version: pairOf("ms", taken.version, taken.empty),
    help: pairOf("ms", taken.help, taken.empty),
    ls: pairOf("ms", taken.ls, taken.empty),
    show: pairOf("ms", taken.show, taken.empty),
    run: pairOf("ms", taken.run, taken.empty),
    memory: pairOf("mb", taken.run, taken.empty),
  };
});
