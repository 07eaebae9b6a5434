/** The verb `run`: one run of a new session, or the next one of a session. */
import type { ExitCode } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { apiOf } from "../../apis/apis.ts";
import type { RunEnded, RunEvent } from "../../run/events.ts";
import { executeRun } from "../../run/loop.ts";
import { PermissionGate } from "../../run/permission_gate.ts";
import type { RunSetup, RunStart } from "../../run/setup.ts";
import { Stop } from "../../run/stop.ts";
import { openHome } from "../../store/home.ts";
import type { SessionWriter } from "../../store/write/writer.ts";
import { ALL_TOOLS } from "../../tools/registry.ts";
import { createLiveSend } from "../../transport/live.ts";
import { writeAnswer } from "./answer_file.ts";
import { askAtTerminal } from "./ask.ts";
import type { RunFlags } from "./command.ts";
import { DEFAULT_INSTRUCTIONS } from "./default_instructions.ts";
import { fixtureSend } from "./fixture_ports.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { openSession, type Start } from "./open_session.ts";
import { postureOf } from "./permissions.ts";
import { previewRun } from "./preview.ts";
import { planRun, type RunPlan, type RunTarget, runTarget } from "./run_plan.ts";
import { requestIdentity } from "./request_identity.ts";
import type { RunRecording } from "./run_recording.ts";
import { readOutputSchema, reasoningSettings, replaySetting, textOrFile } from "./run_settings.ts";
import { RunView } from "./run_view.ts";
import { sessionInstructions } from "./session_instructions.ts";
import { absolute, configPath } from "../settings.ts";
import { stopOnSignals } from "./signals.ts";
import { promptText } from "./stdin.ts";
import { liveTimeouts } from "./timeouts.ts";

/** Performs `run`. */
export async function runVerb(
  live: ProgramPorts,
  prompt: string | undefined,
  flags: RunFlags,
): Promise<ExitCode> {
  const plan = planRun(live, flags);
  const { context, ports } = plan;
  const resumes = plan.selector !== null;
  const deadline = ports.clock.monotonic() + flags.timeout * 1000;
  const words = await promptText(ports.stdin, prompt, { resumes, timeoutMs: flags.timeout * 1000 });
  if (flags.dryRun === true) return previewRun(plan, words);

  const stop = new Stop();
  const { output } = context;
  output.onClosed(() => stop.request("broken_pipe"));
  const release = stopOnSignals(ports, stop, Math.max(0, deadline - ports.clock.monotonic()));
  try {
    const home = openHome(ports, context.home.value, { create: true });
    const writer = await openSession(home, plan, { words, stop });
    try {
      return await runIn(writer, plan, { words, stop });
    } finally {
      writer.close();
    }
  } finally {
    release();
  }
}

async function runIn(
  writer: SessionWriter,
  plan: RunPlan,
  { words, stop }: Start,
): Promise<ExitCode> {
  const { context, ports, fixture, flags } = plan;
  const { output } = context;
  const target = runTarget(plan, writer.manifest);
  const { endpoint, key, model } = target;
  const view = new RunView(output, {
    verbose: flags.verbose === true,
    acceptDrift: flags.acceptDrift === true,
  });
  const show = (event: RunEvent) => output.options.json ? output.json(event) : view.show(event);
  // How the run ended is told last: the answer's file and the recording have their say in it.
  const last: RunEvent[] = [];
  const emit = (event: RunEvent) => {
    if (event.type === "error" || event.type === "run.ended") last.push(event);
    else show(event);
  };
  const posture = postureOf(flags, writer.manifest);
  const live = createLiveSend(ports, { ...liveTimeouts(ports), origin: endpoint.baseUrl.origin });
  const isNew = writer.manifest === null;
  const lost: string[] = [];
  const instructions = runInstructions(plan, writer, (message) => lost.push(message));
  const identity = requestIdentity(endpoint, {
    played: fixture !== null,
    key,
    family: writer.manifest?.family ?? writer.id,
    turns: writer.turns,
  });
  const recording = await startRecording(writer, plan, target);
  const setup: RunSetup = {
    ports,
    writer,
    api: apiOf(endpoint.provider),
    send: ports.wrapSend(
      fixture === null ? recording?.over(live) ?? live : fixtureSend(ports, fixture),
    ),
    emit,
    stop,
    provider: endpoint.provider,
    urlOf: (path) => endpoint.urlOf(path),
    endpoint: endpoint.endpoint,
    ...(endpoint.portless === undefined ? {} : { portless: endpoint.portless }),
    ...identity,
    endpointFlags: endpointFlags(flags),
    key,
    model,
    instructions,
    tools: posture.offered,
    knownTools: ALL_TOOLS.map(ports.wrapTool),
    gate: new PermissionGate(posture.policy, askAtTerminal(ports.stdin, output, stop.signal)),
    ...(plan.playback === null ? {} : { playback: plan.playback }),
    permissions: posture.text,
    failOnDenied: flags.failOnDenied === true,
    strictDrift: plan.strictDrift,
    protectedPaths: protectedPaths(ports, context.home.value),
    workspaceRoot: plan.root,
    replay: replaySetting(ports, flags, fixture),
    window: flags.replayWindow ?? null,
    ...reasoningSettings(ports, flags, { config: context.config, fixture, manifest: writer.manifest }),
    ...(flags.outputSchema === undefined
      ? {}
      : { outputSchema: readOutputSchema(ports, flags.outputSchema) }),
    maxSteps: flags.maxSteps,
    ...(flags.autoCompact === undefined ? {} : { autoCompact: flags.autoCompact }),
    ...(flags.maxTokens === undefined ? {} : { maxTokens: flags.maxTokens }),
  };
  emit({ type: "session", id: writer.id, path: writer.path, new: isNew });
  for (const message of lost) emit({ type: "notice", kind: "instructions_lost", message });
  const start: RunStart = words === null
    ? { kind: "continue" }
    : { kind: "prompt", content: [{ type: "input_text", text: words }] };
  let ended: RunEnded;
  try {
    ended = await executeRun(setup, start);
  } catch (error) {
    await recording?.abandon();
    throw error;
  }
  const recorded = await recording?.finish(ended, setup, { flags, isNew, words });
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

/** The recording that `--record` asks for. */
async function startRecording(
  writer: SessionWriter,
  { ports, context, flags }: RunPlan,
  target: RunTarget,
): Promise<RunRecording | null> {
  if (flags.record === undefined) return null;
  const { RunRecording } = await import("./run_recording.ts");
  const home = openHome(ports, context.home.value, { create: false });
  const place = { ports, home, directory: absolute(ports, flags.record), writer, notSecret: flags.notSecret };
  return RunRecording.start(place, target);
}

/** The flags that name the endpoint, as the next call has to repeat them. */
function endpointFlags({ provider, baseUrl }: RunFlags): string[] {
  return [
    ...(provider === undefined ? [] : ["-p", provider]),
    ...(baseUrl === undefined ? [] : ["--base-url", baseUrl]),
  ];
}

/** The flag's words, else what the session has; a new one starts with ours. */
function runInstructions(
  { context, ports, flags }: RunPlan,
  { id, manifest }: SessionWriter,
  onLost: (message: string) => void,
): string {
  if (flags.instructions !== undefined) return textOrFile(ports, flags.instructions, "--instructions");
  if (manifest === null) return DEFAULT_INSTRUCTIONS;
  const home = openHome(ports, context.home.value, { create: false });
  return sessionInstructions(ports, home, { id, manifest }, onLost);
}

/** Our own files: no tool writes there, wherever the workspace lies. */
function protectedPaths(ports: Ports, home: string): string[] {
  const config = configPath(ports);
  return config === null ? [home] : [home, config.slice(0, config.lastIndexOf("/"))];
}
