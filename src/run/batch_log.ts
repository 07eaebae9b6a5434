/** The calls of a batch on their way to the disk: their decisions, then their results. */
import type { EventDraft, ToolCallEvent } from "../domain/event.ts";
import { callIdOf, callNameOf } from "../domain/item.ts";
import type { DeniedCall } from "../schemas/run_events.ts";
import type { ToolResultDraft } from "./recover.ts";

/** Number of reading tools that run at the same time. */
const PARALLEL_TOOLS = 8;

/** Makes events of a batch durable: decisions in a turn of the harness, results in turns of tools. */
export type SaveEvents = (kind: "harness" | "tools", events: readonly EventDraft[]) => Promise<void>;

/** A call whose result may be known before it. */
export interface Job {
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
export async function keepBatch(jobs: readonly Job[], save: SaveEvents): Promise<readonly DeniedCall[]> {
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
export function callFacts({ seq, item }: ToolCallEvent) {
  return { seq, call_id: callIdOf(item), name: callNameOf(item) };
}

export function decisionEvent(
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
