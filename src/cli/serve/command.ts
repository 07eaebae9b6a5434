/** The verbs about recorded traffic: record it, and play it back. */
import { RULE_SETS } from "../../apis/rule.ts";
import { RepriseError } from "../../domain/errors.ts";
import { MATCH_MODES } from "../../fixture/match/modes.ts";
import {
  again,
  argument,
  choice,
  type FlagsOf,
  list,
  negated,
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
  REQUEST_FLAGS,
  tcpPort,
  wholeNumber,
} from "../flags.ts";
import { RUN_FLAGS } from "../run/command.ts";

const PORT_FILE = text(
  "--port-file <file>",
  "a file for the port: created once the server listens, removed at the end",
);
const EVENTS = text(
  "--events <file>",
  "write events as JSON Lines to a file; with -- CMD, stdout belongs to the command",
);

const SUITE = toggle(
  "--suite",
  "for test runners: read from stdin which test has ended, report it, and end when stdin closes",
  { conflicts: ["port", "portFile", "host", "token"] },
);

const VERBOSE = again(
  RUN_FLAGS.verbose,
  "with -- CMD: print each request at once, between the lines of the command (default: misses, at its end)",
);

const FAULT = list(
  "--fault <line>",
  'break answers on purpose: "fail, ok", "2: cut after 3 events" (reprise help faults)',
);

const HOST = text("--host <addr>", "the address to listen on (default: 127.0.0.1); needs --token");

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
  port: value(
    "--port <n>",
    "the port to listen on (default: any free port); with -- CMD, the port in OPENAI_BASE_URL",
    tcpPort,
  ),
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

const SERVE_FLAGS = {
  ...COMMON_FLAGS,
  port: RECORD_FLAGS.port,
  portFile: PORT_FILE,
  host: HOST,
  token: text("--token <token>", "the key that clients must send"),
  rules: choice(
    "--rules <rules>",
    "check requests by the rules of this API (default: that of the fixture's provider)",
    RULE_SETS,
  ),
  match: choice(
    "--match <mode>",
    "how strictly a request must match (default: semantic)",
    MATCH_MODES,
  ),
  ...MATCH_RULE_FLAGS,
  strictMatch: toggle("--strict-match", "match without rules, also without those of the fixtures"),
  rewriteContext: toggle(
    "--rewrite-context",
    "in tool calls of played answers, replace recorded paths and dates by those of the client",
    { conflicts: ["strictMatch"] },
  ),
  pace: text(
    "--pace <pace>",
    "the speed of answers: fast, real, or a factor of the recorded speed (default: fast)",
    {
      suggests: ["fast", "real"],
    },
  ),
  failOn: choice(
    "--fail-on <what>",
    "with --match conversation: exit with 7 if a tool returns other output than in the recording",
    [
      "tool-output",
    ],
  ),
  repeat: toggle("--repeat", "if all recorded answers to a request were played, play the last one again"),
  strictUsage: toggle("--strict-usage", "exit with 7 if an exchange stays unused"),
  allowUnused: toggle("--allow-unused", "accept that -- CMD sends no request (default: exit code 7)", {
    conflicts: ["strictUsage"],
  }),
  maxAge: value("--max-age <days>", "exit with 7 if a fixture is older", days),
  fault: FAULT,
  afterFault: toggle(
    "--after-fault",
    "answer a client that continues after a fault: without stream, or with the whole items of the broken answer",
  ),
  websocket: negated(
    "--no-websocket",
    "answer WebSocket upgrades with 426, so that clients use HTTP (default: WebSockets for the Responses API)",
  ),
  suite: SUITE,
  events: EVENTS,
  verbose: VERBOSE,
};
export type ServeFlags = FlagsOf<typeof SERVE_FLAGS>;

const TEST_FLAGS = {
  ...COMMON_FLAGS,
  update: toggle("--update", "rewrite requests and expect/ to match the sessions"),
  reporter: choice(
    "--reporter <reporter>",
    "the format of the results (default: text on a terminal, else tap; with --json: json)",
    ["text", "tap", "junit", "json"],
  ),
  name: text("-k, --name <text>", "play only the tests with this text in their path"),
  bail: toggle("--bail", "stop at the first test that fails"),
  jobs: value(
    "--jobs <n>",
    "play N tests at a time (default: one per processor, at most 8)",
    wholeNumber(1),
  ),
};
export type TestFlags = FlagsOf<typeof TEST_FLAGS>;

export const RECORDING_VERBS: readonly Verb[] = [
  verb({
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
    load: async () => (await import("./record.ts")).recordVerb,
  }),
  verb({
    name: "serve",
    about: "play fixtures as the API, and check requests by its rules",
    usage: "[options] <dirs...> [-- CMD…]",
    arguments: [argument("[dirs...]", "fixtures, or folders with fixtures"), WRAPPED_COMMAND],
    flags: SERVE_FLAGS,
    groups: {
      "What fails": ["strictUsage", "allowUnused", "maxAge", "rules", "failOn"],
      "What may differ": [
        "match",
        "normalize",
        "ignore",
        "replace",
        "context",
        "rewriteContext",
        "strictMatch",
      ],
      "How to answer": ["afterFault", "fault", "pace", "repeat", "websocket"],
      "Output": ["verbose", "events"],
      "Server": ["port", "portFile", "host", "token", "suite"],
    },
    examples: [
      "reprise serve fixtures/chat -- npm test",
      "reprise serve fixtures/* --port 8080 --strict-usage",
    ],
    load: async () => (await import("./serve.ts")).serveVerb,
  }),
  verb({
    name: "test",
    about: "play recorded sessions again, and compare requests and files",
    arguments: [argument("<dirs...>", "folders with a session.json, or their parent folders")],
    flags: TEST_FLAGS,
    examples: [
      "reprise test tests/sessions",
      "reprise test tests/sessions -k fork --update",
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
