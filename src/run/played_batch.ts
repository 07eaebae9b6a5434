/** Recorded results in place of those of tools. */
import type { EventDraft, ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import { callArgumentsOf, callIdOf, callNameOf } from "../domain/item.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import { type BatchLog, type Job, keepEach, keepTogether } from "./batch_log.ts";
import type { PermissionGate } from "./permission_gate.ts";
import type { DeniedCall } from "../schemas/run_events.ts";
import { fallbackResult } from "./recover.ts";
import type { Emit } from "./events.ts";

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

/** Parts of a run that played calls need. */
interface PlayedSetup {
  readonly emit: Emit;
  readonly gate: PermissionGate;
  readonly writer: Pick<SessionWriter, "putBlob">;
}

/**
 * Answers a batch of calls with recorded results, and returns the denied calls in call order. Executes nothing and asks
 * no person.
 *
 * @throws {RepriseError} `fixture_miss` for a call without a record, before anything of the batch is saved.
 */
export async function playToolBatch(
  { emit, writer, gate }: PlayedSetup,
  { playback, calls }: { readonly playback: ToolPlayback; readonly calls: readonly ToolCallEvent[] },
  log: BatchLog,
): Promise<readonly DeniedCall[]> {
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
  if (decisions.length > 0) await log.record(decisions);
  const jobs = played.map(({ call, facts, made: { status, output, full } }): Job => ({
    starts: () => STARTED.has(status),
    result: () => {
      if (STARTED.has(status)) {
        emit({ type: "tool.started", ...facts, arguments: callArgumentsOf(call.item) });
      }
      const result = fallbackResult(call, status, output);
      const blob = full === null ? {} : { blob: writer.putBlob(full.bytes, { lossy: full.lossy }) };
      emit({ type: "tool.finished", ...facts, status, output_chars: output.length });
      return { ...result, ...blob } as EventDraft;
    },
  }));
  // An allowed call that only reads is in no decision.
  if (played.some(({ made: { decision } }) => decision?.decision === "allowed")) await keepEach(jobs, log);
  else await keepTogether(jobs, log);
  return played.flatMap(({ facts: { name, call_id }, made: { decision } }) =>
    decision?.decision !== "denied" ? [] : gate.denied({ tool: name, call_id, subject: null }, {
      reason: decision.reason,
      rule: decision.rule ?? null,
    })
  );
}
