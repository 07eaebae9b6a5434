/** Finding sessions in a large home, against programs that list and read the same files; and reading a long session. */
import { makeBinaries } from "./binaries.ts";
import { meterOf, pairOf } from "./programs.ts";
import { bench, interleave, type Pair, sized } from "./report.ts";
import { ID, makeSession, makeSessions } from "./session.ts";

const NOWHERE = "a text that no turn of these sessions has";
/** Verbs that read a whole session. */
const READING = {
  show: ["show", ID],
  exported: ["export", ID, "-"],
  compacted: ["compact", ID, "--dry-run"],
  searched: ["search", NOWHERE],
};
const [longer, tenth] = ["100,000 turns", "10,000, ten times"];

export const find = bench({
  ls: { what: "ls, 1,000 sessions of 100 turns", against: "ls -R", target: 3 },
  search: { what: "search in them, a text that is nowhere", against: "grep -riF", target: 3 },
  growth: { what: "ls, 1,000 sessions", against: "100 sessions" },
  show: { what: `show of ${longer}`, against: tenth, target: 1.5 },
  exported: { what: `export of ${longer}`, against: tenth, target: 1.5 },
  compacted: { what: `compact --dry-run of ${longer}`, against: tenth, target: 1.5 },
  searched: { what: `search in ${longer}`, against: tenth, target: 1.5 },
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
  await makeSession(`${work}/tenth`, sized(context, 10_000, 50));
  await makeSession(`${work}/long`, sized(context, 100_000, 500));
  const readings = { rounds: sized(context, 3, 1), warmups: 0 };
  const lengths: Record<string, Pair> = {};
  for (const [name, args] of Object.entries(READING)) {
    const times = await interleave({ tenth: verb("tenth", ...args), long: verb("long", ...args) }, readings);
    const { own, other } = pairOf("ms", times.long, times.tenth);
    lengths[name] = { own, other: other.map((ms) => 10 * ms) };
  }
  return {
    ls: pairOf("ms", ls, list),
    search: pairOf("ms", search, grep),
    growth: pairOf("ms", ls, few),
    ...lengths as Record<keyof typeof READING, Pair>,
  };
});
