/** `reprise record`: flags and declaration. */
import { RepriseError } from "../../domain/errors.ts";
import {
  again,
  choice,
  type FlagsOf,
  list,
  requiredText,
  text,
  toggle,
  value,
  verb,
  WRAPPED_COMMAND,
} from "../declare.ts";
import { COMMON_FLAGS, DRY_RUN, MATCH_RULE_FLAGS, REQUEST_FLAGS } from "../flags.ts";
import { RUN_FLAGS } from "../run/command.ts";
import { EVENTS, FAULT, HOST, PORT, PORT_FILE, SUITE, VERBOSE } from "../serve/command.ts";

const RECORD_FLAGS = {
  ...COMMON_FLAGS,
  out: requiredText(
    "-o, --out <dir>",
    "the folder to write: new or empty; with --append or --missing also a fixture, or a folder with one for each test",
  ),
  append: toggle("--append", "add to an existing fixture", { conflicts: ["missing", "mode"] }),
  missing: toggle("--missing", "play recorded answers, and record all other requests (as --mode missing)", {
    conflicts: ["mode"],
  }),
  mode: choice(
    "--mode <mode>",
    "new: record what has no recording yet, and play the rest; missing: also add requests that a recording lacks; all: " +
      "record everything again, and replace the old recording if the command succeeds; prune: send nothing, and remove " +
      "unused exchanges if the command succeeds",
    ["new", "missing", "all", "prune"],
  ),
  allowLive: toggle(
    "--allow-live",
    "with --missing or --mode: send requests without a recording to the API, also under CI=true",
    { sources: [{ variable: "REPRISE_ALLOW_LIVE" }] },
  ),
  upstream: value(
    "--upstream <url>",
    "record only this API, such as https://api.openai.com, for clients of OpenAI, or with -p anthropic of Anthropic " +
      "(default with -- CMD: the base URLs in the environment)",
    oneUpstream,
  ),
  env: list(
    "--env <name=url>",
    "one more API to record: the variable that clients read, and the base URL of the API; repeatable",
  ),
  port: PORT,
  portFile: PORT_FILE,
  host: HOST,
  token: text("--token <token>", "the key that clients must send; the real key goes to its own API only"),
  provider: again(
    { ...REQUEST_FLAGS.provider, sources: [] },
    "the API provider (default: detected from the traffic)",
  ),
  keepErrors: toggle(
    "--keep-errors",
    "with --missing or --mode: also keep answers with a status of 400 or more",
  ),
  keepCut: toggle("--keep-cut", "also keep streams that were cut before their last event, and mark them"),
  notSecret: again(RUN_FLAGS.notSecret, "a variable whose value is not secret, whatever its name"),
  ...MATCH_RULE_FLAGS,
  fault: again(
    FAULT,
    'break answers for the client, such as "fail, ok"; the recording keeps them whole (reprise help faults)',
  ),
  suite: SUITE,
  events: EVENTS,
  verbose: VERBOSE,
  dryRun: again(DRY_RUN, "print what would be done; do nothing"),
};
export type RecordFlags = FlagsOf<typeof RECORD_FLAGS>;

export const RECORD_VERB = verb({
  name: "record",
  about: "record API traffic through a proxy; with -- CMD, while CMD runs",
  usage: "[options] [-- CMD…]",
  arguments: [WRAPPED_COMMAND],
  flags: RECORD_FLAGS,
  groups: {
    "What to record, and where": ["out", "missing", "mode", "append", "upstream", "env", "provider"],
    "What may differ later": ["normalize", "ignore", "replace", "context", "notSecret"],
    "What to keep and send": ["allowLive", "keepErrors", "keepCut", "fault"],
    "Output": ["verbose", "events", "dryRun"],
    "Server": ["port", "portFile", "host", "token", "suite"],
  },
  examples: [
    "reprise record --out fixtures/chat -- npm test",
    "reprise record --upstream https://api.openai.com --out fixtures/chat --port 8080",
  ],
  load: async () => (await import("../record/record.ts")).recordVerb,
});

/** Refuses a second `--upstream`: a recording has one, and the parser would take the last in silence. */
function oneUpstream(url: string, before: string | undefined): string {
  if (before === undefined) return url;
  throw new RepriseError("usage", "Cannot record: --upstream is given twice", {
    hint: "Record each API with a recorder and a folder of its own",
  });
}
