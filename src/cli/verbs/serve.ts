/** The verb `serve`: plays fixtures back as the API, and checks requests. */
import { ReprError } from "../../domain/errors.ts";
import { PROVIDER_KINDS } from "../../domain/fingerprint.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { DAY_MS } from "../../domain/time.ts";
import { basePathsOf } from "../../fixture/base_paths.ts";
import { parseFaults } from "../../fixture/fault/plan.ts";
import { recordedOn } from "../../fixture/format.ts";
import { type Fixture, readFixture } from "../../fixture/read.ts";
import { type Pace, parsePace } from "../../fixture/serve/pace.ts";
import { createPlaybook, type Match, type RuleSet } from "../../fixture/serve/playbook.ts";
import { createScrubber } from "../../fixture/secrets/scrubber.ts";
import { type ServeEvent, startReplayServer } from "../../fixture/serve/server.ts";
import { type CommonFlags, makeOutput } from "../context.ts";
import { openEventOutput } from "../event_output.ts";
import { livePorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { writePortFile } from "../port_file.ts";
import { PROVIDER_ACCESS } from "../providers.ts";
import { secretEnvironment } from "../secret_environment.ts";
import { type ServeSummary, ServeView } from "../serve_view.ts";
import { ordinaryEnd } from "../ordinary_end.ts";
import { clientEnvironment, runWrapped } from "../wrapped_command.ts";

/** The flags of `serve`. */
export interface ServeFlags extends CommonFlags {
  readonly port?: number | undefined;
  readonly portFile?: string | undefined;
  readonly host?: string | undefined;
  readonly token?: string | undefined;
  readonly rules?: RuleSet | undefined;
  readonly match?: Match | undefined;
  readonly pace?: string | undefined;
  /** Lines of the language of docs/faults.md. */
  readonly fault?: readonly string[] | undefined;
  readonly strictUsage?: true | undefined;
  /** In days. */
  readonly maxAge?: number | undefined;
  readonly events?: string | undefined;
}

/** What clients that are given no token send as their key. */
const DUMMY_KEY = "reprise-plays-this";

/**
 * Performs `serve`, with a command that runs against the server when `command` is not empty.
 *
 * @returns the command's exit code, or 0; 7 instead of 0 after a miss, a broken rule, a request that was turned away
 * or, with `--strict-usage`, an exchange that nobody asked for or a fault that broke nothing.
 */
export async function serveVerb(
  directories: readonly string[],
  command: readonly string[],
  flags: ServeFlags,
): Promise<number> {
  const output = makeOutput(flags);
  const ports = livePorts();
  const pace = paceOf(flags.pace ?? "fast");
  const faults = flags.fault === undefined ? null : parseFaults(flags.fault.join("\n"));
  requireDistinct(directories, ports);
  const fixtures = directories.map((directory) => readFixture(ports.files, withoutSlash(directory)));
  requireYoung(fixtures, flags.maxAge, ports);
  const { values } = await secretEnvironment();
  const playbook = createPlaybook(fixtures, {
    match: flags.match ?? "semantic",
    rules: flags.rules ?? null,
    scrubber: createScrubber({ values }),
  });
  const wraps = command.length > 0;
  const view = new ServeView(output);
  using events = openEventOutput(output, flags, { wraps });
  let turnedAway = 0;
  const tell = (event: ServeEvent) => {
    if (event.type === "turned_away") turnedAway += 1;
    events.write(event);
    if (!events.onStdout) view.event(event);
  };

  const { port = 0, host, token } = flags;
  using end = wraps ? null : ordinaryEnd();
  const server = startReplayServer({
    playbook,
    pace,
    faults,
    clock: ports.clock,
    port,
    host,
    token,
    onEvent: tell,
  });
  const { paths, elsewhere } = basePathsOf(fixtures);
  const environment = clientEnvironment(server.origin, paths);
  for (const path of elsewhere) {
    output.note(`"${path}" was recorded under another base path: clients that go by the environment miss it`);
  }
  let code: number;
  try {
    using _file = flags.portFile === undefined ? null : writePortFile(flags.portFile, server.port);
    const ready = { type: "ready", port: server.port, origin: server.origin, environment };
    events.write(ready);
    if (!events.onStdout) {
      // Scripts wait for this line whether they asked for the other events or not.
      if (!wraps) output.json(ready);
      view.ready(server.origin, environment, fixtures);
    }
    code = wraps
      ? await runWrapped(command, { ...environment, ...keys(ports, token) })
      : await end?.came ?? 0;
  } finally {
    await server.stop();
  }

  const summary: ServeSummary = {
    ...playbook.summary,
    turned_away: turnedAway,
    unmet_faults: faults?.unmet() ?? [],
  };
  const verdict = verdictOf(summary, flags.strictUsage === true);
  const exitCode = code === 0 && verdict !== null ? 7 : code;
  events.write({
    type: "serve.ended",
    exit_code: exitCode,
    ...(wraps ? { command_exit_code: code } : {}),
    ...summary,
  });
  if (!events.onStdout) {
    view.summary(summary);
    if (verdict !== null) failed(output, verdict);
  }
  return exitCode;
}

function paceOf(text: string): Pace {
  const pace = parsePace(text);
  if (pace !== null) return pace;
  throw new ReprError(
    "usage",
    `Cannot use --pace ${JSON.stringify(text)}: it is neither fast nor real nor a factor`,
    {
      hint: "A factor multiplies the recorded speed: 10 is ten times as fast, 0.5 half as fast",
    },
  );
}

/** Each exchange is played once: of a folder that is named twice all would be played twice. */
function requireDistinct(directories: readonly string[], { files }: Ports): void {
  const seen = new Map<string, string>();
  for (const directory of directories) {
    const facts = files.facts(withoutSlash(directory));
    if (facts === null || facts.inode === null) continue;
    const folder = `${facts.device} ${facts.inode}`;
    const before = seen.get(folder);
    seen.set(folder, directory);
    if (before === undefined) continue;
    throw new ReprError("usage", `Cannot serve "${directory}": "${before}" is the same folder`, {
      hint: "Name each folder once: each exchange is played once",
    });
  }
}

/** A stale recording is what a test is to find, not a mistake in the words of the command. */
function requireYoung(fixtures: readonly Fixture[], maxAge: number | undefined, { clock }: Ports): void {
  if (maxAge === undefined) return;
  for (const { path, created, header } of fixtures) {
    const days = (clock.now() - created) / DAY_MS;
    if (days <= maxAge) continue;
    const age = recordedOn(header) === null
      ? "nothing tells when it was recorded"
      : `it was recorded ${days.toFixed(1)} days ago`;
    throw new ReprError(
      "fixture_too_old",
      `Cannot serve "${path}": ${age}, and --max-age allows ${maxAge}`,
      {
        hint: "Record it anew, or allow more days",
        details: { path, created: header.created, max_age: maxAge },
      },
    );
  }
}

/** No real key of the caller's may reach a test server; clients that want one get one, set or not. */
function keys({ env }: Ports, token: string = DUMMY_KEY): Record<string, string> {
  const variables = PROVIDER_KINDS.flatMap((kind) =>
    PROVIDER_ACCESS[kind].keyVariables.map(({ name }) => name)
  );
  const set = variables.filter((name) => (env(name) ?? "") !== "");
  return Object.fromEntries(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", ...set].map((name) => [name, token]));
}

/** Why the exit code is 7; `null` where all is well. */
function verdictOf(summary: ServeSummary, strictUsage: boolean): string | null {
  const { missed, refused, turned_away, unused, unmet_faults } = summary;
  const wrong = [
    ...(missed > 0 ? [`${missed} missed`] : []),
    ...(refused > 0 ? [`${refused} broke a rule`] : []),
    ...(turned_away > 0 ? [`${turned_away} turned away`] : []),
    ...(strictUsage && unused.length > 0 ? [`${unused.length} not asked for`] : []),
    ...(strictUsage && unmet_faults.length > 0
      ? [`${counted(unmet_faults.length, "fault")} broke nothing`]
      : []),
  ];
  return wrong.length === 0 ? null : `Not every exchange went as recorded: ${wrong.join(", ")}`;
}

function failed(output: Output, verdict: string): void {
  output.errorLine(
    verdict,
    "Each is told on stderr without --quiet, and as data with --json or --events FILE",
  );
}

/** Messages name files as DIR/NAME. */
function withoutSlash(directory: string): string {
  return directory.replace(/(?<=.)\/+$/, "");
}
