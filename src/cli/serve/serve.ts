/** The verb `serve`: plays fixtures back as the API, and checks requests by its rules. */
import { DUMMY_KEY } from "../../apis/known_upstreams.ts";
import { asRepriseError, RepriseError } from "../../domain/errors.ts";
import type { ServeEvent } from "../../fixture/event.ts";
import type { NumberedExchange } from "../../fixture/exchange.ts";
import { TestFaults } from "../../fixture/faults/plan.ts";
import type { Route, RouteServers } from "../../fixture/loopback/route.ts";
import { type Pace, parsePace } from "../../fixture/serve/play.ts";
import { ReplayServers, type ReplayServersOptions } from "../../fixture/serve/server.ts";
import { openSuite, type ReplaySuite, type SuiteFixture } from "../../fixture/serve/suite.ts";
import { recordedRoutes } from "../../fixture/upstreams.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";
import { makeOutput } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { representing } from "../run/endpoint.ts";
import {
  bypassingVariables,
  clientEnvironment,
  dummyKeys,
  REPLAY_VARIABLE,
  type ServedRoute,
} from "./client_environment.ts";
import type { ServeFlags } from "./command.ts";
import { EventView } from "./event_view.ts";
import { gatewayVerb } from "./gateway.ts";
import { obsoleteNotes, pruneUnused } from "./obsolete.ts";
import { replayerFactory } from "./replayer_factory.ts";
import { readyLine, reportServed } from "./serve_report.ts";
import { findServed, requireYoung, type ServedFixtures } from "./served_fixtures.ts";
import { planServer, type ServerPlan, ServerRun } from "./server_run.ts";
import {
  NO_RECORDING,
  RECORD_AGAIN,
  RECORD_NEW,
  TestEvents,
  type TestReport,
  testReport,
  type TestRequest,
} from "./test_process.ts";

/** The most notes about fixtures of one kind. */
const MAX_NOTES = 10;

/**
 * Performs `serve`, with a command that runs against the server when `command` is not empty.
 *
 * @returns the command's exit code, or 0; 7 instead of 0 after a miss, a broken rule, a request that was turned away,
 * with `--fail-on tool-output` an output of a tool that is not the recorded one, a wrapped command that sent nothing
 * (without `--allow-unused`) or, with `--strict-usage`, an unused exchange or a fault without effect.
 */
export async function serveVerb(
  ports: ProgramPorts,
  directories: readonly string[],
  command: readonly string[],
  flags: ServeFlags,
): Promise<number> {
  const output = makeOutput(ports, flags);
  const pace = paceOf(flags.pace ?? "fast");
  const faults = flags.fault === undefined ? null : new TestFaults(flags.fault);
  requireRewriting(flags);
  const plan = planServer(ports, flags, { command, folders: directories });
  const { wraps, isSuite, isChatty } = plan;
  if (isSuite && directories.length === 0) return await gatewayVerb(ports, { plan, output, flags });
  requireFolder(directories);
  const played = await openPlayed(ports, { directories, output, plan, flags, faults });
  const { suite, fixtures } = played;
  using run = new ServerRun<"serve-event">(ports, plan, { output, flags });
  const { events } = run;
  const tests = new TestEvents();
  const judgesOutputs = flags.failOn !== undefined;
  const view = new EventView<ServeEvent>(output, {
    events,
    tests: isSuite ? tests : null,
    isChatty,
    judgesOutputs,
  });
  const { servers, served } = startServers(ports, played, {
    plan,
    flags,
    pace,
    faults,
    onEvent: (event) => view.add(event),
    onAnswered: flags.json === true || flags.events !== undefined ? events.write : undefined,
  });
  const baseUrls = clientEnvironment(served);
  const environment = {
    ...baseUrls,
    ...representing(ports, served),
    [REPLAY_VARIABLE]: "1",
    ...(isSuite ? dummyKeys(ports, served, DUMMY_KEY) : {}),
  };
  const code = await run.untilEnd(servers, {
    onReady(base) {
      const ready = { ...base, environment };
      events.write(ready);
      if (events.onStdout) return;
      // Scripts wait for this line, with or without the other events.
      if (!wraps) output.json<"serve-event">(ready);
      if (!isSuite && isChatty) output.note(readyLine(ready.address, baseUrls, fixtures));
    },
    ...(isSuite
      ? {
        end: (request) =>
          endServed(ports, request, { suite, tests, faults, folder: played.folders[0] ?? "" }),
      }
      : {}),
    environment: { ...environment, ...dummyKeys(ports, served, flags.token ?? DUMMY_KEY) },
    unset: bypassingVariables(served),
  });

  const { tally } = view;
  const summary = { ...tally.answers, ...suite.usage, unmet_faults: faults?.unmet() ?? [] };
  const sentNothing = wraps && tally.requests === 0 && flags.allowUnused !== true;
  const unread = sentNothing ? Object.keys(baseUrls) : null;
  return reportServed(summary, { output, events, plan, flags, code, unread });
}

/** Fixtures that are served, and their replayers. */
interface PlayedFixtures extends ServedFixtures {
  readonly routes: readonly Route[];
  readonly suite: ReplaySuite;
}

async function openPlayed(
  ports: ProgramPorts,
  { directories, output, plan: { command, isSuite, isChatty }, flags, faults }: {
    readonly directories: readonly string[];
    readonly output: Output;
    readonly plan: ServerPlan;
    readonly flags: ServeFlags;
    readonly faults: TestFaults | null;
  },
): Promise<PlayedFixtures> {
  const { fixtures, folders } = findServed(ports, directories, { mayBeEmpty: isSuite });
  requireYoung(fixtures, flags.maxAge, ports);
  const given = fixtures.flatMap(({ fixture }) => fixture ?? []);
  if (faults !== null && given.length === fixtures.length) faults.check(given);
  noteSome(output, fixtures.flatMap(({ problem }) => problem ?? []));
  const { routes, elsewhere } = recordedRoutes(fixtures);
  const missed =
    "was recorded under another base path: clients that read the base URL variables do not reach it";
  noteSome(output, elsewhere.map((path) => `"${path}" ${missed}`));
  const shown = shownCommand(command);
  const suite = await openSuite({
    files: ports.files,
    fixtures,
    folders,
    createReplayer: await replayerFactory(ports, {
      flags,
      output: isChatty ? output : null,
      command: shown,
      ...(isSuite ? { recordCommand: RECORD_AGAIN } : {}),
    }),
    ...(isSuite ? { recordCommand: RECORD_NEW } : {}),
  });
  return { fixtures, folders, routes, suite };
}

/** Starts the servers of the recorded routes, and returns the server of each route. */
function startServers(
  ports: ProgramPorts,
  { fixtures, routes, suite }: PlayedFixtures,
  { plan: { leadsClients, isSuite }, flags, ...options }:
    & { readonly plan: ServerPlan; readonly flags: ServeFlags }
    & Pick<ReplayServersOptions, "pace" | "faults" | "onEvent" | "onAnswered">,
): { readonly servers: RouteServers; readonly served: readonly ServedRoute[] } {
  const { port = 0, host, token } = flags;
  const servers = new ReplayServers(
    {
      ...options,
      suite,
      clock: ports.clock,
      port,
      host,
      token,
      offersSockets: flags.websocket !== false && fixtures.some(mayPlayOverSocket),
      numbersEachTest: isSuite,
      afterFault: flags.afterFault === true,
    },
    leadsClients ? routes : [null],
  );
  const [first] = servers.servers;
  return {
    servers,
    served: routes.map((route, index) => ({ route, origin: (servers.servers[index] ?? first).origin })),
  };
}

/** Longest command that a message repeats. */
const MAX_COMMAND = 300;

/** Returns the command as a line for a message; `undefined` if there is none, or none of one short line. */
function shownCommand(command: readonly string[]): string | undefined {
  const line = commandLine(command);
  return line === "" || line.length > MAX_COMMAND || /[\n\r]/.test(line) ? undefined : line;
}

async function endServed(
  ports: ProgramPorts,
  request: TestRequest,
  { suite, tests, faults, folder }: {
    readonly suite: ReplaySuite;
    readonly tests: TestEvents;
    readonly faults: TestFaults | null;
    readonly folder: string;
  },
): Promise<TestReport> {
  const { test } = request;
  const path = `${folder}/${test}`;
  const unmetFaults = faults?.end(test) ?? [];
  try {
    const summary = await suite.end(test);
    const numbersOf = (listed: readonly NumberedExchange[] = []) => listed.map(({ number }) => number);
    const [use, ...others] = summary?.fixtures ?? [];
    const usesRecording = use !== undefined && use.used.length > 0;
    // Without any exchange nothing could be played, so a recording that the test does not use is reported instead.
    const prunes = request.prunes && request.passed && usesRecording && others.length === 0;
    const unused = prunes ? [] : numbersOf(summary?.unused);
    const report = testReport(request, tests.take(test), {
      path,
      unused,
      usesRecording,
      unmetFaults,
      error: null,
    });
    const notes = prunes && report.exit_code === 0
      ? await pruneUnused(ports, use)
      : obsoleteNotes(ports, path, numbersOf(summary?.obsolete));
    return { ...report, notes };
  } catch (error) {
    return testReport(request, tests.take(test), { ...NO_RECORDING, error: asRepriseError(error) });
  }
}

/** Refuses a call that names no folder, which only the gateway of test runners does. */
function requireFolder(directories: readonly string[]): void {
  if (directories.length > 0) return;
  throw new RepriseError("usage", "Cannot serve: no folder is given", {
    hint: "Name a fixture, or a folder with fixtures: reprise serve fixtures/chat -- npm test",
  });
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

/** True for a fixture with requests of an API that has a WebSocket, and for fixtures that are read later. */
function mayPlayOverSocket({ fixture }: SuiteFixture): boolean {
  return fixture?.exchanges.some(({ request: { api } }) => api !== null && api.socket !== null) ?? true;
}
