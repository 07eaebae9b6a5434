/**
 * The verbs about recorded traffic: record it, and play it back.
 *
 * @module
 */
import { RULE_SETS } from "../../apis/rule.ts";
import { RepriseError } from "../../domain/errors.ts";
import { MATCH_MODES } from "../../fixture/match/modes.ts";
import {
  again,
  argument,
  choice,
  type FlagsOf,
  list,
  requiredText,
  text,
  toggle,
  value,
  type Verb,
  verb,
  WRAPPED_COMMAND,
} from "../declare.ts";
import {
  COMMON_FLAGS,
  days,
  DRY_RUN,
  MATCH_RULE_FLAGS,
  PAGE_FLAGS,
  REQUEST_FLAGS,
  tcpPort,
  wholeNumber,
} from "../flags.ts";
import { RUN_FLAGS } from "../run/command.ts";

const PORT_FILE = text(
  "--port-file <file>",
  "a new file for the port, written once it listens, removed at the end",
);
const EVENTS = text(
  "--events <file>",
  "write JSON Lines to a file; with -- CMD, stdout belongs to the command",
);

const HOST = text("--host <addr>", "the address to listen on (default: 127.0.0.1); needs --token");

const RECORD_FLAGS = {
  ...COMMON_FLAGS,
  out: requiredText(
    "--out <dir>",
    "the fixture to write: a new or empty folder, or a fixture to add to; or the folder of the fixtures of tests",
  ),
  append: toggle("--append", "add to an existing fixture", { conflicts: ["missing"] }),
  missing: toggle("--missing", "play what is recorded, record the rest"),
  allowLive: toggle("--allow-live", "let --missing send requests to the API under CI=true"),
  upstream: value(
    "--upstream <url>",
    "the API to forward to, without the path that clients add; with -- CMD, the only API to record: " +
      "OpenAI or compatible, or Anthropic with -p anthropic (default with -- CMD: the base URL variables)",
    oneUpstream,
  ),
  env: list(
    "--env <name=url>",
    "a variable that leads clients to an API, and the base URL of that API; repeatable",
  ),
  port: value(
    "--port <n>",
    "the port on 127.0.0.1 (default: any free one); with -- CMD, of OPENAI_BASE_URL",
    tcpPort,
  ),
  portFile: PORT_FILE,
  host: HOST,
  token: text("--token <token>", "the key that clients must send; the real key goes to its own API only"),
  provider: again(
    { ...REQUEST_FLAGS.provider, sources: [] },
    "the API provider (default: detected from the traffic)",
  ),
  keepCut: toggle("--keep-cut", "also keep streams without their terminal event, and mark them"),
  notSecret: again(RUN_FLAGS.notSecret, "a variable whose value is not secret, whatever its name"),
  ...MATCH_RULE_FLAGS,
  events: EVENTS,
  dryRun: again(DRY_RUN, "print what would be done; do nothing"),
};
/** The flags of `record`. */
export type RecordFlags = FlagsOf<typeof RECORD_FLAGS>;

const SERVE_FLAGS = {
  ...COMMON_FLAGS,
  port: again(RECORD_FLAGS.port, "the port (default: any free one); with -- CMD, of OPENAI_BASE_URL"),
  portFile: PORT_FILE,
  host: HOST,
  token: text("--token <token>", "the key that clients must send"),
  rules: choice(
    "--rules <rules>",
    "the API whose rules check requests (default: by provider of the fixture)",
    RULE_SETS,
  ),
  match: choice(
    "--match <mode>",
    "how a request finds its exchange (default: semantic)",
    MATCH_MODES,
  ),
  ...MATCH_RULE_FLAGS,
  strictMatch: toggle("--strict-match", "match without rules, also without those of the fixtures"),
  rewriteContext: toggle(
    "--rewrite-context",
    "put the client's own paths and dates into the calls of answers, for the recorder's",
    { conflicts: ["strictMatch"] },
  ),
  pace: text("--pace <pace>", "fast, real, or a factor of the recorded speed (default: fast)", {
    suggests: ["fast", "real"],
  }),
  failOn: choice("--fail-on <what>", "exit with 7 if tools of --match conversation return other output", [
    "tool-output",
  ]),
  repeat: toggle("--repeat", "play the last exchange of a request again when all of them have been played"),
  strictUsage: toggle("--strict-usage", "exit with 7 if an exchange stays unused"),
  allowUnused: toggle("--allow-unused", "accept that -- CMD sends no request (default: exit code 7)", {
    conflicts: ["strictUsage"],
  }),
  maxAge: value("--max-age <days>", "refuse older fixtures", days),
  fault: list("--fault <line>", 'break answers: "fail, ok", "2: cut after 3 events" (docs/faults.md)'),
  events: EVENTS,
};
/** The flags of `serve`. */
export type ServeFlags = FlagsOf<typeof SERVE_FLAGS>;

const TEST_FLAGS = {
  ...COMMON_FLAGS,
  update: toggle("--update", "rewrite requests and expect/ to match the sessions"),
  reporter: choice(
    "--reporter <reporter>",
    "how results are printed (default: text on a terminal, else tap; with --json: json)",
    ["text", "tap", "junit", "json", "html"],
  ),
  name: text("-k, --name <text>", "play only the tests with this text in their path"),
  bail: toggle("--bail", "stop at the first test that fails"),
  jobs: value(
    "--jobs <n>",
    "play N tests at a time (default: one per processor, at most 8)",
    wholeNumber(1),
  ),
  html: again(PAGE_FLAGS.html, "also write the results as one self-contained HTML page"),
  redact: again(PAGE_FLAGS.redact, "replace secrets in the HTML page, as export --redact does"),
  force: PAGE_FLAGS.force,
};
/** The flags of `test`. */
export type TestFlags = FlagsOf<typeof TEST_FLAGS>;

/** The declarations. */
export const RECORDING_VERBS: readonly Verb[] = [
  verb({
    name: "record",
    about: "record an API's traffic through a proxy; with -- CMD, while CMD runs",
    usage: "[options] [-- CMD…]",
    arguments: [WRAPPED_COMMAND],
    flags: RECORD_FLAGS,
    examples: [
      "reprise record --out fixtures/chat -- npm test",
      "reprise record --upstream https://api.openai.com --out fixtures/chat --port 8080",
    ],
    load: async () => (await import("./record.ts")).recordVerb,
  }),
  verb({
    name: "serve",
    about: "play fixtures back as the API, and check requests by its rules; with -- CMD, while CMD runs",
    usage: "[options] <dirs...> [-- CMD…]",
    arguments: [argument("<dirs...>", "fixtures, or folders with fixtures"), WRAPPED_COMMAND],
    flags: SERVE_FLAGS,
    examples: [
      "reprise serve fixtures/chat -- npm test",
      "reprise serve fixtures/* --port 8080 --strict-usage",
    ],
    load: async () => (await import("./serve.ts")).serveVerb,
  }),
  verb({
    name: "test",
    about: "play recorded sessions again, and compare requests and turn files",
    arguments: [argument("<dirs...>", "folders with a session.json, or their parent folders")],
    flags: TEST_FLAGS,
    examples: [
      "reprise test tests/sessions",
      "reprise test tests/sessions -k fork --update",
      "reprise test tests/sessions --html report.html",
    ],
    load: async () => (await import("../test/test.ts")).testVerb,
  }),
];

/** Refuses a second `--upstream`: a recording has one, and the parser would take the last in silence. */
function oneUpstream(url: string, before: string | undefined): string {
  if (before === undefined) return url;
  throw new RepriseError("usage", "Cannot record: --upstream is given twice", {
    hint: "Record each API with a recorder and a folder of its own",
  });
}
