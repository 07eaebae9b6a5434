/**
 * The verbs that look at sessions and at the environment; they change nothing.
 *
 * @module
 */
import {
  type AddVerb,
  collect,
  example,
  type Finish,
  flag,
  requestOptions,
  sessionArgument,
  wholeNumber,
} from "../flags.ts";

/** Adds them. */
export function addLookingVerbs(verb: AddVerb, finish: Finish): void {
  verb("ls", "list sessions, newest first")
    .addOption(flag("--tree", "forks under the sessions that they were forked from"))
    .option("--since <when>", "only sessions touched since: a date, or an age such as 12h or 7d")
    .option("--limit <n>", "at most so many", wholeNumber(1))
    .addHelpText("after", example("reprise ls --since 7d --json", "reprise ls --tree"))
    .action(async (flags) => finish((await import("../verbs/ls.ts")).lsVerb(flags)));

  verb("show", "print a session as a transcript")
    .addArgument(sessionArgument())
    .addOption(flag("--turns", "one line for each turn").conflicts(["events", "raw"]))
    .addOption(flag("--events", "one line for each event").conflicts(["turns", "raw"]))
    .option("--raw <n>", "the file of turn N, byte for byte", wholeNumber(1))
    .addHelpText("after", example("reprise show @last", "reprise show fix-ci-7k2m --raw 2"))
    .action(async (id, flags) => finish((await import("../verbs/show.ts")).showVerb(id, flags)));

  requestOptions(verb("input", "print the exact request body that the next run would send"))
    .addArgument(sessionArgument())
    .option("--prompt <text>", "what the user would say next")
    .option("--allow <list>", "as for run: decides which tools are offered", collect)
    .option("--deny <list>", "as for run", collect)
    .addOption(flag("--ask", "as for run"))
    .option("--instructions <text>", "system text, or @FILE")
    .option("--output-schema <file>", "a JSON schema for the answer; the API alone enforces it")
    .addHelpText("after", example("reprise input @last | jq '.input | length'"))
    .action(async (id, flags) => finish((await import("../verbs/input.ts")).inputVerb(id, flags)));

  requestOptions(verb("explain", "say for each reasoning item whether it goes back, and why"))
    .addArgument(sessionArgument())
    .addHelpText("after", example("reprise explain @last --model gpt-5.6"))
    .action(async (id, flags) => finish((await import("../verbs/explain.ts")).explainVerb(id, flags)));

  verb("verify", "fold every recorded request again and compare it with what was sent")
    .argument("[id]", "session id, unambiguous prefix, or @last")
    .addOption(flag("--all", "verify every session"))
    .addHelpText("after", example("reprise verify @last", "reprise verify --all --json"))
    .action(async (id, flags) => finish((await import("../verbs/verify.ts")).verifyVerb(id, flags)));

  requestOptions(verb("doctor", "show the environment, and where each setting comes from"))
    .addOption(flag("--live", "send one tiny request to the API"))
    .addHelpText("after", example("reprise doctor --json"))
    .action(async (flags) => finish(await (await import("../verbs/doctor.ts")).doctorVerb(flags)));
}
