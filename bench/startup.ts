/**
 * What a call costs from the shell: the binary against an empty one of the same runtime.
 *
 * @module
 */
import { type Bench, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { preparePlayedRuns, RUN_EVENTS, RUN_SESSION_TURNS } from "./played_run.ts";
import { hasProgram, settle, timeProgram } from "./programs.ts";
import { type Report, timeRow } from "./report.ts";
import { ID, makeSession } from "./session.ts";
import { type Candidate, interleave, spread } from "./timing.ts";

const SMALL_SESSION_TURNS = 10;
const WARMUPS = 2;
const EMPTY = "an empty binary";

/** Measures `--version`, `--help`, `ls`, `show` and a whole `run`. */
export const startupBench: Bench = async (context) => {
  const rounds = sized(context, { full: 41, quick: 3 });
  const { reprise, empty } = await makeBinaries(context);
  const directory = `${context.workDirectory}/startup`;
  Deno.mkdirSync(directory);
  const small = await makeSession(`${directory}/small`, SMALL_SESSION_TURNS);
  const playedRun = await preparePlayedRuns(reprise, directory, rounds + WARMUPS);
  const env = { HOME: directory, REPRISE_HOME: small.homePath };
  const verb = (...args: readonly string[]): Candidate => ({
    measure: () => timeProgram({ program: reprise, args, env }),
  });
  settle();
  const times = await interleave({
    empty: { measure: () => timeProgram({ program: empty, args: [], env }) },
    version: verb("--version"),
    help: verb("--help"),
    ls: verb("ls"),
    show: verb("show", ID),
    run: { measure: (round) => timeProgram(playedRun(round)) },
  }, { rounds, warmups: WARMUPS });
  const row = (name: string, candidate: Exclude<keyof typeof times, "empty">, most: number) =>
    timeRow({
      name,
      against: EMPTY,
      times: times[candidate],
      againstTimes: times.empty,
      target: { bound: "at_most", value: most },
    });
  return {
    rows: [
      row("reprise --version", "version", 1.1),
      row("reprise --help", "help", 1.1),
      row("reprise ls, one session", "ls", 1.4),
      row(`reprise show, ${SMALL_SESSION_TURNS} turns`, "show", 1.4),
      row(`reprise run, ${RUN_SESSION_TURNS} turns before it, ${RUN_EVENTS} events played`, "run", 2.6),
    ],
    notes: notes(rounds),
  } satisfies Report;
};

/** Every time holds what it takes to start any process; ratios would be larger without. */
function notes(rounds: number): string[] {
  const start = hasProgram("true")
    ? Array.from({ length: 15 }, () => timeProgram({ program: "true", args: [] }))
    : [];
  const share = start.length === 0 ? [] : [
    `Each time includes the start of a process; starting "true" takes ${spread(start).median.toFixed(1)} ms.`,
  ];
  return [`${rounds} rounds; each run in its own copy of the session.`, ...share];
}
