/**
 * Runs the calls of one response side by side; results come back in call order.
 *
 * @module
 */
import type { EventDraft, ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import type { ToolOutput } from "../tools/output.ts";
import type { ToolContext } from "../tools/tool.ts";
import { parseArguments } from "../tools/registry.ts";
import { fallbackResult } from "./closing.ts";
import type { RunSetup } from "./setup.ts";

/** How many tools run at the same time. */
const PARALLEL_TOOLS = 8;

/** The result of each call, in call order. Never throws for what a model or a tool does. */
export async function runToolBatch(setup: RunSetup, calls: readonly ToolCallEvent[]): Promise<EventDraft[]> {
  const results = new Array<EventDraft>(calls.length);
  const seen = new Set<unknown>();
  const duplicates = calls.map((call) => seen.size === seen.add(call.item.call_id).size);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < calls.length; index = next++) {
      const call = calls[index] as ToolCallEvent;
      results[index] = await runCall(setup, call, duplicates[index] === true);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_TOOLS, calls.length) }, worker));
  return results;
}

async function runCall(setup: RunSetup, call: ToolCallEvent, duplicate: boolean): Promise<EventDraft> {
  if (setup.stop.signal.aborted) {
    return fallbackResult(call, "not_run", "The run was stopped before this call was started.");
  }
  const name = typeof call.item.name === "string" ? call.item.name : "";
  const argumentsText = callArguments(call);
  const callId = String(call.item.call_id);
  setup.emit({ type: "tool.started", seq: call.seq, call_id: callId, name, arguments: argumentsText });
  const result = await runTool(setup, call, { name, argumentsText, duplicate });
  if (result.type === "tool_result") {
    setup.emit({
      type: "tool.finished",
      seq: call.seq,
      call_id: callId,
      name,
      status: result.status,
      output_chars: result.output.length,
    });
  }
  return result;
}

interface CallFacts {
  readonly name: string;
  readonly argumentsText: string;
  readonly duplicate: boolean;
}

async function runTool(setup: RunSetup, call: ToolCallEvent, facts: CallFacts): Promise<EventDraft> {
  const fail = (status: ToolResultStatus, output: string) => fallbackResult(call, status, output);
  if (facts.duplicate) {
    return fail(
      "duplicate_call_id",
      "The call was not run: another call of this response has the same call id.",
    );
  }
  const tool = setup.tools.find((candidate) => candidate.name === facts.name);
  if (tool === undefined || call.item.type !== "function_call") {
    const names = setup.tools.map((candidate) => candidate.name).join(", ");
    return fail(
      "unknown_tool",
      `There is no function tool named ${JSON.stringify(facts.name)}. Tools: ${names || "none"}.`,
    );
  }
  const parsed = parseArguments(tool, facts.argumentsText);
  if (!parsed.ok) return fail("invalid_arguments", parsed.message);
  const context: ToolContext = { root: setup.workspaceRoot, signal: setup.stop.signal };
  let output: ToolOutput | null;
  try {
    output = await orStopped(tool.run(parsed.args, context), setup.stop.signal);
  } catch (error) {
    return fail(
      "error",
      `The tool failed: ${error instanceof Error ? error.message : String(error)}`.toWellFormed(),
    );
  }
  if (output === null) {
    return fail(
      "interrupted",
      "The run was stopped while this call ran. It may or may not have had an effect.",
    );
  }
  const result = fail(output.status, output.output.toWellFormed());
  if (output.full === undefined) return result;
  return {
    ...result,
    blob: setup.writer.putBlob(output.full.bytes, { lossy: output.full.lossy }),
  } as EventDraft;
}

/** The value, or `null` as soon as the run is stopped: a tool that does not listen cannot hold the run. */
function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stopped = () => resolve(null);
    if (signal.aborted) stopped();
    signal.addEventListener("abort", stopped, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stopped));
  });
}

function callArguments(call: ToolCallEvent): string {
  const text = call.item.type === "custom_tool_call" ? call.item.input : call.item.arguments;
  return typeof text === "string" ? text : "";
}
