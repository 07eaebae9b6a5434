/** The verb `run`: one run of a new session, or the next one of a session. */
import { type ExitCode, ReprError } from "../../domain/errors.ts";
import { parseSessionId, slugOf } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { type Fixture, readFixture } from "../../fixture/fixture.ts";
import { openaiResponses } from "../../provider/openai/dialect.ts";
import type { RunEvent } from "../../run/events.ts";
import { executeRun } from "../../run/loop.ts";
import type { RunSetup, RunStart } from "../../run/setup.ts";
import { Stop } from "../../run/stop.ts";
import { type Home, openHome, resolveSession } from "../../store/home.ts";
import { SessionWriter } from "../../store/writer.ts";
import { canonicalRoot } from "../../tools/confine.ts";
import { READING_TOOLS } from "../../tools/registry.ts";
import { createLiveSend } from "../../transport/live.ts";
import { createPlayer } from "../../transport/player.ts";
import { type CommonFlags, type Context, makeContext } from "../context.ts";
import { DEFAULT_INSTRUCTIONS } from "../default_instructions.ts";
import { fixturePorts } from "../fixture_ports.ts";
import {
  type Endpoint,
  endpointSetting,
  keySetting,
  modelSetting,
  readOutputSchema,
  reasoningSettings,
  replaySetting,
  type RequestFlags,
  textOrFile,
} from "../run_settings.ts";
import { sessionInstructions } from "../session_instructions.ts";
import { RunView } from "../run_view.ts";
import { absolute } from "../settings.ts";
import { requireAnswerFile, writeAnswer } from "../answer_file.ts";
import { stopOnSignals } from "../signals.ts";
import { noPrompt, readPrompt } from "../stdin.ts";
import { liveTimeouts } from "../timeouts.ts";
import { previewRun } from "../preview.ts";

/** The flags of `run`. */
export interface RunFlags extends CommonFlags, RequestFlags {
  readonly session?: string | undefined;
  readonly continue?: true | undefined;
  readonly new?: true | undefined;
  readonly workspace?: string | undefined;
  readonly maxSteps: number;
  readonly maxTokens?: number | undefined;
  readonly timeout: number;
  readonly wait: number;
  readonly fixture?: string | undefined;
  readonly output?: string | undefined;
  readonly dryRun?: true | undefined;
}

/** Performs `run`. */
export async function runVerb(prompt: string | undefined, flags: RunFlags): Promise<ExitCode> {
  checkFlags(flags);
  const context = makeContext(flags);
  const fixture = flags.fixture === undefined
    ? null
    : readFixture(context.ports.files, absolute(flags.fixture));
  const ports = fixture === null ? context.ports : fixturePorts(context.ports, fixture);
  const plan = planRun({ context, ports, fixture, flags });
  const resumes = plan.selector !== null;
  // What is missing is told before anyone waits for stdin, and before a session is made.
  if (!resumes) modelSetting(ports, flags, { config: context.config, fixture, manifest: null });
  checkFiles(ports, flags);
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

/** Everything about a run that is known before its session is open. */
export interface RunPlan {
  readonly context: Context;
  readonly ports: Ports;
  readonly fixture: Fixture | null;
  readonly flags: RunFlags;
  readonly endpoint: Endpoint;
  readonly key: string | null;
  readonly root: string;
  /** The session to go on with; `null` for a new one. */
  readonly selector: string | null;
}

function checkFlags(flags: RunFlags): void {
  if (flags.session !== undefined && flags.continue === true) {
    throw new ReprError("usage", "Cannot use --session and --continue together: each names a session", {
      hint: "Give one of them",
    });
  }
  if (flags.new === true && flags.continue === true) {
    throw new ReprError(
      "usage",
      "Cannot use --new and --continue together: one begins a session, one goes on",
      { hint: "Give one of them" },
    );
  }
}

/** Every file that a flag names can be read, and the answer's can be made. */
function checkFiles(ports: Ports, flags: RunFlags): void {
  if (flags.instructions !== undefined) textOrFile(ports, flags.instructions, "--instructions");
  if (flags.outputSchema !== undefined) readOutputSchema(ports, flags.outputSchema);
  liveTimeouts(ports);
  if (flags.output !== undefined) requireAnswerFile(flags.output);
}

function planRun(
  { context, ports, fixture, flags }: Pick<RunPlan, "context" | "ports" | "fixture" | "flags">,
): RunPlan {
  const endpoint = endpointSetting(ports, flags, { config: context.config, fixture });
  const key = fixture === null && flags.dryRun !== true ? keySetting(ports, endpoint) : null;
  const selector = flags.continue === true ? "@last" : flags.new === true ? null : flags.session ?? null;
  return { context, ports, fixture, flags, endpoint, key, root: workspaceRoot(flags.workspace), selector };
}

function workspaceRoot(flag: string | undefined): string {
  const path = flag ?? ".";
  try {
    return canonicalRoot(path);
  } catch (cause) {
    throw new ReprError(
      "usage",
      `Cannot use the workspace "${path}": it is no directory that can be opened`,
      {
        hint: "Give -w a directory that exists",
        cause,
      },
    );
  }
}

/** The prompt, or `null` where an unfinished run goes on without one. */
async function promptText(
  prompt: string | undefined,
  options: { readonly resumes: boolean; readonly timeoutMs: number },
): Promise<string | null> {
  if (prompt === "-") return await readPrompt(options.timeoutMs);
  if (prompt !== undefined) {
    if (prompt.trim() === "") throw noPrompt("the argument is empty");
    return prompt.toWellFormed();
  }
  return options.resumes ? null : await readPrompt(options.timeoutMs);
}

interface Start {
  /** `null` to go on without a prompt. */
  readonly words: string | null;
  readonly stop: Stop;
}

/** The session under its lock; a stop while waiting for it ends the waiting. */
async function openSession(home: Home, plan: RunPlan, start: Start): Promise<SessionWriter> {
  try {
    return await lockSession(home, plan, start);
  } catch (error) {
    const stopped = start.stop.error;
    throw stopped === null
      ? error
      : new ReprError(stopped.code, stopped.message, { hint: "Nothing was done: run the command again" });
  }
}

async function lockSession(home: Home, plan: RunPlan, { words, stop }: Start): Promise<SessionWriter> {
  const { ports, flags } = plan;
  const { signal } = stop;
  if (plan.selector !== null) {
    const id = resolveSession(ports, home, {
      selector: plan.selector,
      workspace: ports.workspacePin(plan.root),
    });
    return await SessionWriter.open(ports, home, { id, waitMs: flags.wait * 1000, signal });
  }
  if (flags.session !== undefined) {
    return await SessionWriter.create(ports, home, { id: parseSessionId(flags.session) });
  }
  const base = `${slugOf(words ?? "")}-${randomSuffix(ports)}`;
  for (let attempt = 1;; attempt++) {
    const id = parseSessionId(attempt === 1 ? base : `${base}-${attempt}`);
    try {
      return await SessionWriter.create(ports, home, { id });
    } catch (error) {
      if (!(error instanceof ReprError && error.code === "session_exists")) throw error;
    }
  }
}

const SUFFIX_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz";

function randomSuffix(ports: Ports): string {
  return Array.from({ length: 4 }, () => SUFFIX_LETTERS[Math.floor(ports.random() * SUFFIX_LETTERS.length)])
    .join("");
}

async function runIn(
  writer: SessionWriter,
  plan: RunPlan,
  { words, stop }: Start,
): Promise<ExitCode> {
  const { context, ports, fixture, flags, endpoint } = plan;
  const { output } = context;
  const view = new RunView(output);
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
  const model =
    modelSetting(ports, flags, { config: context.config, fixture, manifest: writer.manifest }).value;
  const setup: RunSetup = {
    ports,
    writer,
    dialect: openaiResponses,
    send: fixture === null
      ? createLiveSend(ports, { ...liveTimeouts(ports), origin: endpoint.baseUrl.origin })
      : createPlayer(fixture.exchanges, fixture.path),
    emit,
    stop,
    provider: endpoint.provider,
    baseUrl: endpoint.prefix,
    endpoint: endpoint.endpoint,
    key: plan.key,
    model,
    instructions: runInstructions(plan, writer),
    tools: READING_TOOLS,
    permissions: ["read"],
    workspaceRoot: plan.root,
    replay: replaySetting(ports, flags, fixture),
    ...reasoningSettings(ports, flags, { config: context.config, fixture }),
    ...(flags.outputSchema === undefined
      ? {}
      : { outputSchema: readOutputSchema(ports, flags.outputSchema) }),
    maxSteps: flags.maxSteps,
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
