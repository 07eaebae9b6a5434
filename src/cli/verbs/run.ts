/** The verb `run`: one run of a new session, or the next one of a session. */
import type { ExitCode } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { playable } from "../../fixture/read.ts";
import { dialectOf } from "../../provider/dialects.ts";
import type { RunEvent } from "../../run/events.ts";
import { executeRun } from "../../run/loop.ts";
import { PermissionGate } from "../../run/permission_gate.ts";
import type { RunSetup, RunStart } from "../../run/setup.ts";
import { Stop } from "../../run/stop.ts";
import { openHome } from "../../store/home.ts";
import type { SessionWriter } from "../../store/writer.ts";
import { ALL_TOOLS } from "../../tools/registry.ts";
import { createLiveSend } from "../../transport/live.ts";
import { createPlayer } from "../../transport/player.ts";
import { writeAnswer } from "../answer_file.ts";
import { askAtTerminal } from "../ask.ts";
import { DEFAULT_INSTRUCTIONS } from "../default_instructions.ts";
import { openSession, type Start } from "../open_session.ts";
import { postureOf } from "../posture.ts";
import { previewRun } from "../preview.ts";
import { planRun, type RunFlags, type RunPlan, runTarget } from "../run_plan.ts";
import { readOutputSchema, reasoningSettings, replaySetting, textOrFile } from "../run_settings.ts";
import { RunView } from "../run_view.ts";
import { sessionInstructions } from "../session_instructions.ts";
import { configPath } from "../settings.ts";
import { stopOnSignals } from "../signals.ts";
import { promptText } from "../stdin.ts";
import { liveTimeouts } from "../timeouts.ts";

/** Performs `run`. */
export async function runVerb(prompt: string | undefined, flags: RunFlags): Promise<ExitCode> {
  const plan = planRun(flags);
  const { context, ports } = plan;
  const resumes = plan.selector !== null;
  const deadline = ports.clock.monotonic() + flags.timeout * 1000;
  const words = await promptText(prompt, { resumes, timeoutMs: flags.timeout * 1000 });
  if (flags.dryRun === true) return previewRun(plan, words);

  const stop = new Stop();
  const { output } = context;
  output.onClosed(() => stop.request("broken_pipe"));
  const release = stopOnSignals(stop, Math.max(0, deadline - ports.clock.monotonic()));
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
  const { endpoint, key, model } = runTarget(plan, writer.manifest);
  const view = new RunView(output, {
    verbose: flags.verbose === true,
    acceptDrift: flags.acceptDrift === true,
  });
  const show = (event: RunEvent) => output.options.json ? output.json(event) : view.show(event);
  let exitCode: ExitCode | null = null;
  const emit = (event: RunEvent) => {
    if (event.type !== "run.ended" || event.state !== "completed" || flags.output === undefined) {
      return show(event);
    }
    const failure = writeAnswer(flags.output, event.text);
    if (failure === null) return show(event);
    exitCode = failure.exitCode;
    show({ ...failure.toJSON(), type: "error" });
    show({ ...event, exit_code: failure.exitCode });
  };
  const posture = postureOf(flags, writer.manifest);
  const setup: RunSetup = {
    ports,
    writer,
    dialect: dialectOf(endpoint.provider),
    send: fixture === null
      ? createLiveSend(ports, { ...liveTimeouts(ports), origin: endpoint.baseUrl.origin })
      : createPlayer(fixture.exchanges.map(playable), fixture.path),
    emit,
    stop,
    provider: endpoint.provider,
    urlOf: (path) => endpoint.urlOf(path),
    endpoint: endpoint.endpoint,
    key,
    model,
    instructions: runInstructions(plan, writer),
    tools: posture.offered,
    knownTools: ALL_TOOLS,
    gate: new PermissionGate(posture.policy, askAtTerminal(output, stop.signal)),
    permissions: posture.text,
    failOnDenied: flags.failOnDenied === true,
    strictDrift: fixture === null && flags.acceptDrift !== true && isOn(ports.env("REPRISE_STRICT_DRIFT")),
    protectedPaths: protectedPaths(ports, context.home.value),
    workspaceRoot: plan.root,
    replay: replaySetting(ports, flags, fixture),
    window: flags.replayWindow ?? null,
    ...reasoningSettings(ports, flags, { config: context.config, fixture }),
    ...(flags.outputSchema === undefined
      ? {}
      : { outputSchema: readOutputSchema(ports, flags.outputSchema) }),
    maxSteps: flags.maxSteps,
    ...(flags.autoCompact === undefined ? {} : { autoCompact: flags.autoCompact }),
    ...(flags.maxTokens === undefined ? {} : { maxTokens: flags.maxTokens }),
  };
  emit({ type: "session", id: writer.id, path: writer.path, new: writer.manifest === null });
  const start: RunStart = words === null
    ? { kind: "continue" }
    : { kind: "prompt", content: [{ type: "input_text", text: words }] };
  const ended = await executeRun(setup, start);
  return output.closed ? output.closedExitCode : exitCode ?? ended.exit_code;
}

/** The flag's words, else what the session has; a new one starts with ours. */
function runInstructions({ context, ports, flags }: RunPlan, { id, manifest }: SessionWriter): string {
  if (flags.instructions !== undefined) return textOrFile(ports, flags.instructions, "--instructions");
  if (manifest === null) return DEFAULT_INSTRUCTIONS;
  const home = openHome(ports, context.home.value, { create: false });
  return sessionInstructions(ports, home, { id, manifest });
}

/** Any value but an empty or a false one. */
function isOn(variable: string | undefined): boolean {
  return !["", "0", "false", "off", "no"].includes((variable ?? "").toLowerCase());
}

/** Our own files: no tool writes there, wherever the workspace lies. */
function protectedPaths(ports: Ports, home: string): string[] {
  const config = configPath(ports);
  return config === null ? [home] : [home, config.slice(0, config.lastIndexOf("/"))];
}
