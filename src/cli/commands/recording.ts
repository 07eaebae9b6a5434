/**
 * The verbs about recorded traffic: record it, play it back, and tend fixtures.
 *
 * @module
 */
import { type Command, Option } from "@commander-js/extra-typings";
import { PROVIDER_KINDS } from "../../domain/fingerprint.ts";
import { type AddVerb, days, example, type Finish, flag, tcpPort, verbAdder } from "../flags.ts";

/** The verbs that can run a command; what stands behind their first `--` is that command. */
const WRAPPING: readonly (string | undefined)[] = ["record", "serve"];

/** Parts the words of the command line from those of a command that a verb is to run. */
export function splitCommand(
  args: readonly string[],
): { readonly own: readonly string[]; readonly command: readonly string[] } {
  const cut = WRAPPING.includes(args[0]) ? args.indexOf("--") : -1;
  return cut === -1 ? { own: args, command: [] } : { own: args.slice(0, cut), command: args.slice(cut + 1) };
}

/** Adds them; `command` is what stood behind `--`. */
export function addRecordingVerbs(
  verb: AddVerb,
  finish: Finish,
  { fixture, command }: { readonly fixture: Command; readonly command: readonly string[] },
): void {
  verb("record", "a recording proxy in front of an API; with -- CMD, while CMD runs")
    .usage("[options] [-- CMD…]")
    .requiredOption("--out <dir>", "the fixture to write: a folder that is new or empty")
    .option(
      "--upstream <url>",
      "the API that requests go to, without the path that clients add (with -- CMD: what the base URL variables say)",
    )
    .option("--port <n>", "the port on 127.0.0.1 (default: any free one)", tcpPort)
    .option("--port-file <file>", "write the port there once it listens")
    .addOption(
      new Option("-p, --provider <provider>", "whose API it is (default: seen from the traffic)")
        .choices(PROVIDER_KINDS),
    )
    .addOption(flag("--keep-cut", "keep streams without their terminal event too, marked so"))
    .option("--events <file>", "write JSON Lines there; with -- CMD, where stdout is the command's")
    .addOption(flag("--dry-run", "say what would be done; do nothing"))
    .addHelpText(
      "after",
      example(
        "reprise record --out fixtures/chat -- npm test",
        "reprise record --upstream https://api.openai.com --out fixtures/chat --port 8080",
      ),
    )
    .action(async (flags) => finish(await (await import("../verbs/record.ts")).recordVerb(command, flags)));

  verb("serve", "play fixtures back as the API, and check requests by its rules; with -- CMD, while CMD runs")
    .usage("[options] <dirs...> [-- CMD…]")
    .argument("<dirs...>", "fixture folders")
    .option("--port <n>", "the port (default: any free one)", tcpPort)
    .option("--port-file <file>", "write the port there once it listens")
    .option("--host <addr>", "the address to listen on (default: 127.0.0.1); needs --token")
    .option("--token <token>", "the key that clients must send")
    .addOption(
      new Option("--rules <rules>", "whose rules requests are checked by (default: the fixture's provider's)")
        .choices(["openai", "azure", "anthropic", "none"]),
    )
    .addOption(
      new Option("--match <how>", "how a request finds its exchange (default: semantic)")
        .choices(["exact", "semantic", "sequence"]),
    )
    .option("--pace <pace>", "fast, real, or a factor of the recorded speed (default: fast)")
    .addOption(flag("--strict-usage", "end with exit code 7 when an exchange was not asked for"))
    .option("--max-age <days>", "refuse fixtures that were recorded longer ago", days)
    .option("--events <file>", "write JSON Lines there; with -- CMD, where stdout is the command's")
    .addHelpText(
      "after",
      example(
        "reprise serve fixtures/chat -- npm test",
        "reprise serve fixtures/* --port 8080 --strict-usage",
      ),
    )
    .action(async (dirs, flags) =>
      finish(await (await import("../verbs/serve.ts")).serveVerb(dirs, command, flags))
    );

  const tend = verbAdder(fixture);
  tend("import", "make a fixture from a VCR cassette, a .chunks.txt, a recorded body, or an aimock file")
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

  tend("seal", "take a fixture's files as they are now, after an edit by hand")
    .argument("<dir>", "the fixture")
    .addOption(flag("--dry-run", "say what has changed; write nothing"))
    .addHelpText("after", example("reprise fixture seal fixtures/chat"))
    .action(async (dir, flags) =>
      finish((await import("../verbs/fixture/seal.ts")).fixtureSealVerb(dir, flags))
    );
}
