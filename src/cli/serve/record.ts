/** The verb `record`: a proxy in front of an API that keeps the traffic as a fixture. */
import { asRepriseError, type ExitCode, type RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { type Recorder, startRecorder } from "../../fixture/record/recorder.ts";
import { parseFlags, refusedFlag } from "../../fixture/match/rules/match_rules.ts";
import { checkPatterns } from "../../fixture/match/rules/patterns.ts";
import type { RecordFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import { unsetVariables } from "../environment.ts";
import { gracefulShutdown, openEventOutput, PortFile } from "./server_process.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { unrecordedApiNote } from "./recording_notes.ts";
import { reportEnd } from "./recording_end.ts";
import { RecordingView } from "./recording_view.ts";
import { OWN_URL_VARIABLE } from "../../apis/providers.ts";
import { openFolder, previewFolder, type RecordingFolder } from "./recording_folder.ts";
import { type PlannedRoutes, planRoutes } from "./planned_routes.ts";
import { representing } from "../run/endpoint.ts";
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
  const view = new RecordingView(output, events, { wraps });
  const folder = await openFolder(ports, out, {
    ...{ flags, declared, wraps },
    grows: flags.append === true,
    onExchange: (event) => view.exchange(event),
  });
  using shutdown = wraps ? null : gracefulShutdown();
  if (shutdown !== null) output.onClosed(() => shutdown.request());
  const recorder = await listening(ports, { flags, folder, routes, view });
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
  return reportEnd({ output, events }, await folder.recordings.close(), {
    ...{ out, code, thrown, counts: view.counts },
    variables: wraps ? servedRoutes(recorder).map(({ route }) => route.variable) : null,
    tooShort: [...folder.tooShort],
  });
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
  ports: ProgramPorts,
  { flags: { port = 0, host, token }, folder: { recordings }, routes: { routes }, view }: {
    readonly flags: RecordFlags;
    readonly folder: RecordingFolder;
    readonly routes: PlannedRoutes;
    readonly view: RecordingView;
  },
): Promise<Recorder> {
  try {
    return startRecorder({
      ...{ ports, recordings, routes, port, host, token },
      onEvent: (event) => view.refused(event),
    });
  } catch (error) {
    await recordings.close();
    throw error;
  }
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
