/** Finding sessions in a large home, against programs that list and read the same files. */
import { makeBinaries } from "./binaries.ts";
import { meterOf, pairOf } from "./programs.ts";
import { bench, interleave, sized } from "./report.ts";
import { makeSessions } from "./session.ts";

const NOWHERE = "a text that no turn of these sessions has";

export const find = bench({
  ls: { what: "ls, 1,000 sessions of 100 turns", against: "ls -R", target: 3 },
  search: { what: "search in them, a text that is nowhere", against: "grep -riF", target: 3 },
  growth: { what: "ls, 1,000 sessions", against: "100 sessions" },
}, async (context) => {
  const { work } = context;
  const { reprise } = await makeBinaries(context);
  const turns = sized(context, 100, 5);
  await makeSessions(`${work}/many`, sized(context, 1000, 20), turns);
  await makeSessions(`${work}/few`, sized(context, 100, 2), turns);
  const meter = meterOf(context);
  const verb = (home: string, ...args: string[]) => () =>
    meter({ program: reprise, args, env: { HOME: work, REPRISE_HOME: `${work}/${home}` } });
  const { ls, few, list, search, grep } = await interleave({
    ls: verb("many", "ls"),
    few: verb("few", "ls"),
    list: () => meter({ program: "ls", args: ["-R", `${work}/many`] }),
    search: verb("many", "search", NOWHERE),
    // grep finds nothing, and so ends with 1.
    grep: () => meter({ program: "sh", args: ["-c", '! grep -riF "$0" "$1"', NOWHERE, `${work}/many`] }),
  }, { rounds: sized(context, 11, 2) });
  return { ls: pairOf("ms", ls, list), search: pairOf("ms", search, grep), growth: pairOf("ms", ls, few) };
});
