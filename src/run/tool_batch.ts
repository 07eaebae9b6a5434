/**
 * Runs the calls of one response, or plays their recorded results. Calls are checked and decided in call order. They run
 * in parallel if all of them only read, otherwise one after the other, each result durable before the next call starts.
 * Results are kept in call order.
 */
import type { EventDraft, ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import { callArgumentsOf, callIdOf, callNameOf } from "../domain/item.ts";
import type { JsonObject } from "../domain/json.ts";
import { fitBytes, type ToolOutput } from "../tools/output.ts";
import { hiddenPaths } from "../tools/permission/policy.ts";
import { parseArguments } from "../tools/registry.ts";
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts";
import type { Decision, GatedCall, Question } from "./permission_gate.ts";
import type { DeniedCall } from "../schemas/run_events.ts";
import { fallbackResult, type ToolResultDraft } from "./recover.ts";
import type { Emit, RunSetup, ToolPlayback } from "./setup.ts";
import { CallKeys } from "./tool_keys.ts";
import { headOf } from "../domain/text.ts";

/** Most bytes of all outputs of a batch in their turn; longer outputs are kept in blobs. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Runs a batch, and returns the denied calls in call order. Never throws for errors of a model, a person or a tool.
 *
 * @throws {RepriseError} `fixture_miss` if recorded results are played and a call has none.
 */
export async function runToolBatch(
  setup: RunSetup,
  calls: readonly ToolCallEvent[],
  save: SaveEvents,
): Promise<readonly DeniedCall[]> {
  const { playback } = setup;
  const jobs = playback === null ? await liveJobs(setup, calls) : playedJobs(setup, playback, calls);
  return await keepBatch(jobs, save);
}

/** Decides all calls of a batch, in call order, before any of them runs. */
async function liveJobs(setup: RunSetup, calls: readonly ToolCallEvent[]): Promise<Job[]> {
  const { gate } = setup;
  const seen = new Set<unknown>();
  const checked = calls.map((call) => {
    const duplicate = seen.size === seen.add(callIdOf(call.item)).size;
    return checkCall(setup, call, duplicate);
  });
  const open = checked.filter((each) => "subject" in each && gate.decide(each) === null);
  const share = Math.floor(MAX_BATCH_BYTES / calls.length);
  const jobs: Job[] = [];
  for (const each of checked) {
    const place = { number: open.indexOf(each) + 1, of: open.length };
    const job = "subject" in each ? await decideCall(setup, each, place) : each;
    jobs.push({ ...job, result: async () => withinShare(setup, await job.result(), share) });
  }
  return jobs;
}

/** A call with valid arguments, which needs a decision. */
interface CheckedCall extends GatedCall {
  readonly call: ToolCallEvent;
  readonly tool: Tool;
  readonly args: JsonObject;
}

/** Resolves the tool and the arguments of a call. */
function checkCall(setup: RunSetup, call: ToolCallEvent, duplicate: boolean): CheckedCall | Job {
  const refuse = (status: ToolResultStatus, output: string) => answered(setup, call, { status, output });
  if (duplicate) {
    return refuse(
      "duplicate_call_id",
      "The call was not run: another call of this response has the same call id.",
    );
  }
  const tool = setup.knownTools.find(({ name }) => name === callNameOf(call.item));
  if (tool === undefined || call.item.type === "custom_tool_call") {
    const names = setup.tools.map(({ name }) => name).join(", ");
    const asked = JSON.stringify(call.item.name ?? "");
    return refuse("unknown_tool", `There is no function tool named ${asked}. Tools: ${names || "none"}.`);
  }
  const argumentsText = callArgumentsOf(call.item);
  const parsed = parseArguments(tool, argumentsText);
  if (!parsed.ok) return refuse("invalid_arguments", parsed.message);
  try {
    const subject = tool.subject(parsed.args, contextOf(setup, tool));
    return { call, tool, args: parsed.args, argumentsText, subject };
  } catch (error) {
    if (error instanceof ToolFailure) return refuse("error", error.message);
    throw error;
  }
}

/** Decides a call; asks the person if rules leave it open. */
async function decideCall(
  setup: RunSetup,
  checked: CheckedCall,
  place: Pick<Question, "number" | "of">,
): Promise<Job> {
  const { gate, stop } = setup;
  const { call, tool, args, subject, argumentsText } = checked;
  const unstarted = { status: "not_run", output: NOT_STARTED } as const;
  if (stop.signal.aborted) return answered(setup, call, unstarted);
  let decision = gate.decide(checked);
  if (decision === null) {
    const change = await tool.change?.(args, contextOf(setup, tool)) ?? null;
    decision = await gate.ask({ subject, argumentsText, change, ...place });
    if (decision === null) stop.request("quit");
  }
  // A stop during the question is not the person's answer.
  if (decision === null || stop.signal.aborted) return answered(setup, call, unstarted);
  const recorded = decision.allowed && tool.group === "read" ? null : decisionEvent(call, decision);
  if (!decision.allowed) {
    const denied = gate.denied({ tool: tool.name, call_id: callIdOf(call.item), subject }, decision);
    const output = denialText(tool, decision);
    return { ...answered(setup, call, { status: "denied", output }), decision: recorded, denied };
  }
  return {
    decision: recorded,
    denied: null,
    changes: tool.group !== "read",
    starts: () => !stop.signal.aborted,
    result: () => perform(setup, checked),
  };
}

/** A call with a result that needs no tool. */
function answered(
  { emit }: RunSetup,
  call: ToolCallEvent,
  { status, output }: { readonly status: ToolResultStatus; readonly output: string },
): Job {
  const result = () => {
    const draft = fallbackResult(call, status, output.toWellFormed());
    emit({ type: "tool.finished", ...callFacts(call), status, output_chars: draft.output.length });
    return draft;
  };
  return { decision: null, denied: null, changes: false, starts: () => false, result };
}

const NOT_STARTED = "The run was stopped before this call was started.";

async function perform(setup: RunSetup, checked: CheckedCall): Promise<ToolResultDraft> {
  const { call, tool } = checked;
  if (setup.stop.signal.aborted) return fallbackResult(call, "not_run", NOT_STARTED);
  const facts = callFacts(call);
  setup.emit({ type: "tool.started", ...facts, arguments: callArgumentsOf(call.item) });
  const live = liveOutput(setup.emit, facts);
  const result = await runTool(setup, checked, live);
  const { status, output } = result;
  if (tool.group !== "read" || status !== "ok") live.end(output);
  setup.emit({ type: "tool.finished", ...facts, status, output_chars: output.length });
  return result;
}

/** Cuts an output that exceeds its share of the turn further; a blob keeps the whole output. */
function withinShare(setup: RunSetup, result: ToolResultDraft, maxBytes: number): ToolResultDraft {
  const { output, full } = fitBytes({ status: "ok", output: result.output }, maxBytes);
  if (full === undefined) return result;
  return { ...result, output, blob: result.blob ?? setup.writer.putBlob(full.bytes) };
}

async function runTool(
  setup: RunSetup,
  { call, tool, args, subject: { target: judged } }: CheckedCall,
  { onOutput }: LiveOutput,
): Promise<ToolResultDraft> {
  let output: ToolOutput | null;
  const keys = new CallKeys(await setup.keys(), onOutput);
  try {
    const live = (text: string) => keys.live(text);
    const work = tool.run(args, { ...contextOf(setup, tool), judged, cleaner: keys, onOutput: live });
    // Wait for a tool that makes changes, so that the processes it started are gone when the run ends.
    output = tool.group === "read" ? await orStopped(work, setup.stop.signal) : await work;
  } catch (error) {
    if (setup.stop.signal.aborted) output = null;
    else {
      const message = error instanceof Error ? error.message : String(error);
      return fallbackResult(call, "error", keys.text(`The tool failed: ${message}`).toWellFormed());
    }
  } finally {
    keys.end();
    const { call_id, name } = callFacts(call);
    const keyNames = [...keys.found];
    if (keyNames.length > 0) {
      setup.emit({ type: "notice", kind: "keys_replaced", call_id, name, keys: keyNames });
    }
  }
  if (output === null) {
    const text = "The run was stopped while this call ran. It may or may not have had an effect.";
    return fallbackResult(call, "interrupted", text);
  }
  const result = fallbackResult(call, output.status, output.output.toWellFormed());
  if (output.full === undefined) return result;
  const blob = setup.writer.putBlob(output.full.bytes, { lossy: output.full.lossy });
  return { ...result, blob };
}

/** The value, or `null` as soon as the run is stopped: a tool that ignores the stop cannot delay the end of the run. */
function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stopped = () => resolve(null);
    if (signal.aborted) stopped();
    signal.addEventListener("abort", stopped, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stopped));
  });
}

function contextOf(setup: RunSetup, tool: Tool): ToolContext {
  return {
    root: setup.workspaceRoot,
    signal: setup.stop.signal,
    protectedPaths: setup.protectedPaths,
    env: setup.ports.env,
    isHidden: hiddenPaths(setup.gate.policy, tool.name),
  };
}

/** The result of a denied call: enough for the model to stop trying, without help to evade the denial. */
function denialText(tool: Tool, decision: Decision): string {
  const why: Partial<Record<Decision["reason"], string>> = {
    denied_by_rule: "a rule of the user denies it",
    unclear_command: "only a shell can tell what the command line does, and the user denies some commands",
    not_allowed: "the user has not allowed it",
    no_terminal: "there is no terminal to ask on",
    asked_no: "the user said no",
  };
  const reason = why[decision.reason] ?? "it is not allowed";
  return `Denied: ${tool.name} was not run, because ${reason}. Go on without it, or say what is needed.`;
}

/** Most output of a call that is shown while it runs, in UTF-16 units. */
const MAX_LIVE_CHARS = 16_384;

/** The output of one call on its way to the screen. */
interface LiveOutput {
  readonly onOutput: (text: string) => void;
  /** Reports the result of a call that had no output while it ran. */
  readonly end: (result: string) => void;
}

/** Reports the output of a call, up to {@linkcode MAX_LIVE_CHARS}; the session keeps all of it. */
function liveOutput(emit: Emit, call: ReturnType<typeof callFacts>): LiveOutput {
  let room = MAX_LIVE_CHARS;
  const onOutput = (text: string) => {
    if (room === 0 || text === "") return;
    const shown = headOf(text, room);
    room = shown.length < text.length ? 0 : room - shown.length;
    emit({ type: "tool.output", ...call, text: shown, ...(room === 0 ? { truncated: true } : {}) });
  };
  return {
    onOutput,
    end: (result) => {
      if (room === MAX_LIVE_CHARS) onOutput(result);
    },
  };
}

/** Statuses of calls that were started. */
const STARTED: ReadonlySet<ToolResultStatus> = new Set(["ok", "error", "interrupted"]);

/**
 * Answers calls with recorded results. Executes nothing and asks no person.
 *
 * @throws {RepriseError} `fixture_miss` for a call without a record.
 */
function playedJobs(
  { emit, writer, gate }: Pick<RunSetup, "emit" | "writer" | "gate">,
  playback: ToolPlayback,
  calls: readonly ToolCallEvent[],
): Job[] {
  return calls.map((call) => {
    const facts = callFacts(call);
    const { call_id, name } = facts;
    const { decision: recorded, status, output, full } = playback.take({ callId: call_id, name });
    const decision = recorded === null ? null : {
      allowed: recorded.decision === "allowed",
      reason: recorded.reason,
      rule: recorded.rule ?? null,
    };
    return {
      decision: decision === null ? null : decisionEvent(call, decision),
      denied: decision === null || decision.allowed
        ? null
        : gate.denied({ tool: name, call_id, subject: null }, decision),
      // An allowed call that only reads is in no decision.
      changes: decision?.allowed === true,
      starts: () => STARTED.has(status),
      result: () => {
        if (STARTED.has(status)) {
          emit({ type: "tool.started", ...facts, arguments: callArgumentsOf(call.item) });
        }
        const result = fallbackResult(call, status, output);
        const blob = full === null ? {} : { blob: writer.putBlob(full.bytes, { lossy: full.lossy }) };
        emit({ type: "tool.finished", ...facts, status, output_chars: output.length });
        return { ...result, ...blob };
      },
    };
  });
}

/** Number of reading tools that run at the same time. */
const PARALLEL_TOOLS = 8;

/** Makes events of a batch durable: decisions in a turn of the harness, results in turns of tools. */
type SaveEvents = (kind: "harness" | "tools", events: readonly EventDraft[]) => Promise<void>;

/** A call whose result may be known before it. */
interface Job {
  /** `null` for a call that needs no decision on disk. */
  readonly decision: EventDraft | null;
  readonly denied: DeniedCall | null;
  /** True if the call is allowed and may change something. */
  readonly changes: boolean;
  /** True if a tool starts for {@linkcode Job.result}. */
  starts(): boolean;
  result(): ToolResultDraft | Promise<ToolResultDraft>;
}

/**
 * Makes all decisions durable before any tool starts, then the results in call order; returns the denied calls. In a
 * batch that makes changes, the results so far are durable before each start of a call.
 */
async function keepBatch(jobs: readonly Job[], save: SaveEvents): Promise<readonly DeniedCall[]> {
  const decisions = jobs.flatMap(({ decision }) => decision ?? []);
  if (decisions.length > 0) await save("harness", decisions);
  if (jobs.some(({ changes }) => changes)) await keepEach(jobs, save);
  else await keepTogether(jobs, save);
  return jobs.flatMap(({ denied }) => denied ?? []);
}

async function keepEach(jobs: readonly Job[], save: SaveEvents): Promise<void> {
  const waiting: EventDraft[] = [];
  for (const job of jobs) {
    if (job.starts() && waiting.length > 0) await save("tools", waiting.splice(0));
    waiting.push(await job.result());
  }
  await save("tools", waiting);
}

async function keepTogether(jobs: readonly Job[], save: SaveEvents): Promise<void> {
  const results = new Array<EventDraft>(jobs.length);
  const rest = jobs.entries();
  const worker = async () => {
    for (const [index, job] of rest) results[index] = await job.result();
  };
  await Promise.all(Array.from({ length: PARALLEL_TOOLS }, worker));
  await save("tools", results);
}

/** The call as run events name it. */
function callFacts({ seq, item }: ToolCallEvent) {
  return { seq, call_id: callIdOf(item), name: callNameOf(item) };
}

function decisionEvent(
  { seq, item }: ToolCallEvent,
  { allowed, reason, rule }: {
    readonly allowed: boolean;
    readonly reason: string;
    readonly rule: string | null;
  },
): EventDraft {
  return {
    type: "permission_decision",
    call_id: callIdOf(item),
    call_seq: seq,
    tool: callNameOf(item),
    decision: allowed ? "allowed" : "denied",
    reason,
    ...(rule === null ? {} : { rule }),
  };
}
