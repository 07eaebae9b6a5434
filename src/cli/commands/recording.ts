/**
 * The verbs about recorded traffic: record it, and play it back.
 *
 * @module
 */
import { Option } from "@commander-js/extra-typings";
import { ReprError } from "../../domain/errors.ts";
import { PROVIDER_KINDS } from "../../domain/fingerprint.ts";
import { type AddVerb, collect, days, example, type Finish, flag, tcpPort, wholeNumber } from "../flags.ts";

/** The verbs that can run a command; what stands behind their first `--` is that command. */
const WRAPPING: readonly (string | undefined)[] = ["record", "serve"];

/**
 * Parts the words of the command line from those of a command that a verb is to run.
 *
 * @throws {ReprError} `usage` where `--` is the last word: without a command the verb would listen for good.
 */
export function splitCommand(
  args: readonly string[],
): { readonly own: readonly string[]; readonly command: readonly string[] } {
  const cut = WRAPPING.includes(args[0]) ? args.indexOf("--") : -1;
  if (cut !== -1 && cut === args.length - 1) {
    throw new ReprError("usage", `Cannot run a command for ${args[0]}: none stands behind --`, {
      hint: "Is a variable empty that was to name it? Leave -- out to serve or record until SIGTERM",
    });
  }
  return cut === -1 ? { own: args, command: [] } : { own: args.slice(0, cut), command: args.slice(cut + 1) };
}

/** Adds them; `command` is what stood behind `--`. */
export function addRecordingVerbs(verb: AddVerb, finish: Finish, command: readonly string[]): void {
  const record = verb("record", "a recording proxy in front of an API; with -- CMD, while CMD runs")
    .usage("[options] [-- CMD…]")
    .requiredOption("--out <dir>", "the fixture to write: a folder that is new or empty")
    .option(
      "--upstream <url>",
      "the API that requests go to, without the path that clients add (with -- CMD: what the base URL variables say)",
      oneUpstream,
    )
    .option(
      "--port <n>",
      "the port on 127.0.0.1 (default: any free one); with -- CMD, of OPENAI_BASE_URL",
      tcpPort,
    )
    .option("--port-file <file>", "write the port there once it listens")
    .addOption(
      new Option("-p, --provider <provider>", "whose API it is (default: seen from the traffic)")
        .choices(PROVIDER_KINDS),
    )
    .addOption(flag("--keep-cut", "keep streams without their terminal event too, marked so"));
  // Apart from the chain, whose type would take long to infer.
  record.option(
    "--not-secret <name>",
    "a variable whose value is no secret, whatever its name says",
    collect,
  );
  record.option("--events <file>", "write JSON Lines there; with -- CMD, where stdout is the command's")
    .addOption(flag("--dry-run", "say what would be done; do nothing"))
    .addHelpText(
      "after",
      example(
        "reprise record --out fixtures/chat -- npm test",
        "reprise record --upstream https://api.openai.com --out fixtures/chat --port 8080",
      ),
    )
    .action(async (flags) => finish(await (await import("../verbs/record.ts")).recordVerb(command, flags)));

  const serve = verb(
    "serve",
    "play fixtures back as the API, and check requests by its rules; with -- CMD, while CMD runs",
  )
    .usage("[options] <dirs...> [-- CMD…]")
    .argument("<dirs...>", "fixture folders")
    .option("--port <n>", "the port (default: any free one); with -- CMD, of OPENAI_BASE_URL", tcpPort)
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
    .addOption(
      flag("--allow-unused", "let -- CMD ask nothing (default: exit code 7)").conflicts("strictUsage"),
    )
    .option("--max-age <days>", "refuse fixtures that were recorded longer ago", days);
  // Apart from the chain, whose type would take long to infer.
  serve.option(
    "--fault <line>",
    'break answers: "fail, ok", "2: cut after 3 events" (docs/faults.md)',
    collect,
  );
  serve.option("--events <file>", "write JSON Lines there; with -- CMD, where stdout is the command's")
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

  addTestVerb(verb, finish);
}

/** A fixture is of one API, and the last of two would be taken without a word. */
function oneUpstream(url: string, before: string | undefined): string {
  if (before === undefined) return url;
  throw new ReprError("usage", "Cannot record: --upstream is given twice", {
    hint: "Record each API with a recorder and a folder of its own",
  });
}

function addTestVerb(verb: AddVerb, finish: Finish): void {
  verb("test", "play recorded sessions again, and compare requests and turn files with what is kept")
    .argument("<dirs...>", "folders with a session.json, or folders that hold such")
    .addOption(flag("--update", "rewrite requests and expect/ to what the sessions are now"))
    .addOption(
      new Option("--reporter <reporter>", "how results are printed (default: tap; with --json: json)")
        .choices(["tap", "junit", "json"]),
    )
    .addOption(flag("--bail", "end with the first test that fails"))
    .option(
      "--jobs <n>",
      "how many are played at a time (default: one a processor, at most 8)",
      wholeNumber(1),
    )
    .addHelpText("after", example("reprise test tests/sessions", "reprise test tests/sessions/fork --update"))
    .action(async (dirs, flags) => finish(await (await import("../verbs/test.ts")).testVerb(dirs, flags)));
}
