/**
 * How a run ends: one terminal state, and the error to report with it.
 *
 * @module
 */
import type { Item, RunState } from "../domain/event.ts";
import { RepriseError } from "../domain/errors.ts";
import { itemKind } from "../domain/item.ts";
import { counted } from "../domain/text.ts";
import type { FinishedResponse } from "../apis/api.ts";
import { commandLine } from "../tools/permission/shell_words.ts";
import type { RequestOutcome } from "./request_step.ts";
import type { RunSetup } from "./setup.ts";

/** The end of a run. `error` is `null` for a completed one only. */
export interface RunEnd {
  readonly state: RunState;
  readonly error: RepriseError | null;
}

/** The end that a response brings, or `null` when its calls are to be run first. */
export function endOfResponse(
  { response, error, items }: RequestOutcome,
  { calls, stopped }: { readonly calls: number; readonly stopped: RunEnd | null },
): RunEnd | null {
  if (error !== null) return stopped ?? { state: "failed", error };
  if (response === null) {
    return stopped ?? endOfError(new RepriseError("stream_cut", "The response had no end"));
  }
  if (response.refused) {
    return { state: "refused", error: new RepriseError("refused", refusalText(response)) };
  }
  if (response.status === "incomplete") {
    return incomplete(`The response is incomplete: ${response.reason ?? "no reason given"}`);
  }
  if (calls > 0 || response.paused === true) return null;
  if (items.some(isAnswer)) return { state: "completed", error: null };
  return incomplete("The response completed without a message or a tool call");
}

/** The end after denials, where the user wants none. */
export function denied(denials: number): RunEnd {
  const error = new RepriseError(
    "permission_denied",
    `Permission denied for ${counted(denials, "call")} (--fail-on-denied)`,
    {
      hint: "Allow what is needed with --allow, then continue the run",
    },
  );
  return { state: "failed", error };
}

/** The end before a request that a budget does not allow. */
export function overBudget(message: string): RunEnd {
  const hint = "Continue the run without a prompt: each run has budgets of its own";
  return { state: "over_budget", error: new RepriseError("over_budget", message, { hint }) };
}

/** A history that does not fit the model's window can be made smaller: the error names the command. */
export function withCompactHint(error: RepriseError | null, session: string): RepriseError | null {
  if (error?.code !== "context_overflow") return error;
  return new RepriseError(error.code, error.message, {
    hint: `Shorten the history, then continue the run: reprise compact ${session}`,
    details: error.details,
    cause: error.cause,
  });
}

/** The command that continues the session of a run, at the same endpoint. */
export function continueCommand(
  { writer, endpointFlags = [] }: RunSetup,
  ...more: readonly string[]
): string {
  return commandLine(["reprise", "run", "-s", writer.id, ...endpointFlags, ...more]);
}

/** A refusal that no retry helped against: the error names how to look at the history, and how to send less of it. */
export function withReplayHint(error: RepriseError, setup: RunSetup): RepriseError {
  return new RepriseError(error.code, error.message, {
    hint: `See what was sent with "reprise explain ${setup.writer.id}"; ` +
      `to send no earlier reasoning: ${continueCommand(setup, "--no-reasoning-replay")}`,
    details: error.details,
    cause: error.cause,
  });
}

/** The end that an error brings. */
export function endOfError(error: RepriseError): RunEnd {
  return { state: error.code === "session_diverged" ? "diverged" : "failed", error };
}

function incomplete(message: string): RunEnd {
  const hint = "What came is kept: continue the run without a prompt, or ask again";
  return { state: "incomplete", error: new RepriseError("incomplete", message, { hint }) };
}

function refusalText(response: FinishedResponse): string {
  return response.reason === undefined
    ? "The model refused to answer"
    : `The model refused: ${response.reason}`;
}

function isAnswer(item: Item): boolean {
  return itemKind(item) === "assistant_message";
}
