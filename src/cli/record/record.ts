/** The verb `record`: a proxy in front of an API that keeps the traffic as a fixture. */
import { OWN_URL_VARIABLE } from "../../apis/providers.ts";
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { MatchRules } from "../../fixture/file_schemas.ts";
import { parseFlags, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import { compilePatterns } from "../../fixture/match/rules/patterns.ts";
import { Recorder, type RecorderOptions } from "../../fixture/record/recorder.ts";
import type { EndedTest, TestRecordings } from "../../fixture/record/test_recordings.ts";
import { fileError } from "../../store/fs_errors.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";
import { makeContext } from "../context.ts";
import { isCi } from "../environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { representing } from "../run/endpoint.ts";
import { clientEnvironment, missingKeys, type ServedRoute, unsetKeys } from "../serve/client_environment.ts";
import type { RecordFlags } from "./command.ts";
import { EventView } from "../serve/event_view.ts";
import { restoreVariables } from "../serve/gateway.ts";
import { markObsolete, obsoleteNotes } from "../serve/obsolete.ts";
import { type ModePlan, planMode } from "./mode.ts";
import { beginNote, lossOf, preview, reportEnd } from "./report.ts";
import { type PlannedRoutes, planRoutes } from "./routes.ts";
import { contentOf, openFolder, type PlayOptions, type RecordingFolder } from "./folder.ts";
import { unrecordedApiNote } from "./notes.ts";
import { replayerFactory } from "../serve/replayer_factory.ts";
import { planServer, ServerRun } from "../serve/server_run.ts";
import {
  RECORD_AGAIN,
  RECORD_IN_CI,
  TestEvents,
  type TestReport,
  testReport,
  type TestRequest,
} from "../serve/test_process.ts";

/** Performs `record`; `command` is the arguments after `--`. */
export async function recordVerb(
  ports: ProgramPorts,
  command: readonly string[],
  flags: RecordFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const plan = planServer(ports, flags, { command, folders: [flags.out] });
  const { wraps, isSuite, isChatty } = plan;
  if (isSuite) restoreVariables(ports);
  const declared = await declaredRules(flags);
  const mode = await planMode(ports, flags);
  const { out, plays, sends } = mode;
  const played = plays ? contentOf(ports.files, out) : null;
  const recorded = played?.baseUrls ?? new Map<string, string>();
  const routes = await planRoutes(ports, flags, { wraps: plan.leadsClients, recorded, sends });
  const begin = { mode, played, upstreams: routes.upstreams };
  if (flags.dryRun === true) return await preview(context, { ...begin, command, flags });

  using run = new ServerRun<"record-event">(ports, plan, { output, flags });
  const { events } = run;
  const tests = isSuite ? new TestEvents() : null;
  const view = new EventView(output, { events, tests, isChatty, namesSkipped: true });
  const folder = await openFolder(ports, mode.into, {
    flags,
    declared,
    isSuite,
    ...(mode.into === out ? {} : { replaces: out }),
    grows: flags.append === true || plays,
    keepsErrors: mode.mode === null || flags.keepErrors === true,
    playing: await playOptions(ports, { flags, wraps, mode, view }),
    onExchange: (event) => view.add(event),
  });
  const recorder = await listening(folder.recordings, {
    ports,
    routes: routes.routes,
    port: flags.port ?? 0,
    host: flags.host,
    token: flags.token,
    answersChecks: mode.mode !== null || flags.fault !== undefined,
    onEvent: (event) => view.add(event),
  });
  const served = servedRoutes(recorder);
  const environment = environmentOf(ports, served, isSuite);
  const ended = await run.untilEnd(recorder, {
    onReady(base) {
      const led = served.length > 0 ? { environment } : {};
      const ready = { ...base, out, before: folder.before, ...(plays ? { sends } : {}), ...led };
      events.write(ready);
      if (isSuite) output.json<"record-event">(ready);
      else if (!wraps && !events.onStdout) output.note(beginNote({ ...begin, places: placesOf(recorder) }));
      for (const note of readyNotes(routes, { flags, wraps, served })) output.note(note);
    },
    ...(tests === null
      ? {}
      : { end: (request) => endRecorded(ports, request, { tests, recorder, folder, mode }) }),
    environment: {
      ...environment,
      // A recording plays without a key, but most clients do not start without a key.
      ...(plays && (!sends || isCi(ports)) ? missingKeys(ports, served) : {}),
      ...routes.tokenVariables,
    },
    // One of the routes uses this URL, or the user named another upstream.
    unset: [OWN_URL_VARIABLE, ...routes.unset],
  }).then(
    (code) => ({ code, thrown: null }),
    (error) => ({ code: 0, thrown: asRepriseError(error) }),
  );
  const exitCode = await reportEnd({ output, events }, await folder.recordings.close(), {
    ...ended,
    mode,
    tally: view.tally,
    unsetKeys: wraps && sends ? unsetKeys(ports, served, new Set(recorded.keys())) : [],
    variables: wraps ? served.map(({ route }) => route.variable) : null,
    tooShort: [...folder.tooShort],
    isReported: isSuite,
  });
  mode.discard();
  return exitCode;
}

/** Variables that lead clients to the recorder. */
function environmentOf(
  ports: ProgramPorts,
  served: readonly ServedRoute[],
  isSuite: boolean,
): Record<string, string> {
  // Tests whose requests are recorded need no key, and most clients do not start without one.
  const keys = isSuite ? missingKeys(ports, served) : {};
  return { ...clientEnvironment(served), ...representing(ports, served), ...keys };
}

/** Returns the match rules of the flags, after a test of their patterns. */
async function declaredRules(flags: RecordFlags): Promise<MatchRules> {
  const declared = parseFlags(flags);
  await compilePatterns(declared.replace ?? [], refusedFlag);
  return declared;
}

/** Returns the facts for the user about what is not recorded. */
function readyNotes(
  { notes }: PlannedRoutes,
  { flags: { upstream, provider }, wraps, served }: {
    readonly flags: RecordFlags;
    readonly wraps: boolean;
    readonly served: readonly ServedRoute[];
  },
): readonly string[] {
  const isOneApi = wraps && upstream !== undefined && provider === undefined;
  const other = isOneApi ? unrecordedApiNote(served.map(({ route }) => route)) : null;
  return other === null ? notes : [...notes, other];
}

/** Ends a test, and writes its report. */
async function endRecorded(
  ports: ProgramPorts,
  request: TestRequest,
  { tests, recorder, folder, mode }: {
    readonly tests: TestEvents;
    readonly recorder: Recorder;
    readonly folder: RecordingFolder;
    readonly mode: ModePlan;
  },
): Promise<TestReport> {
  const { test } = request;
  const path = `${mode.out}/${test}`;
  // Exchanges that a passed test did not use are marked as obsolete then.
  const marks = mode.mode === "missing" && mode.sends;
  let ended: EndedTest | null = null;
  let refused: RepriseError | null = null;
  try {
    ended = await folder.recordings.end(test, () => recorder.endTest(test));
  } catch (error) {
    refused = asRepriseError(error);
  }
  const requests = tests.take(test);
  const { tally } = requests;
  const { summary = null, unused = [], unmetFaults = [] } = ended ?? {};
  const error = summary === null
    ? refused
    : summary.failure !== null
    ? fileError(summary.failure.error, "record", path)
    : lossOf(tally, { code: 0, variables: null, before: summary.before, unsent: mode.unsent });
  const report = testReport(request, requests, {
    path,
    unused: marks ? [] : unused,
    unmetFaults,
    error,
    usesRecording: tally.answers.served + tally.faulted > 0,
  });
  const passed = request.passed && report.exit_code === 0;
  try {
    await mode.endTest(test, passed && report.recorded > 0);
  } catch (error) {
    const { exitCode, advice } = asRepriseError(error);
    return { ...report, exit_code: exitCode, messages: [...report.messages, advice] };
  }
  if (mode.mode === "all" && !request.passed && report.recorded > 0) {
    return { ...report, notes: [`nothing in "${path}" was replaced: the test failed`] };
  }
  if (!marks || request.allowUnused || !passed) return report;
  await markObsolete(ports, path, unused);
  return { ...report, notes: obsoleteNotes(ports, path, unused) };
}

function servedRoutes({ servers }: Recorder): ServedRoute[] {
  return servers.flatMap(({ route, origin }) => route === null ? [] : [{ route, origin }]);
}

function placesOf(recorder: Recorder): string {
  const variables = Object.entries(clientEnvironment(servedRoutes(recorder)));
  if (variables.length === 0) return recorder.servers[0].origin;
  return variables.map(([name, url]) => `${name}=${url}`).join(" ");
}

/** Starts the recorder. Closes the recordings if it cannot listen. */
async function listening(
  recordings: TestRecordings,
  options: Omit<RecorderOptions, "recordings">,
): Promise<Recorder> {
  try {
    return new Recorder({ ...options, recordings });
  } catch (error) {
    await recordings.close();
    throw error;
  }
}

/** Returns the options of a recording that plays exchanges; `null` for one that records every request. */
async function playOptions(
  ports: ProgramPorts,
  { flags, wraps, mode: { plays, sends, sendsFor }, view }: {
    readonly flags: RecordFlags;
    readonly wraps: boolean;
    readonly mode: ModePlan;
    readonly view: EventView;
  },
): Promise<PlayOptions | null> {
  if (!plays && sends && flags.fault === undefined) return null;
  const isSuite = flags.suite === true;
  const advice = sends ? RECORD_AGAIN : RECORD_IN_CI;
  const createReplayer = await replayerFactory(ports, {
    // The API itself judges the requests that it gets.
    flags: { ...flags, rules: "none" },
    output: null,
    notSecret: flags.notSecret,
    recordCommand: isSuite ? advice : missingCommand(flags, { wraps }),
  });
  return {
    plays,
    sendsFor: (path) => sends && sendsFor(path),
    createReplayer,
    onPlayed: (event) => view.add(event),
    ...(isSuite ? { recordCommand: advice } : {}),
  };
}

/** Returns the command that records what a miss lacks. */
function missingCommand(
  { out, upstream }: Pick<RecordFlags, "out" | "upstream">,
  { wraps }: { readonly wraps: boolean },
): string {
  const where = upstream === undefined ? [] : ["--upstream", upstream];
  const command = commandLine(["reprise", "record", "--missing", "--allow-live", ...where, "--out", out]);
  return `${command}${wraps ? " -- CMD" : ""}`;
}
