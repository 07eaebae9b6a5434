/** The results of a batch of calls on their way to the disk. */
import type { EventDraft } from "../domain/event.ts";

/** Number of reading tools that run at the same time. */
const PARALLEL_TOOLS = 8;

/** Makes parts of a batch durable. */
export interface BatchLog {
  /** Called with all decisions before the start of any tool that makes changes, and for every denial. */
  record(decisions: readonly EventDraft[]): Promise<void>;
  /**
   * Called with the next results in call order, until each call has one: in a batch that makes changes before each start
   * of a call, and in any batch at the end.
   */
  keep(results: readonly EventDraft[]): Promise<void>;
}

/** A call whose result may be known before it. */
export interface Job {
  /** True if a tool starts for {@linkcode Job.result}. */
  starts(): boolean;
  result(): EventDraft | Promise<EventDraft>;
}

/** Makes the results one after the other, and those so far durable before a tool starts. */
export async function keepEach(jobs: readonly Job[], { keep }: BatchLog): Promise<void> {
  const waiting: EventDraft[] = [];
  for (const job of jobs) {
    if (job.starts() && waiting.length > 0) await keep(waiting.splice(0));
    waiting.push(await job.result());
  }
  await keep(waiting);
}

/** Makes the results in parallel, and all durable at once. */
export async function keepTogether(jobs: readonly Job[], { keep }: BatchLog): Promise<void> {
  const results = new Array<EventDraft>(jobs.length);
  const rest = jobs.entries();
  const worker = async () => {
    for (const [index, job] of rest) results[index] = await job.result();
  };
  await Promise.all(Array.from({ length: PARALLEL_TOOLS }, worker));
  await keep(results);
}
