/**
 * Measures a call from the shell: the binary against an empty one of the same runtime.
 *
 * @module
 */
import { type Bench, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { preparePlayedRuns, RUN_EVENTS, RUN_SESSION_TURNS } from "./played_run.ts";
import { hasProgram, syncDisk, timeProgram } from "./programs.ts";
import { type Report, type Row, timeRow } from "./report.ts";
import { ID, makeSession } from "./session.ts";
import { type Candidate, interleave, spread } from "./timing.ts";

const SMALL_SESSION_TURNS = 10;
const WARMUPS = 2;
const EMPTY = "an empty binary";
const COLD_ROUNDS = 11;

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
  syncDisk();
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
  const cold = await coldRows({ reprise, empty }, { rounds: Math.min(rounds, COLD_ROUNDS), env });
  return {
    rows: [
      row("reprise --version", "version", 1.1),
      row("reprise --help", "help", 1.1),
      row("reprise ls, one session", "ls", 1.4),
      row(`reprise show, ${SMALL_SESSION_TURNS} turns`, "show", 1.4),
      row(`reprise run, ${RUN_SESSION_TURNS} turns before it, ${RUN_EVENTS} events played`, "run", 2.6),
      ...cold,
    ],
    notes: notes(rounds),
  } satisfies Report;
};

/**
 * The first call after the executable has left the cache of the system, which another program or a restart may cause.
 * The reference starts cold too.
 */
async function coldRows(
  { reprise, empty }: { readonly reprise: string; readonly empty: string },
  { rounds, env }: { readonly rounds: number; readonly env: Readonly<Record<string, string>> },
): Promise<Row[]> {
  if (Deno.build.os !== "linux" || !hasProgram("dd")) return [];
  const cold = (program: string, ...args: readonly string[]): Candidate => ({
    measure: () => {
      // GNU dd asks the system to drop the pages of its input.
      timeProgram({ program: "dd", args: [`if=${program}`, "iflag=nocache", "count=0", "status=none"] });
      return timeProgram({ program, args, env });
    },
  });
  const times = await interleave({
    empty: cold(empty),
    version: cold(reprise, "--version"),
    ls: cold(reprise, "ls"),
  }, { rounds, warmups: 1 });
  const row = (name: string, candidate: "version" | "ls") =>
    timeRow({
      name: `${name}, not in the cache`,
      against: `${EMPTY} that is not there either`,
      times: times[candidate],
      againstTimes: times.empty,
      detail: true,
    });
  return [row("reprise --version", "version"), row("reprise ls", "ls")];
}

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
