/** The verb `record`: a proxy in front of an API that keeps the traffic as a fixture. */
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { total } from "../../domain/redact.ts";
import { counted } from "../../domain/text.ts";
import type { DiscardReason } from "../../fixture/record/pending_exchange.ts";
import { type Recorder, startRecorder } from "../../fixture/record/recorder.ts";
import type { FolderSummary } from "../../fixture/record/test_recordings.ts";
import { type RecordingSummary, secretLeft } from "../../fixture/record/writer.ts";
import type { SkippedEvent, TurnedAwayEvent } from "../../fixture/loopback/guard.ts";
import { parseFlags, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import { checkPatterns } from "../../fixture/match/rules/patterns.ts";
import { fileError } from "../../store/fs_errors.ts";
import type { RecordFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import { unsetVariables } from "../environment.ts";
import { type EventOutput, gracefulShutdown, openEventOutput, PortFile } from "./server_process.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import {
  alteredNote,
  leftAloneNote,
  matchRulesNote,
  nothingSentNote,
  tooShortNote,
  unrecordedApiNote,
  withheldRulesNote,
} from "./recording_notes.ts";
import { OWN_URL_VARIABLE } from "../../apis/providers.ts";
import { openFolder, previewFolder, type RecordedEvent, type RecordingFolder } from "./recording_folder.ts";
import { type PlannedRoutes, planRoutes } from "./planned_routes.ts";
import { representing } from "../run/endpoint.ts";
import { refusedLine } from "./serve_view.ts";
import { absolute } from "../settings.ts";
import { clientEnvironment, runWrapped, type ServedRoute } from "./wrapped_command.ts";

/** Performs `record`; `command` is the arguments after `--`. */
export async function recordVerb(
  ports: ProgramPorts,
  command: readonly string[],
  flags: RecordFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const wraps = command.length > 0;
  const out = absolute(ports, flags.out);
  const declared = parseFlags(flags);
  await checkPatterns(declared, refusedFlag);
  const routes = await planRoutes(ports, flags, { wraps });
  const portFile = flags.portFile === undefined ? null : new PortFile(ports, flags.portFile);
  if (flags.dryRun === true) return await preview(context, { command, flags, out, routes });

  using events = openEventOutput(output, flags, { wraps });
  const folder = await openFolder(ports, out, {
    ...{ flags, declared, wraps },
    grows: flags.append === true,
    onExchange: (event) => {
      events.write(event);
      if (event.state === "dropped") output.note(dropLine(event));
      else if (!wraps && !events.onStdout) output.note(exchangeLine(event));
    },
  });
  using shutdown = wraps ? null : gracefulShutdown();
  if (shutdown !== null) output.onClosed(() => shutdown.request());
  const counts = { skipped: 0, turned_away: 0 };
  const recorder = await listening(context, { flags, folder, routes, events, counts });
  let code = 0;
  let thrown: RepriseError | null = null;
  try {
    using _file = portFile?.write(recorder.port) ?? null;
    const served = servedRoutes(recorder);
    const environment = { ...clientEnvironment(served), ...representing(ports, served) };
    const ready = {
      type: "ready",
      ...{ port: recorder.port, origin: recorder.origin, address: recorder.address, out },
      before: folder.before,
      ...(served.length > 0 ? { environment } : {}),
    };
    events.write(ready);
    if (!wraps && !events.onStdout) {
      output.note(`recording ${routes.upstreams.join(" and ")} at ${placesOf(recorder)} into "${out}"`);
    }
    for (const note of routes.notes) output.note(note);
    const unrecorded = wraps && flags.upstream !== undefined && flags.provider === undefined
      ? unrecordedApiNote(served.map(({ route }) => route))
      : null;
    if (unrecorded !== null) output.note(unrecorded);
    // One of the routes uses this URL, or the user named another upstream.
    if (wraps) unsetVariables([OWN_URL_VARIABLE, ...routes.unset]);
    code = wraps
      ? await runWrapped(command, { ...environment, ...routes.tokenVariables })
      : await shutdown?.requested ?? 0;
  } catch (error) {
    thrown = asRepriseError(error);
  }
  await recorder.stop();
  const summary = await folder.recordings.close();
  const { total: sums } = summary;
  const variables = servedRoutes(recorder).map(({ route }) => route.variable);
  const nothing = wraps && sums.published === 0
    ? nothingRecorded(
      sums,
      nothingSentNote("recorder", { skipped: counts.skipped, variables }),
    )
    : null;
  const exitCode = reportEnd({ output, events, out }, summary, {
    code,
    thrown,
    nothing,
    turnedAway: counts.turned_away,
  });
  const notes = [
    matchRulesNote(sums.matchRules),
    withheldRulesNote(sums.withheldRules),
    alteredNote(sums.altered),
    tooShortNote([...folder.tooShort]),
    leftAloneNote(sums.leftAlone),
  ];
  for (const note of notes) if (note !== null) output.note(note);
  return exitCode;
}

/** The routes of a wrapped command with their servers. */
function servedRoutes({ servers }: Recorder): ServedRoute[] {
  return servers.flatMap(({ route, origin }) => route === null ? [] : [{ route, origin }]);
}

/** The address of a recorder, or the variables that lead clients to its ports. */
function placesOf(recorder: Recorder): string {
  const variables = Object.entries(clientEnvironment(servedRoutes(recorder)));
  if (variables.length === 0) return recorder.origin;
  return variables.map(([name, url]) => `${name}=${url}`).join(" ");
}

async function listening(
  { ports, output }: Context,
  { flags, folder: { recordings }, routes: { routes }, events, counts }: {
    readonly flags: RecordFlags;
    readonly folder: RecordingFolder;
    readonly routes: PlannedRoutes;
    readonly events: EventOutput;
    /** Counts the requests that are not exchanges. */
    readonly counts: Record<(SkippedEvent | TurnedAwayEvent)["type"], number>;
  },
): Promise<Recorder> {
  const onEvent = (event: SkippedEvent | TurnedAwayEvent) => {
    counts[event.type] += 1;
    events.write(event);
    if (!events.onStdout) output.note(refusedLine(event));
  };
  const { port = 0, host, token } = flags;
  try {
    return startRecorder({ ports, recordings, routes, port, host, token, onEvent });
  } catch (error) {
    await recordings.close();
    throw error;
  }
}

/** Reports the end of the recording. @returns the exit code: that of the command first, then of the recording. */
function reportEnd(
  { output, events, out }: {
    readonly output: Output;
    readonly events: EventOutput;
    readonly out: string;
  },
  { total: sums, tests, failedIn }: FolderSummary,
  { code, thrown, nothing, turnedAway }: {
    readonly code: number;
    readonly thrown: RepriseError | null;
    /** Reported if there is no other error. */
    readonly nothing: RepriseError | null;
    readonly turnedAway: number;
  },
): ExitCode {
  const { before, published, dropped, refused, unkept, redactions, failure } = sums;
  const failed = failure === null ? null : fileError(failure.error, "record", failedIn);
  const lost = refused > 0
    ? leftOver(refused)
    : unkept > 0
    ? notKept(unkept)
    : turnedAway > 0
    ? notServed(turnedAway)
    : code === 0
    ? nothing
    : null;
  const error = thrown ?? failed ?? lost;
  const exitCode = (code !== 0 ? code : error?.exitCode ?? 0) as ExitCode;
  if (error !== null) {
    events.write({ ...error.toJSON(), type: "error" });
    if (!events.onStdout) output.errorLine(error.message, error.hint);
  }
  const ended = {
    type: "record.ended",
    out,
    ...membersOf(sums),
    turned_away: turnedAway,
    ...(tests === null
      ? {}
      : { tests: tests.map(({ test, ...summary }) => ({ test, ...membersOf(summary) })) }),
    exit_code: exitCode,
  };
  events.write(ended);
  const replaced = total(redactions);
  const where = tests === null ? "" : ` of ${counted(tests.length, "test")}`;
  output.note(
    (before === 0
      ? `recorded ${counted(published, "exchange")}${where} into "${out}"`
      : `added ${counted(published, "exchange")} to the ${before}${where} in "${out}"`) +
      (dropped === 0 ? "" : `, ${dropped} left out`) +
      (replaced === 0 ? "" : `, ${counted(replaced, "secret")} replaced`),
  );
  return output.closed ? output.closedExitCode : exitCode;
}

/** Returns the members of `record.ended` about a recording. */
function membersOf(summary: RecordingSummary) {
  const { before, published, dropped, refused, unkept, redactions, altered } = summary;
  return {
    ...{ before, published, dropped, refused, unkept, redactions, altered },
    left_alone: summary.leftAlone,
    match_rules: summary.matchRules,
    withheld_rules: summary.withheldRules,
  };
}

/** The error after a command that succeeded without an exchange: the recording is empty. */
function nothingRecorded(
  { before, dropped }: Pick<RecordingSummary, "before" | "dropped">,
  nothingSent: string,
): RepriseError {
  const state = before === 0 ? "the fixture would hold no exchange" : "the fixture is unchanged";
  return new RepriseError("nothing_recorded", `Nothing was recorded: ${state}`, {
    hint: dropped === 0 ? nothingSent : "The notes above say why each exchange was left out",
  });
}

function leftOver(refused: number): RepriseError {
  return new RepriseError(
    "secret_left",
    `Cannot keep ${refused} of the exchanges: they still held a secret`,
    {
      hint: "The notes above name them and their secrets; nothing of them was kept",
    },
  );
}

function notKept(unkept: number): RepriseError {
  return new RepriseError(
    "not_kept",
    `Cannot keep ${counted(unkept, "exchange")}: no fixture can hold the answers`,
    {
      hint: "The notes above name them and the reasons; every other exchange is in the fixture",
    },
  );
}

/** The error after requests that were turned away: the fixture lacks their answers. */
function notServed(turnedAway: number): RepriseError {
  const requests = counted(turnedAway, "request");
  return new RepriseError(
    "not_kept",
    `Cannot keep ${requests}: ${turnedAway === 1 ? "it was" : "they were"} turned away`,
    { hint: "The notes above name them and the reasons; every other exchange is in the fixture" },
  );
}

async function preview(
  { ports, output }: Context,
  { command, flags, out, routes }: {
    readonly command: readonly string[];
    readonly flags: RecordFlags;
    readonly out: string;
    readonly routes: PlannedRoutes;
  },
): Promise<ExitCode> {
  const before = await previewFolder(ports, out, { grows: flags.append === true });
  const { upstreams } = routes;
  const port = flags.port ?? 0;
  if (output.options.json) {
    const wrapped = command.length === 0 ? null : command;
    output.json({ type: "dry_run", upstreams, out, before, port, command: wrapped });
  } else {
    output.text(
      `Would listen on ${flags.host ?? "127.0.0.1"} (${
        port === 0 ? "any free port" : `port ${port}`
      }), forward requests to ` +
        `${upstreams.join(" or ")},\nand ${
          before === 0 ? "keep them in" : `add them to the ${counted(before, "exchange")} in`
        } "${out}"` +
        (command.length === 0 ? "" : `, while ${JSON.stringify(command[0])} runs`) + ". Nothing was done.\n",
    );
  }
  return 0;
}

function exchangeLine({ test, number, method, path, status, bytes, ms }: RecordedEvent): string {
  return `${test === undefined ? "" : `${test}: `}exchange ${number}: ${method} ${path} ${status}, ${
    counted(bytes, "byte")
  } in ${Math.round(ms)} ms`;
}

/** Reasons to leave an exchange out, as text for people. */
const DROP_REASONS: Readonly<Record<DiscardReason, string>> = {
  no_answer: "the upstream could not be reached",
  closed: "the client hung up (--keep-cut keeps the exchange)",
  cut: "its body broke off (--keep-cut keeps the exchange)",
  no_terminal_event: "its stream has no terminal event (--keep-cut keeps the exchange)",
  encoding: "its content encoding cannot be decoded",
  invalid: "a fixture cannot hold its method, status or headers",
  too_large: "its body is larger than a fixture can hold",
  unreadable:
    "its headers are not valid HTTP, or its compressed body is damaged or too large once decompressed",
  stopped: "it was still running when the recording ended",
  secret_left: "it still held a secret",
  storage: "it could not be written",
};

function dropLine(event: RecordedEvent): string {
  const { test, request, method, path, reason, secrets = [], file } = event;
  const why = file !== undefined ? secretLeft(file, secrets).message : DROP_REASONS[reason ?? "storage"];
  const of = test === undefined ? "" : ` of ${test}`;
  return `not recorded: request ${request}${of}, ${method} ${path}: ${why}`;
}
