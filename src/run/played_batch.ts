/** Recorded results in place of those of tools. */
import type { ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import { callArgumentsOf } from "../domain/item.ts";
import { callFacts, decisionEvent, type Job } from "./batch_log.ts";
import { fallbackResult } from "./recover.ts";
import type { RunSetup, ToolPlayback } from "./setup.ts";

/** Statuses of calls that were started. */
const STARTED: ReadonlySet<ToolResultStatus> = new Set(["ok", "error", "interrupted"]);

/**
 * Answers calls with recorded results. Executes nothing and asks no person.
 *
 * @throws {RepriseError} `fixture_miss` for a call without a record.
 */
export function playedJobs(
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
