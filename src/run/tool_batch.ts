/**
 * Runs the calls of one response. Calls are checked and decided in call order. They run in parallel if all of them only
 * read, otherwise one after the other. Results come back in call order.
 *
 * @module
 */
import type { EventDraft, ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import { callArgumentsOf, callIdOf, callNameOf } from "../domain/item.ts";
import type { JsonObject } from "../domain/json.ts";
import { fitBytes, type ToolOutput } from "../tools/output.ts";
import {
  hiddenPaths,
  judgePermission,
  type PermissionVerdict,
  type Policy,
} from "../tools/permission/policy.ts";
import { parseArguments } from "../tools/registry.ts";
import { type CallSubject, type Target, type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import type { Emit } from "./events.ts";
import { fallbackResult } from "./recover.ts";
import type { RunSetup } from "./setup.ts";

/** Number of reading tools that run at the same time. */
const PARALLEL_TOOLS = 8;

/** Most bytes of all outputs of a batch in their turn; longer outputs are kept in blobs. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** Results of a batch. */
export interface BatchOutcome {
  /** One result for each call, in call order. */
  readonly results: readonly EventDraft[];
  readonly denials: number;
}

/** A checked call: answered already, or ready to run. */
type Prepared =
  | { readonly kind: "answered"; readonly result: EventDraft; readonly decision: EventDraft | null }
  | {
    readonly kind: "ready";
    readonly tool: Tool;
    readonly args: JsonObject;
    /** The target that was judged: the call runs only on it. */
    readonly judged: Target;
    readonly decision: EventDraft | null;
  };

/**
 * Runs a batch. `record` must make the decisions durable: it is called before the start of any tool that makes changes,
 * and for every denial. Never throws for errors of a model, a person or a tool.
 *
 * @throws {RepriseError} `fixture_miss` if recorded results are played and a call has none.
 */
export async function runToolBatch(
  setup: RunSetup,
  calls: readonly ToolCallEvent[],
  record: (decisions: readonly EventDraft[]) => void,
): Promise<BatchOutcome> {
  const { playback } = setup;
  const results = playback === null
    ? await performBatch(setup, calls, record)
    : playToolBatch(setup, { playback, calls }, record);
  const denials =
    results.filter((result) => result.type === "tool_result" && result.status === "denied").length;
  return { results, denials };
}

async function performBatch(
  setup: RunSetup,
  calls: readonly ToolCallEvent[],
  record: (decisions: readonly EventDraft[]) => void,
): Promise<readonly EventDraft[]> {
  const prepared: Prepared[] = [];
  const seen = new Set<unknown>();
  for (const call of calls) {
    const duplicate = seen.size === seen.add(callIdOf(call.item)).size;
    prepared.push(await prepare(setup, call, duplicate));
  }
  const decisions = prepared.flatMap(({ decision }) => decision === null ? [] : [decision]);
  if (decisions.length > 0) record(decisions);

  const results = new Array<EventDraft>(calls.length);
  const changes = prepared.some((each) => each.kind === "ready" && each.tool.group !== "read");
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < calls.length; index = next++) {
      const result = await perform(setup, calls[index] as ToolCallEvent, prepared[index] as Prepared);
      results[index] = withinShare(setup, result, Math.floor(MAX_BATCH_BYTES / calls.length));
    }
  };
  const workers = changes ? 1 : Math.min(PARALLEL_TOOLS, calls.length);
  await Promise.all(Array.from({ length: workers }, worker));
  return results;
}

/** Resolves a call's tool, arguments and permission before it runs. */
async function prepare(setup: RunSetup, call: ToolCallEvent, duplicate: boolean): Promise<Prepared> {
  const answered = (
    status: ToolResultStatus,
    output: string,
    decision: EventDraft | null = null,
  ): Prepared => ({
    kind: "answered",
    result: fallbackResult(call, status, output.toWellFormed()),
    decision,
  });
  if (duplicate) {
    return answered(
      "duplicate_call_id",
      "The call was not run: another call of this response has the same call id.",
    );
  }
  const tool = setup.knownTools.find(({ name }) => name === callNameOf(call.item));
  if (tool === undefined || call.item.type === "custom_tool_call") {
    const names = setup.tools.map(({ name }) => name).join(", ");
    const asked = JSON.stringify(call.item.name ?? "");
    return answered("unknown_tool", `There is no function tool named ${asked}. Tools: ${names || "none"}.`);
  }
  const argumentsText = callArgumentsOf(call.item);
  const parsed = parseArguments(tool, argumentsText);
  if (!parsed.ok) return answered("invalid_arguments", parsed.message);
  if (setup.stop.signal.aborted) return answered("not_run", NOT_STARTED);
  try {
    const subject = tool.subject(parsed.args, contextOf(setup, tool));
    const decision = await setup.gate.decide({ subject, argumentsText });
    // A stop during the question is not the person's answer.
    if (setup.stop.signal.aborted) return answered("not_run", NOT_STARTED);
    const recorded = decision.allowed && tool.group === "read" ? null : decisionEvent(call, tool, decision);
    if (decision.allowed) {
      return { kind: "ready", tool, args: parsed.args, judged: subject.target, decision: recorded };
    }
    return answered("denied", denialText(tool, decision), recorded);
  } catch (error) {
    if (error instanceof ToolFailure) return answered("error", error.message);
    throw error;
  }
}

const NOT_STARTED = "The run was stopped before this call was started.";

async function perform(setup: RunSetup, call: ToolCallEvent, prepared: Prepared): Promise<EventDraft> {
  if (prepared.kind === "ready" && setup.stop.signal.aborted) {
    return fallbackResult(call, "not_run", NOT_STARTED);
  }
  const facts = { seq: call.seq, call_id: callIdOf(call.item), name: callNameOf(call.item) };
  if (prepared.kind === "ready") {
    setup.emit({ type: "tool.started", ...facts, arguments: callArgumentsOf(call.item) });
  }
  const result = prepared.kind === "answered" ? prepared.result : await runTool(setup, call, prepared);
  if (result.type === "tool_result") {
    const { status, output } = result;
    setup.emit({ type: "tool.finished", ...facts, status, output_chars: output.length });
  }
  return result;
}

/** Cuts an output that exceeds its share of the turn further; a blob keeps the whole output. */
function withinShare(setup: RunSetup, result: EventDraft, maxBytes: number): EventDraft {
  if (result.type !== "tool_result") return result;
  const { output, full } = fitBytes({ status: "ok", output: result.output }, maxBytes);
  if (full === undefined) return result;
  return { ...result, output, blob: result.blob ?? setup.writer.putBlob(full.bytes) };
}

async function runTool(
  setup: RunSetup,
  call: ToolCallEvent,
  { tool, args, judged }: Extract<Prepared, { kind: "ready" }>,
): Promise<EventDraft> {
  let output: ToolOutput | null;
  try {
    const work = tool.run(args, { ...contextOf(setup, tool), judged });
    // Wait for a tool that makes changes, so that the processes it started are gone when the run ends.
    output = tool.group === "read" ? await orStopped(work, setup.stop.signal) : await work;
  } catch (error) {
    if (setup.stop.signal.aborted) output = null;
    else {
      const message = error instanceof Error ? error.message : String(error);
      return fallbackResult(call, "error", `The tool failed: ${message}`.toWellFormed());
    }
  }
  if (output === null) {
    const text = "The run was stopped while this call ran. It may or may not have had an effect.";
    return fallbackResult(call, "interrupted", text);
  }
  const result = fallbackResult(call, output.status, output.output.toWellFormed());
  if (output.full === undefined) return result;
  const blob = setup.writer.putBlob(output.full.bytes, { lossy: output.full.lossy });
  return { ...result, blob } as EventDraft;
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

function decisionEvent(call: ToolCallEvent, tool: Tool, decision: Decision): EventDraft {
  return {
    type: "permission_decision",
    call_id: callIdOf(call.item),
    call_seq: call.seq,
    tool: tool.name,
    decision: decision.allowed ? "allowed" : "denied",
    reason: decision.reason,
    ...(decision.rule === null ? {} : { rule: decision.rule }),
  };
}

/** The result of a denied call: enough for the model to stop trying, without help to evade the denial. */
function denialText(tool: Tool, decision: Decision): string {
  const why: Partial<Record<Decision["reason"], string>> = {
    denied_by_rule: "a rule of the user denies it",
    unclear_command: "only a shell can tell what the command line does, and the user denies some commands",
    not_allowed: "the user has not allowed it",
    no_terminal: "nobody can be asked",
    asked_no: "the user said no",
  };
  const reason = why[decision.reason] ?? "it is not allowed";
  return `Denied: ${tool.name} was not run, because ${reason}. Go on without it, or say what is needed.`;
}

/** A person's answer to a question. `always` holds for the same call, for the rest of the run. */
export type Consent = "yes" | "no" | "always";

/** A question to a person, with the exact call that would run. */
export interface Question {
  readonly subject: CallSubject;
  /** The call's arguments as the model wrote them. */
  readonly argumentsText: string;
}

/** Asks the person at the terminal; an end of input without an answer is a `no`. */
export type Ask = (question: Question) => Promise<Consent>;

/** The decision on a call. */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: PermissionVerdict["reason"];
  readonly rule: string | null;
}

/** Decides calls by the permissions of the run, and by the answers of a person during it. */
export class PermissionGate {
  readonly policy: Policy;
  readonly #ask: Ask | null;
  readonly #always = new Set<string>();

  /** `ask` is `null` without a terminal: every question is then a denial. */
  constructor(policy: Policy, ask: Ask | null) {
    this.policy = policy;
    this.#ask = ask;
  }

  /** The decision on one call. Questions come one at a time: callers wait for each. */
  async decide(question: Question): Promise<Decision> {
    const { subject } = question;
    const verdict = judgePermission(this.policy, subject, this.#ask !== null);
    if (verdict.decision !== "ask" || this.#ask === null) {
      return { allowed: verdict.decision === "allow", reason: verdict.reason, rule: verdict.rule };
    }
    const same = JSON.stringify([subject.tool, subject.target, question.argumentsText]);
    if (this.#always.has(same)) return { allowed: true, reason: "asked_always", rule: null };
    const answer = await this.#ask(question);
    if (answer === "always") this.#always.add(same);
    return { allowed: answer !== "no", reason: `asked_${answer}`, rule: null };
  }
}

/** Decision and result of a call when it was recorded. */
export interface PlayedCall {
  /** `null` if none was recorded, as for reading tools that were allowed. */
  readonly decision: {
    readonly decision: "allowed" | "denied";
    readonly reason: string;
    readonly rule?: string | undefined;
  } | null;
  readonly status: ToolResultStatus;
  readonly output: string;
  /** The whole output, if `output` was cut or lost bytes. */
  readonly full: { readonly bytes: Uint8Array; readonly lossy: boolean } | null;
}

/** Recorded calls, which replace the tools. */
export interface ToolPlayback {
  /**
   * The next record of a call with this id.
   *
   * @throws {RepriseError} `fixture_miss` if there is no record, or the record is of another tool.
   */
  take(call: { readonly callId: string; readonly name: string }): PlayedCall;
}

/** Statuses of calls that were started. */
const STARTED: ReadonlySet<ToolResultStatus> = new Set(["ok", "error", "interrupted"]);

/**
 * Answers a batch of calls with recorded results, one for each, in call order. Executes nothing and asks no person;
 * `record` as in {@linkcode runToolBatch}.
 *
 * @throws {RepriseError} `fixture_miss` for a call without a record, before anything of the batch is saved.
 */
export function playToolBatch(
  { emit, writer }: { readonly emit: Emit; readonly writer: Pick<SessionWriter, "putBlob"> },
  { playback, calls }: { readonly playback: ToolPlayback; readonly calls: readonly ToolCallEvent[] },
  record: (decisions: readonly EventDraft[]) => void,
): readonly EventDraft[] {
  const played = calls.map((call) => ({
    call,
    facts: { seq: call.seq, call_id: callIdOf(call.item), name: callNameOf(call.item) },
    made: playback.take({ callId: callIdOf(call.item), name: callNameOf(call.item) }),
  }));
  const decisions = played.flatMap(({ call, facts, made }): EventDraft[] =>
    made.decision === null ? [] : [{
      type: "permission_decision",
      call_id: facts.call_id,
      call_seq: call.seq,
      tool: facts.name,
      decision: made.decision.decision,
      reason: made.decision.reason,
      ...(made.decision.rule === undefined ? {} : { rule: made.decision.rule }),
    }]
  );
  if (decisions.length > 0) record(decisions);
  return played.map(({ call, facts, made: { status, output, full } }) => {
    if (STARTED.has(status)) {
      emit({ type: "tool.started", ...facts, arguments: callArgumentsOf(call.item) });
    }
    const result = fallbackResult(call, status, output);
    const blob = full === null ? {} : { blob: writer.putBlob(full.bytes, { lossy: full.lossy }) };
    emit({ type: "tool.finished", ...facts, status, output_chars: output.length });
    return { ...result, ...blob } as EventDraft;
  });
}
