/**
 * Finding sessions in a large home: `ls` against `ls -R`, `search` against `grep -r`, on the same files.
 *
 * @module
 */
import { type Bench, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { hasProgram, syncDisk, timeProgram } from "./programs.ts";
import { type Report, timeRow } from "./report.ts";
import { makeSessions } from "./session.ts";
import { type Candidate, interleave } from "./timing.ts";

const TURNS = 100;
/** A text that no turn has, so that neither side prints. */
const NOWHERE = "a text that no turn of these sessions has";

/** Measures the verbs `ls` and `search` of the binary. */
export const findBench: Bench = async (context) => {
  const sessions = sized(context, { full: 1000, quick: 20 });
  const rounds = sized(context, { full: 11, quick: 3 });
  const count = `${sessions.toLocaleString("en")} sessions of ${TURNS} turns`;
  if (!hasProgram("grep")) {
    return {
      rows: ["ls", "search"].map((verb) => ({ name: `reprise ${verb}, ${count}`, skipped: "no grep" })),
      notes: [],
    };
  }
  const { reprise } = await makeBinaries(context);
  const home = `${context.workDirectory}/find`;
  await makeSessions(home, sessions, TURNS);
  const env = { HOME: context.workDirectory, REPRISE_HOME: home };
  const verb = (...args: readonly string[]): Candidate => ({
    measure: () => timeProgram({ program: reprise, args, env }),
  });
  syncDisk();
  const times = await interleave({
    ls: verb("ls"),
    listing: { measure: () => timeProgram({ program: "ls", args: ["-R", home] }) },
    search: verb("search", NOWHERE),
    // It finds nothing, and so ends with 1.
    grep: {
      measure: () => timeProgram({ program: "sh", args: ["-c", '! grep -riF "$0" "$1"', NOWHERE, home] }),
    },
  }, { rounds, warmups: 1 });
  return {
    rows: [
      timeRow({
        name: `reprise ls, ${count}`,
        against: "the process ls -R",
        times: times.ls,
        againstTimes: times.listing,
        target: { bound: "at_most", value: 3 },
      }),
      timeRow({
        name: `reprise search, ${count}`,
        against: "the process grep -riF",
        times: times.search,
        againstTimes: times.grep,
        target: { bound: "at_most", value: 3 },
      }),
    ],
    notes: [`${rounds} rounds; 2 KB a turn, files in the cache; both sides look for a text that is nowhere.`],
  } satisfies Report;
};
