/**
 * A model's summary: judged by schema, then compared with the log. What was checked and found is kept beside it.
 *
 * @module
 */
import * as z from "zod";
import { RepriseError } from "../domain/errors.ts";
import { callArgumentsOf } from "../domain/item.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Turn } from "../domain/turn.ts";
import type { CheckpointText, CompactionScope } from "./plan.ts";
import { callPaths, messageOf } from "./reading.ts";

/** The longest summary and the longest line that are taken, in UTF-16 units, and the most lines of a list. */
const MAX_SUMMARY = 16 * 1024;
const MAX_LINE = 1024;
const MAX_LINES = 100;

const wellFormed = (text: string) => text.isWellFormed();
const line = z.string().max(MAX_LINE).refine(wellFormed, "holds a lone surrogate");
const lines = z.array(line).max(MAX_LINES);
const answerSchema = z.strictObject({
  summary: z.string().max(MAX_SUMMARY).refine(wellFormed, "holds a lone surrogate")
    .refine((text) => text.trim() !== "", "is empty"),
  decisions: lines,
  files_read: lines,
  files_changed: lines,
  open_questions: lines,
  next_steps: lines,
  tool_calls: z.int().min(0),
  limitations: lines,
});

/** A summary as a model gives it. */
export type ModelAnswer = z.infer<typeof answerSchema>;

/**
 * Reads a model's answer.
 *
 * @throws {RepriseError} `bad_summary` when it is not JSON, has another shape, or is out of bounds.
 */
export function parseAnswer(text: string): ModelAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badSummary("its answer is not JSON", cause);
  }
  const judged = answerSchema.safeParse(value);
  if (judged.success) return judged.data;
  const [issue] = judged.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `, at ${issue.path.join(".")}`;
  throw badSummary(`its answer does not fit the schema${where}: ${issue?.message ?? "unknown"}`);
}

/** `bad_summary`: why a model's answer cannot be used. The session is as it was. */
export function badSummary(why: string, cause?: unknown): RepriseError {
  return new RepriseError("bad_summary", `Cannot use the summary of the model: ${why}`, {
    hint: "Nothing was written: try again, or use --strategy deterministic, which needs no model",
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What the log says to a model's answer. */
export interface Verification extends JsonObject {
  readonly paths: {
    readonly named: number;
    /** Named by a call's arguments in the log. */
    readonly in_calls: number;
    /** Not a call's argument, but found in the words of the log. */
    readonly in_text: number;
    readonly missing: readonly string[];
  };
  readonly tool_calls: { readonly claimed: number; readonly counted: number; readonly match: boolean };
}

/** Compares an answer with the log up to the cut; calls are counted from behind the checkpoint before. */
export function verifyAnswer(
  answer: ModelAnswer,
  turns: readonly Turn[],
  { toSeq, fromSeq }: { readonly toSeq: number; readonly fromSeq: number },
): Verification {
  const events = turns.flatMap((turn) => turn.events).filter(({ seq }) => seq <= toSeq);
  const calls = events.filter((event) => event.type === "tool_call");
  const inCalls = new Set(calls.flatMap(callPaths));
  const words = events.flatMap((event) => {
    if (event.type === "tool_call") return [callArgumentsOf(event.item)];
    if (event.type === "tool_result") return [event.output];
    const message = messageOf(event);
    return message === null ? [] : [message.text];
  });
  const named = [...new Set([...answer.files_read, ...answer.files_changed])];
  const others = named.filter((path) => !inCalls.has(path));
  const missing = others.filter((path) => path === "" || !words.some((text) => text.includes(path)));
  const counted = calls.filter(({ seq }) => seq > fromSeq).length;
  return {
    paths: {
      named: named.length,
      in_calls: named.length - others.length,
      in_text: others.length - missing.length,
      missing,
    },
    tool_calls: { claimed: answer.tool_calls, counted, match: answer.tool_calls === counted },
  };
}

/** The checkpoint that a verified answer makes. */
export function modelText(
  answer: ModelAnswer,
  { cut }: CompactionScope,
  { verification, request }: { readonly verification: Verification; readonly request: JsonObject },
): CheckpointText {
  const limitations = [
    "The session's full log remains authoritative: a model wrote this, and may have left out or mistaken things.",
    ...contradictions(verification),
    ...answer.limitations,
  ];
  const sections = [
    `This checkpoint stands for turns 1 to ${cut.turn} (seq 1 to ${cut.seq}) of this session. A model wrote it.`,
    answer.summary.trim(),
    section("Decisions", answer.decisions),
    section("Files read", answer.files_read),
    section("Files changed", answer.files_changed),
    section("Open questions", answer.open_questions),
    section("Next steps", answer.next_steps),
    section("Limitations", limitations),
  ];
  const summary = sections.filter((part) => part !== "").join("\n\n");
  return {
    strategy: "model",
    // The tag around it is ours to close.
    summary: summary.replace(/<(?=\/?session_checkpoint)/gi, "&lt;"),
    limitations,
    verification,
    request,
  };
}

/** What the log does not bear out, in words that go on with the summary. */
function contradictions({ paths, tool_calls }: Verification): string[] {
  const { missing } = paths;
  return [
    ...(missing.length === 0 ? [] : [`The log does not name these paths: ${JSON.stringify(missing)}`]),
    ...(tool_calls.match
      ? []
      : [`It speaks of ${tool_calls.claimed} tool calls, the log holds ${tool_calls.counted}.`]),
  ];
}

function section(heading: string, entries: readonly string[]): string {
  return entries.length === 0 ? "" : `${heading}:\n${entries.map((entry) => `- ${entry}`).join("\n")}`;
}
