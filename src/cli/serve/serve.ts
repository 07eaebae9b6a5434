/** The verb `serve`: plays fixtures back as the API, and checks requests by its rules. */
import { RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { parseFaults } from "../../fixture/faults/plan.ts";
import type { Loopback } from "../../fixture/loopback/server.ts";
import { recordedRoutes } from "../../fixture/recorded_routes.ts";
import { type Pace, parsePace } from "../../fixture/serve/pace.ts";
import { openSuite } from "../../fixture/serve/suite.ts";
import type { ServeEvent } from "../../fixture/serve/serve_event.ts";
import { startReplayServers } from "../../fixture/serve/server.ts";
import type { ServeFlags } from "./command.ts";
import { makeOutput } from "../context.ts";
import type { Output } from "../output.ts";
import { unsetVariables } from "../environment.ts";
import { gracefulShutdown, openEventOutput, PortFile } from "./server_process.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { nothingSentNote } from "./recording_notes.ts";
import { representing } from "../run/endpoint.ts";
import { replayerFactory } from "./replayer_factory.ts";
import { type ServeSummary, ServeView } from "./serve_view.ts";
import { findServed, recordedPlaces, requireYoung } from "./served_fixtures.ts";
import {
  bypassingVariables,
  clientEnvironment,
  DUMMY_KEY,
  dummyKeys,
  runWrapped,
} from "./wrapped_command.ts";

/** The most notes about fixtures of one kind. */
const MAX_NOTES = 10;

/**
 * Performs `serve`, with a command that runs against the server when `command` is not empty.
 *
 * @returns the command's exit code, or 0; 7 instead of 0 after a miss, a broken rule, a request that was turned away,
 * with `--fail-on tool-output` an output of a tool that is not the recorded one, a wrapped command that sent nothing (without `--allow-unused`) or, with `--strict-usage`, an unused exchange or a fault
 * without effect.
 */
export async function serveVerb(
  ports: ProgramPorts,
  directories: readonly string[],
  command: readonly string[],
  flags: ServeFlags,
): Promise<number> {
  const output = makeOutput(ports, flags);
  const pace = paceOf(flags.pace ?? "fast");
  const faults = flags.fault === undefined ? null : parseFaults(flags.fault.join("\n"));
  const portFile = flags.portFile === undefined ? null : new PortFile(ports, flags.portFile);
  requireRewriting(flags);
  const { fixtures, folders } = findServed(ports, directories);
  requireYoung(fixtures, flags.maxAge, ports);
  noteSome(output, fixtures.flatMap(({ problem }) => problem ?? []));
  const suite = await openSuite({
    files: ports.files,
    fixtures,
    folders,
    createReplayer: await replayerFactory(ports, { flags, output, wraps: command.length > 0 }),
  });
  const wraps = command.length > 0;
  const view = new ServeView(output);
  using events = openEventOutput<"serve-event">(output, flags, { wraps });
  const counts = { requests: 0, skipped: 0, turned_away: 0 };
  const report = (event: ServeEvent) => {
    if (event.type === "skipped" || event.type === "turned_away") counts[event.type] += 1;
    else if (event.type !== "warning") counts.requests += 1;
    events.write(event);
    if (!events.onStdout) view.event(event);
  };

  const { port = 0, host, token } = flags;
  using shutdown = wraps ? null : gracefulShutdown();
  const { routes, elsewhere } = recordedRoutes(recordedPlaces(fixtures));
  const servers = startReplayServers(
    { replayers: suite, pace, faults, clock: ports.clock, port, host, token, onEvent: report },
    wraps ? routes : [null],
  );
  const server = servers[0] as Loopback;
  const served = routes.map((route, index) => ({ route, origin: (servers[index] ?? server).origin }));
  const baseUrls = clientEnvironment(served);
  const environment = { ...baseUrls, ...representing(ports, served) };
  const missed = "was recorded under another base path: clients that go by the environment miss it";
  noteSome(output, elsewhere.map((path) => `"${path}" ${missed}`));
  let code: number;
  try {
    using _file = portFile?.write(server.port) ?? null;
    const { port, origin, address } = server;
    const ready = { type: "ready" as const, port, origin, address, environment };
    events.write(ready);
    if (!events.onStdout) {
      // Scripts wait for this line, with or without the other events.
      if (!wraps) output.json<"serve-event">(ready);
      view.ready(address, baseUrls, fixtures);
    }
    if (wraps) unsetVariables(bypassingVariables(served));
    code = wraps
      ? await runWrapped(command, { ...environment, ...dummyKeys(ports, served, token ?? DUMMY_KEY) })
      : await shutdown?.requested ?? 0;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }

  const summary: ServeSummary = {
    ...suite.summary,
    turned_away: counts.turned_away,
    skipped: counts.skipped,
    unmet_faults: faults?.unmet() ?? [],
  };
  const unusedCommand = wraps && counts.requests === 0 && flags.allowUnused !== true
    ? unusedVerdict({ skipped: counts.skipped, variables: Object.keys(baseUrls) })
    : null;
  const verdict = verdictOf(summary, flags) ?? unusedCommand;
  const exitCode = code === 0 && verdict !== null ? 7 : code;
  events.write({
    type: "serve.ended",
    exit_code: exitCode,
    ...(wraps ? { command_exit_code: code } : {}),
    ...summary,
  });
  if (!events.onStdout) {
    view.summary(summary);
    if (verdict !== null && (verdict !== unusedCommand || code === 0)) {
      output.errorLine(verdict.message, verdict.hint);
    }
  }
  return exitCode;
}

/** Prints the first notes about fixtures, and the number of the others. */
function noteSome(output: Output, notes: readonly string[]): void {
  for (const note of notes.slice(0, MAX_NOTES)) output.note(note);
  if (notes.length > MAX_NOTES) output.note(`and ${notes.length - MAX_NOTES} more`);
}

function paceOf(text: string): Pace {
  const pace = parsePace(text);
  if (pace !== null) return pace;
  throw new RepriseError(
    "usage",
    `Cannot use --pace ${JSON.stringify(text)}: it is neither fast nor real nor a factor`,
    {
      hint: "A factor multiplies the recorded speed: 10 is ten times as fast, 0.5 half as fast",
    },
  );
}

/** Refuses `--rewrite-context` in modes without rules: they know no value to replace. */
function requireRewriting({ rewriteContext, match }: ServeFlags): void {
  if (rewriteContext !== true || (match !== "exact" && match !== "sequence")) return;
  throw new RepriseError(
    "usage",
    `Cannot use --rewrite-context with --match ${match}, which applies no rules`,
    {
      hint: "Leave out one of them",
    },
  );
}

/** Reports why the exit code is 7 and what to do; `null` if all went as recorded. */
function verdictOf(
  summary: ServeSummary,
  { strictUsage, failOn }: Pick<ServeFlags, "strictUsage" | "failOn">,
): Verdict | null {
  const { missed, refused, turned_away, unused, unmet_faults, tool_outputs_differ: outputs } = summary;
  const wrong = [
    ...(missed > 0 ? [`${missed} missed`] : []),
    ...(refused > 0 ? [`${refused} rejected`] : []),
    ...(turned_away > 0 ? [`${turned_away} turned away`] : []),
    ...(failOn === "tool-output" && outputs > 0
      ? [`${counted(outputs, "tool output")} not as recorded`]
      : []),
    ...(strictUsage === true && unused.length > 0 ? [`${unused.length} unused`] : []),
    ...(strictUsage === true && unmet_faults.length > 0
      ? [`${counted(unmet_faults.length, "fault")} without effect`]
      : []),
  ];
  if (wrong.length === 0) return null;
  return {
    message: `Not every exchange went as recorded: ${wrong.join(", ")}`,
    hint: "stderr names each without --quiet, and the events of --json or --events FILE",
  };
}

/** The verdict on a command that succeeded and sent nothing: it tested nothing. */
function unusedVerdict(facts: Parameters<typeof nothingSentNote>[1]): Verdict {
  return {
    message: "No exchange was played: the command sent no request",
    hint: `${nothingSentNote("server", facts)}. --allow-unused is for commands that may send none`,
  };
}

interface Verdict {
  readonly message: string;
  readonly hint: string;
}
