/** Declares `serve`, and the flags that it shares with `record`. */
import { RULE_SETS } from "../../apis/rule.ts";
import { MATCH_MODES } from "../../fixture/match/modes.ts";
import {
  again,
  argument,
  choice,
  type FlagsOf,
  list,
  negated,
  text,
  toggle,
  value,
  verb,
  WRAPPED_COMMAND,
} from "../declare.ts";
import { COMMON_FLAGS, days, MATCH_RULE_FLAGS, tcpPort } from "../flags.ts";
import { RUN_FLAGS } from "../run/command.ts";

export const PORT = value(
  "--port <n>",
  "the port to listen on (default: any free port); with -- CMD, the port in OPENAI_BASE_URL",
  tcpPort,
);
export const PORT_FILE = text(
  "--port-file <file>",
  "a file for the port: created once the server listens, removed at the end",
);
export const EVENTS = text(
  "--events <file>",
  "write events as JSON Lines to a file; with -- CMD, stdout belongs to the command",
);

export const SUITE = toggle(
  "--suite",
  "for test runners: read from stdin which test has ended, report it, and end when stdin closes",
  { conflicts: ["port", "portFile", "host", "token"] },
);

export const VERBOSE = again(
  RUN_FLAGS.verbose,
  "with -- CMD: print each request at once, between the lines of the command (default: misses, at its end)",
);

export const FAULT = list(
  "--fault <line>",
  'break answers on purpose: "fail, ok", "2: cut after 3 events" (reprise help faults)',
);

export const HOST = text("--host <addr>", "the address to listen on (default: 127.0.0.1); needs --token");

const SERVE_FLAGS = {
  ...COMMON_FLAGS,
  port: PORT,
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

export const SERVE_VERB = verb({
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
});
