/** A call and its result as text: what a model reads instead of a pair that the API refuses. */
import type { Item, ToolResultStatus } from "../domain/event.ts";
import { callArgumentsOf, callNameOf } from "../domain/item.ts";

/** Output of a call without a recorded result: whether it ran is not known. */
export const ORPHAN_OUTPUT =
  "No result was recorded: the process ended while this call was open. The call may or may not have run.";

/** Tells the model that it made a call, and what the call returned. */
export function callText(call: Item, { output, status }: {
  readonly output: string;
  readonly status: ToolResultStatus;
}): string {
  const outcome = status === "ok" ? "it returned" : "it returned an error";
  return `You called ${callNameOf(call)} with ${callArgumentsOf(call)}; ${outcome}:\n` +
    `<tool_result>\n${output}\n</tool_result>`;
}
