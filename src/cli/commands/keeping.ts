/**
 * The verbs that keep sessions: mend, move and remove them.
 *
 * @module
 */
import {
  type AddVerb,
  days,
  example,
  type Finish,
  flag,
  seconds,
  sessionArgument,
  wholeNumber,
} from "../flags.ts";

/** Adds them. */
export function addKeepingVerbs(verb: AddVerb, finish: Finish): void {
  verb("repair", "mend what fsck finds; what is replaced is kept in quarantine/")
    .addArgument(sessionArgument())
    .addOption(flag("--lift-quarantine", "instead, send refused reasoning items again"))
    .option("--wait <seconds>", "how long to wait for a session that another process writes", seconds, 0)
    .addOption(flag("--dry-run", "say what would be done; change nothing"))
    .addHelpText("after", example("reprise repair fix-ci-7k2m --dry-run", "reprise repair fix-ci-7k2m"))
    .action(async (id, flags) => finish(await (await import("../verbs/repair.ts")).repairVerb(id, flags)));

  verb("fsck", "check a session's files; read-only")
    .argument("[id]", "session id, unambiguous prefix, or @last")
    .addOption(flag("--all", "check every session"))
    .addHelpText("after", example("reprise fsck --all"))
    .action(async (id, flags) => finish(await (await import("../verbs/fsck.ts")).fsckVerb(id, flags)));

  verb("export", "write a session to one file that vouches for itself")
    .addArgument(sessionArgument())
    .argument("[file]", 'where to; "-" or none is stdout')
    .addOption(
      flag("--redact", "strip keys, tokens and passwords from texts, and the secrets of the environment"),
    )
    .addOption(flag("--dry-run", "say what would be written; write nothing"))
    .addHelpText(
      "after",
      example(
        "reprise export fix-ci-7k2m fix-ci.jsonl",
        "reprise export @last --redact | gzip > last.jsonl.gz",
      ),
    )
    .action(async (id, file, flags) =>
      finish(await (await import("../verbs/export.ts")).exportVerb(id, file, flags))
    );

  verb("import", "restore a session from an export; never overwrites one")
    .argument("<file>", 'the export; "-" reads stdin')
    .addOption(flag("--dry-run", "check the whole file; change nothing"))
    .addHelpText("after", example("reprise import fix-ci.jsonl"))
    .action(async (file, flags) =>
      finish(await (await import("../verbs/import.ts")).importVerb(file, flags))
    );

  verb("rm", "delete a session; its forks stay whole")
    .addArgument(sessionArgument())
    .addOption(flag("--yes", "do not ask"))
    .addOption(flag("--dry-run", "say what would be deleted; delete nothing"))
    .addHelpText("after", example("reprise rm fix-ci-7k2m --yes"))
    .action(async (id, flags) => finish(await (await import("../verbs/rm.ts")).rmVerb(id, flags)));

  verb("prune", "delete sessions by age, number or size")
    .option("--older-than <days>", "those that were last written to longer ago", days)
    .option("--keep <n>", "all but the N newest", wholeNumber(0))
    .option("--max-size <bytes>", "the oldest, until the rest has at most so many bytes", wholeNumber(0))
    .addOption(flag("--yes", "do not ask"))
    .addOption(flag("--dry-run", "say what would be deleted; delete nothing"))
    .addHelpText("after", example("reprise prune --older-than 90 --dry-run"))
    .action(async (flags) => finish(await (await import("../verbs/prune.ts")).pruneVerb(flags)));

  verb("gc", "remove blobs that no turn names, and what killed processes left")
    .addOption(flag("--dry-run", "say what would be removed; remove nothing"))
    .addHelpText("after", example("reprise gc --dry-run"))
    .action(async (flags) => finish(await (await import("../verbs/gc.ts")).gcVerb(flags)));
}
