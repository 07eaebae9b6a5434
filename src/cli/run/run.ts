/** The verb `run`: one run of a new session, or the next one of a session. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { freeSlugOf, parseSessionId, type SessionId, slugOf } from "../../domain/ids.ts";
import { defined } from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import { requireNewFolder } from "../../fixture/new_folder.ts";
import type { ReportingSend } from "../../fixture/serve/replay_send.ts";
import type { RunEnded, RunEvent } from "../../schemas/run_events.ts";
import { executeRun } from "../../run/loop.ts";
import type { AnswerCheck } from "../../run/output_schema.ts";
import { Stop } from "../../run/outcome.ts";
import { PermissionGate } from "../../run/permission_gate.ts";
import type { RunStart } from "../../run/recover.ts";
import type { RunSetup } from "../../run/setup.ts";
import type { KeyFinder } from "../../run/tool_keys.ts";
import { type Home, openHome, sessionNames } from "../../store/home.ts";
import { resolveSession } from "../../store/list.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import { policyText } from "../../tools/permission/policy.ts";
import { ALL_TOOLS } from "../../tools/registry.ts";
import { type Flag, flagArguments } from "../declare.ts";
import { RUN_FLAGS, type RunFlags } from "./command.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import { hintAtHome } from "../hints.ts";
import { previewRun } from "./preview.ts";
import { configuredPolicy } from "./run_settings.ts";
import { resolveStart } from "./prompt.ts";
import { readCall, requestSettings, type ResolvedRun, resolveRun, type SettingCall } from "./resolve_run.ts";
import { costOfTurn, withOutputPrice } from "./run_costs.ts";
import type { RunRecording } from "./run_recording.ts";
import { RunProgressLine } from "./run_progress.ts";
import { requireAnswerFile, RunView, writeAnswer } from "./run_view.ts";
import { fixtureSend, type LiveSend, requireComparison, transportSend } from "./sending.ts";
import { namingText, randomSuffix } from "../sessions.ts";
import { absolute, configPath, remoteSetting, switchVariable } from "../settings.ts";
import { MOST_REMOTE_MS } from "../remote/given_remote.ts";
import type { RunRemote } from "../remote/run_remote.ts";
import { stopOnSignals } from "../signals.ts";
import { dim } from "../terminal.ts";
import { askAtTerminal } from "./ask.ts";

/** A run before its session is open. */
interface CalledRun {
  readonly call: SettingCall<RunFlags>;
  /** Answers the requests from the fixture of the call; `null` without a fixture. */
  readonly played: ReportingSend | null;
  /** The settings of a run in a new session; `null` if they depend on an existing session. */
  readonly fresh: ResolvedRun | null;
  readonly start: RunStart;
  /** Checks answers; absent without an output schema. */
  readonly check: AnswerCheck | undefined;
  readonly strictDrift: boolean;
  readonly stop: Stop;
}

export async function runVerb(
  live: ProgramPorts,
  argument: string | undefined,
  flags: RunFlags,
): Promise<ExitCode> {
  requireFlagsThatFit(flags);
  const call = readCall(live, flags);
  const { context, ports } = call;
  const { output } = context;
  const strict = call.fixture === null && switchVariable(ports, ["REPRISE_STRICT_DRIFT"]) === true;
  // Reports missing settings before a session is created.
  const fresh = call.selector === null ? await resolve(call, null) : null;
  // Refuses a schema that cannot be checked before a request costs money.
  const check = call.outputSchema === null
    ? undefined
    : await (await import("../../run/output_schema.ts")).answerCheck(call.outputSchema.schema ?? null);
  if (flags.output !== undefined) requireAnswerFile(flags.output);
  if (flags.record !== undefined) requireNewFolder(ports.files, absolute(ports, flags.record), "record");
  const deadline = ports.clock.monotonic() + flags.timeout * 1000;
  const start = await resolveStart(argument, call);
  if (flags.dryRun === true) return await previewRun(call, { start, check });
  const played = await fixtureSend(call);

  const stop = new Stop(deadline);
  // A screen that fails in another way costs no answer: it is saved, and the exit code says what failed.
  output.onClosed(() => {
    if (output.isUnread) stop.request("broken_pipe");
  });
  const release = stopOnSignals(ports, stop);
  try {
    const strictDrift = strict && flags.acceptDrift !== true;
    const called = { call, played, fresh, start, check, strictDrift, stop };
    const opened = openHome(ports, context.home.value, { create: true });
    const remote = await openRunRemote(opened, called);
    const writer = await openSession(opened, called, remote);
    try {
      return await runIn(writer, { ...called, call: inWorkspace(call, writer) }, remote);
    } finally {
      writer.close();
    }
  } finally {
    release();
  }
}

function requireFlagsThatFit(flags: RunFlags): void {
  const { record, fixture, maxCost } = flags;
  requireComparison(flags);
  if (flags.body === true && flags.dryRun !== true) {
    throw new RepriseError("usage", "Cannot use --body without --dry-run", { hint: "Add --dry-run" });
  }
  if (record !== undefined && fixture !== undefined) {
    throw new RepriseError(
      "usage",
      "Cannot use --record and --fixture together: a played run is recorded already",
      { hint: "Give one of them" },
    );
  }
  if (record !== undefined && maxCost !== undefined) {
    throw new RepriseError(
      "usage",
      "Cannot use --record and --max-cost together: a replay has no prices, so its requests would differ",
      { hint: "Limit the run with --max-tokens" },
    );
  }
}

async function resolve(
  call: SettingCall<RunFlags>,
  manifest: SessionWriter["manifest"],
): Promise<ResolvedRun> {
  const key = call.flags.dryRun === true ? "if_set" : "required";
  return await withOutputPrice(resolveRun(call, manifest, { key, endpoint: "named" }));
}

/** Opens the session under its lock; a stop ends the wait for the lock. */
async function openSession(
  home: Home,
  called: CalledRun,
  remote: RunRemote | null,
): Promise<SessionWriter> {
  try {
    return await openOrCreate(home, called, remote);
  } catch (error) {
    const stopped = called.stop.error;
    throw stopped === null
      ? error
      : new RepriseError(stopped.code, stopped.message, { hint: "Nothing was done: run the command again" });
  }
}

async function openOrCreate(
  home: Home,
  { call: { ports, flags, selector, choice }, fresh, start, stop: { signal } }: CalledRun,
  remote: RunRemote | null,
): Promise<SessionWriter> {
  const create = (id: SessionId) => remote?.create(id) ?? SessionWriter.create(ports, home, { id });
  if (selector !== null) {
    const here = () => resolveSession(ports, home, { selector, ...choice });
    const id = await remote?.selected(selector, here) ?? here();
    const options = { id, waitMs: flags.wait * 1000, signal };
    return await (remote?.continue(options) ?? SessionWriter.open(ports, home, options));
  }
  if (flags.session !== undefined) return await create(parseSessionId(flags.session));
  let name = start.prompt ?? "";
  if (flags.record !== undefined) {
    // The fixture holds the id, and must hold no secret.
    const { recordingScrubber } = await import("./run_recording.ts");
    name = recordingScrubber(fresh?.key ?? null, flags.notSecret).text(name);
  } else if (flags.fixture === undefined) {
    name = await namingText(name);
  }
  // A played run has the id that it had when it was recorded.
  const isRepeatable = flags.record !== undefined || flags.fixture !== undefined;
  const slug = isRepeatable ? slugOf(name) : freeSlugOf(name, sessionNames(ports, home));
  const base = `${slug}-${randomSuffix(ports)}`;
  for (let attempt = 1;; attempt++) {
    const id = parseSessionId(attempt === 1 ? base : `${base}-${attempt}`);
    try {
      return await create(id);
    } catch (error) {
      if (!(error instanceof RepriseError && error.code === "session_exists")) throw error;
    }
  }
}

/** The call in the workspace of its session, if that is a directory above. */
function inWorkspace(call: SettingCall<RunFlags>, { manifest }: SessionWriter): SettingCall<RunFlags> {
  const root = manifest?.pins.workspace;
  if (call.selector === null || root === undefined || !call.choice.parents.includes(root)) return call;
  call.context.output.note(dim(`workspace ${root}`));
  return { ...call, root, given: { ...call.given, workspace: root } };
}

/** The remote that the call saves to; `null` without one, and if a fixture is played. Its code is loaded only then. */
async function openRunRemote(home: Home, { call }: CalledRun): Promise<RunRemote | null> {
  const { ports, config, fixture, flags } = call;
  if (fixture !== null && flags.remote !== undefined) {
    throw new RepriseError(
      "usage",
      "Cannot use --remote with a fixture: a played run writes to this home alone",
      { hint: "Leave --remote out" },
    );
  }
  const setting = fixture === null ? remoteSetting(ports, flags.remote, config) : null;
  if (setting === null) return null;
  const { RunRemote } = await import("../remote/run_remote.ts");
  return await RunRemote.open(ports, home, {
    address: setting.value,
    takeOver: flags.takeOver === true,
    timeoutMs: Math.min(flags.timeout * 1000, MOST_REMOTE_MS),
  });
}

async function runIn(
  writer: SessionWriter,
  called: CalledRun,
  remote: RunRemote | null,
): Promise<ExitCode> {
  const { call, start } = called;
  const { context: { output }, flags } = call;
  const resolved = called.fresh ?? await resolve(call, writer.manifest);
  const isNew = writer.manifest === null;
  const view = new RunView(output, flags);
  const progress = new RunProgressLine(output, call.ports);
  const printed = flags.blobs ? (event: RunEvent) => event : await withoutBlobs();
  const show = (given: RunEvent) => {
    progress.follow(given);
    const event = given.type === "error" && typeof given.hint === "string"
      ? { ...given, hint: hintAtHome(given.hint, flags.home) }
      : given;
    if (output.options.json) output.json<"run-event">(printed(event));
    else view.show(event);
  };
  // The answer's file and the recording may change the exit code: the last events wait for them.
  const last: RunEvent[] = [];
  const emit = (event: RunEvent) => {
    if (event.type === "error" || event.type === "run.ended") last.push(event);
    else if (event.type === "turn.saved" && remote !== null) show({ ...event, remote: "stored" });
    else show(event);
  };
  const recording = await startRecording(writer, resolved, flags);
  const live = await transportSend(call.ports, resolved, {
    recording,
    onFallback: (message) => emit({ type: "notice", kind: "transport", message }),
  });
  const setup = setupOf(writer, called, { resolved, live, emit, hasRemote: remote !== null });
  emit({ type: "session", id: writer.id, path: writer.path, new: isNew });
  for (const notice of remote?.notices ?? []) emit({ type: "notice", ...notice });
  if (resolved.lost !== null) emit({ type: "notice", kind: "instructions_lost", message: resolved.lost });
  let ended: RunEnded;
  try {
    ended = await executeRun(setup, start);
  } catch (error) {
    await recording?.abandon();
    throw error;
  } finally {
    progress.stop();
    live.close();
  }
  const recorded = await recording?.finish(ended, setup, { flags, isNew, start });
  if (recorded !== undefined) show({ type: "notice", ...recorded.notice });
  const unwritten = ended.state !== "completed" || flags.output === undefined
    ? null
    : writeAnswer(flags.output, ended.text);
  const failure = ended.exit_code === 0 ? unwritten ?? recorded?.failure ?? null : null;
  if (failure !== null) last.splice(0, 0, { ...failure.toJSON(), type: "error" });
  for (const event of last) {
    show(event.type === "run.ended" && failure !== null ? { ...event, exit_code: failure.exitCode } : event);
  }
  return output.closed ? output.closedExitCode : failure?.exitCode ?? ended.exit_code;
}

/** Loads the function for `--no-blobs`: of all events, only items hold encrypted content. */
async function withoutBlobs(): Promise<(event: RunEvent) => JsonDocument<"run-event">> {
  const { withoutBlobs } = await import("../../domain/without_blobs.ts");
  return (event) => event.type === "item" ? { ...event, item: withoutBlobs(event.item) } : event;
}

function setupOf(
  writer: SessionWriter,
  { call, played, stop, check, strictDrift }: CalledRun,
  { resolved, live, emit, hasRemote }: Pick<RunSetup, "emit"> & {
    readonly resolved: ResolvedRun;
    readonly live: LiveSend;
    readonly hasRemote: boolean;
  },
): RunSetup {
  let keys: Promise<KeyFinder> | undefined;
  const { context: { home, output }, ports, playback, root, given, config, flags: { notSecret } } = call;
  const { endpoint, key, permissions } = resolved;
  return {
    ...requestSettings(resolved, writer),
    ports,
    writer,
    send: ports.wrapSend(played?.((report) => emit({ type: "notice", ...report })) ?? live.send),
    emit,
    stop,
    urlOf: (path) => endpoint.urlOf(path),
    key,
    costOf: call.fixture === null ? (turn) => costOfTurn(ports, turn) : null,
    ...defined({ answerCheck: check }),
    resumeFlags: resumeFlags(given),
    configRules: policyText(configuredPolicy(config)).filter((line) => line !== "read"),
    knownTools: ALL_TOOLS.map(ports.wrapTool),
    gate: new PermissionGate(
      permissions.policy,
      permissions.policy.ask ? askAtTerminal(ports, output, stop.signal) : null,
    ),
    playback,
    keys: () =>
      keys ??= import("./own_keys.ts").then(({ ownKeys }) => ownKeys({ ports, key, hasRemote, notSecret })),
    strictDrift,
    protectedPaths: protectedPaths(ports, home.value),
    workspaceRoot: root,
  };
}

async function startRecording(
  writer: SessionWriter,
  resolved: ResolvedRun,
  { record, notSecret }: RunFlags,
): Promise<RunRecording | null> {
  if (record === undefined) return null;
  const { ports, context } = resolved.call;
  const { RunRecording } = await import("./run_recording.ts");
  const home = openHome(ports, context.home.value, { create: false });
  return new RunRecording({ ports, home, directory: absolute(ports, record), writer, notSecret }, resolved);
}

/** The given flags that the next run needs too. */
function resumeFlags(flags: RunFlags): string[] {
  const repeated = Object.entries<Flag>(RUN_FLAGS).filter(([, { repeats }]) => repeats);
  return flagArguments(
    RUN_FLAGS,
    Object.fromEntries(repeated.map(([name]) => [name, flags[name as keyof RunFlags]])),
  );
}

/** The program's own files: no tool writes there, even inside the workspace. */
function protectedPaths(ports: Ports, home: string): string[] {
  const config = configPath(ports);
  return config === null ? [home] : [home, config.slice(0, config.lastIndexOf("/"))];
}
