/**
 * The verbs of `reprise fixture`: look at fixtures, tend them, and make them of other tools' recordings.
 *
 * @module
 */
import { Option } from "@commander-js/extra-typings";
import { PROVIDER_KINDS } from "../../domain/fingerprint.ts";
import { type AddVerb, days, example, type Finish, flag, wholeNumber } from "../flags.ts";

/** Adds them. */
export function addFixtureVerbs(verb: AddVerb, finish: Finish): void {
  verb("ls", "list the fixtures in folders and below")
    .argument("<dirs...>", "folders")
    .addHelpText("after", example("reprise fixture ls fixtures"))
    .action(async (dirs, flags) =>
      finish((await import("../verbs/fixture/ls.ts")).fixtureLsVerb(dirs, flags))
    );

  verb("show", "a timeline of what was asked and answered, event by event")
    .argument("<dir>", "the fixture")
    .option("--exchange <n>", "this exchange alone", wholeNumber(1))
    .addHelpText("after", example("reprise fixture show fixtures/chat --exchange 2"))
    .action(async (dir, flags) =>
      finish((await import("../verbs/fixture/show.ts")).fixtureShowVerb(dir, flags))
    );

  verb("lint", "look for what is wrong: format, sums, secrets, broken rules, missing ends, age")
    .argument("<dirs...>", "fixtures, or folders that hold such")
    .option("--max-age <days>", "an error where a fixture was recorded longer ago", days)
    .addHelpText("after", example("reprise fixture lint fixtures --max-age 180"))
    .action(async (dirs, flags) =>
      finish(await (await import("../verbs/fixture/lint.ts")).fixtureLintVerb(dirs, flags))
    );

  verb("redact", "replace secrets in a fixture that exists, and seal it")
    .argument("<dir>", "the fixture")
    .addOption(flag("--dry-run", "say what would be replaced; write nothing"))
    .addHelpText("after", example("reprise fixture redact fixtures/chat --dry-run"))
    .action(async (dir, flags) =>
      finish(await (await import("../verbs/fixture/redact.ts")).fixtureRedactVerb(dir, flags))
    );

  verb("diff", "compare two recordings of one conversation: identical, benign or breaking")
    .argument("<a>", "the older fixture")
    .argument("[b]", "the newer one; without it two exchanges of the first are compared")
    .option("--exchange <n:m>", "exchange N of the first with M of the second; N alone means both")
    .addHelpText(
      "after",
      example("reprise fixture diff fixtures/chat /tmp/new", "reprise fixture diff a --exchange 1:2"),
    )
    .action(async (a, b, flags) =>
      finish((await import("../verbs/fixture/diff.ts")).fixtureDiffVerb(a, b, flags))
    );

  verb("import", "make a fixture from a VCR cassette, a .chunks.txt, a recorded body, or an aimock file")
    .argument("<file>", "the recording")
    .argument("<dir>", "the fixture to write: a folder that is new or empty")
    .addOption(
      new Option("-p, --provider <provider>", "whose API it was (default: seen from the recording)")
        .choices(PROVIDER_KINDS),
    )
    .addOption(flag("--keep-cut", "keep streams without their terminal event too, marked so"))
    .addOption(flag("--dry-run", "say what would be written; write nothing"))
    .addHelpText("after", example("reprise fixture import tests/cassettes/chat.yaml fixtures/chat"))
    .action(async (file, dir, flags) =>
      finish(await (await import("../verbs/fixture/import.ts")).fixtureImportVerb(file, dir, flags))
    );

  verb("seal", "take a fixture's files as they are now, after an edit by hand")
    .argument("<dir>", "the fixture")
    .addOption(flag("--dry-run", "say what has changed; write nothing"))
    .addHelpText("after", example("reprise fixture seal fixtures/chat"))
    .action(async (dir, flags) =>
      finish((await import("../verbs/fixture/seal.ts")).fixtureSealVerb(dir, flags))
    );
}
