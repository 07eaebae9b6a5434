/**
 * Tools that do not run: the calls of a response are answered with the results that were recorded for them.
 *
 * @module
 */
import type { EventDraft, ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import { callArgumentsOf, callIdOf, callNameOf } from "../domain/item.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import { fallbackResult } from "./recover.ts";
import type { Emit } from "./events.ts";

/** What became of a call when it was recorded. */
export interface PlayedCall {
  /** `null` where none was recorded, as for reading tools that were allowed. */
  readonly decision: {
    readonly decision: "allowed" | "denied";
    readonly reason: string;
    readonly rule?: string | undefined;
  } | null;
  readonly status: ToolResultStatus;
  readonly output: string;
  /** The whole output, where `output` was cut or lost bytes. */
  readonly full: { readonly bytes: Uint8Array; readonly lossy: boolean } | null;
}

/** Recorded calls, in the place of tools. */
export interface ToolPlayback {
  /**
   * The next record of a call with this id.
   *
   * @throws {RepriseError} `fixture_miss` when there is none, or it is of another tool.
   */
  take(call: { readonly callId: string; readonly name: string }): PlayedCall;
}

/** How a call ended that was started. */
const STARTED: ReadonlySet<ToolResultStatus> = new Set(["ok", "error", "interrupted"]);

/**
 * Answers a batch of calls, one result for each, in call order; nothing is executed and nobody is asked. `record` as
 * in `runToolBatch`.
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
