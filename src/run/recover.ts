/** The start of a run: recovery of a run that was killed, and the turn that opens the next one. */
import type { EventDraft, Item, ToolCallEvent, ToolResultStatus } from "../domain/event.ts";
import { addUsage, NO_USAGE, UNCOUNTED, type Usage } from "../domain/usage.ts";
import { RepriseError } from "../domain/errors.ts";
import { callIdOf, callNameOf, itemKind } from "../domain/item.ts";
import { isJsonObject } from "../domain/json.ts";
import type { Manifest } from "../domain/manifest.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import { ORPHAN_OUTPUT } from "../fold/call_text.ts";
import { readOverrides } from "../fold/overrides.ts";
import type { SessionWriter } from "../store/write/writer.ts";
import { type Emit, savedEvent } from "./setup.ts";
import { isAnswer } from "./outcome.ts";
import { requestUsageOf } from "../apis/usage.ts";

export interface AttachedFile {
  /** Its name without directories. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

export interface RunStart {
  /** `null` continues an unfinished run with the unchanged history. */
  readonly prompt: string | null;
  /** Files that are sent before the prompt. */
  readonly attached: readonly AttachedFile[];
}

/**
 * Refuses to continue without a prompt if no run is unfinished.
 *
 * @throws {RepriseError} `nothing_to_continue` when there is no run yet, or the last one completed or was refused.
 */
export function requireUnfinished(session: string, manifest: Manifest | null): void {
  if (isUnfinished(manifest)) return;
  const why = manifest === null ? "it has no run yet" : `the state of its last run is "${manifest.state}"`;
  throw new RepriseError("nothing_to_continue", `Session "${session}" has no unfinished run: ${why}`, {
    hint: `Start the next run with a prompt: reprise run -s ${session} "…"`,
  });
}

/** True if a run may continue the session without a prompt. */
export function isUnfinished(manifest: Manifest | null): boolean {
  return manifest !== null && manifest.state !== "completed" && manifest.state !== "refused";
}

export function openingDraft({ prompt, attached }: RunStart, run: number, pins: Pins): TurnDraft {
  if (prompt === null) return { kind: "harness", run, pins, events: [{ type: "run_continued", run }] };
  const files = attached.map(({ name, mediaType, bytes, sha256 }): EventDraft => ({
    type: "attachment",
    name,
    media_type: mediaType,
    blob: { sha256, bytes: bytes.length },
  }));
  const content = [{ type: "input_text", text: prompt }];
  return { kind: "user", run, pins, events: [...files, { type: "user_message", content }] };
}

/** Events that may follow the answer of a run, and leave nothing to ask. */
const AFTER_ANSWER: ReadonlySet<string> = new Set(["replay_notice", "run_continued", "run_ended"]);

/**
 * Returns the items of the whole answer with which a history ends; `null` if the model has something left to do. A run
 * that stopped between its answer and its own end leaves one: to ask again would repeat its work.
 */
export function answerAtEnd(turns: readonly Turn[]): readonly Item[] | null {
  const last = turns.findLast(({ events }) => events.some(({ type }) => !AFTER_ANSWER.has(type)));
  if (last?.kind !== "model") return null;
  const { status, reason, paused } = last.response;
  const items = last.events.flatMap((event) => "item" in event ? [event.item] : []);
  const isWhole = status === "completed" && reason === undefined && paused !== true &&
    items.every((item) => itemKind(item) !== "tool_call" && !isRefusal(item));
  return isWhole && isAnswer(items) ? items : null;
}

function isRefusal({ content }: Item): boolean {
  return Array.isArray(content) && content.some((part) => isJsonObject(part) && part.type === "refusal");
}

/** A session that turns are appended to: on disk, or in memory for a preview. */
export type OpenSession = Pick<SessionWriter, "manifest" | "turns" | "save">;

/** The calls that wait for results at the end of `turns`, oldest first. */
export function openCalls(turns: readonly Turn[]): ToolCallEvent[] {
  const open = new Map<number, ToolCallEvent>();
  for (const turn of turns) {
    if (turn.kind === "model" || turn.kind === "user") open.clear();
    for (const event of turn.events) {
      if (event.type === "tool_call") open.set(event.seq, event);
      else if (event.type === "tool_result") open.delete(event.call_seq);
    }
  }
  return [...open.values()];
}

/**
 * Every call that needs a fallback result, oldest first: calls at the end, and older calls of completed responses, as
 * in an edited or imported log. Calls that a checkpoint replaces are not sent any more.
 */
export function unansweredCalls(turns: readonly Turn[]): ToolCallEvent[] {
  const after = readOverrides(turns, undefined).checkpoint?.to_seq ?? 0;
  const unanswered = new Map(openCalls(turns).map((call) => [call.seq, call]));
  const answered = new Set<number>();
  for (const turn of turns.toReversed()) {
    const completed = turn.kind === "model" && turn.response.status === "completed";
    for (const event of turn.events) {
      if (event.type === "tool_result") answered.add(event.call_seq);
      const sent = event.type === "tool_call" && completed && event.seq > after;
      if (sent && !answered.has(event.seq)) unanswered.set(event.seq, event);
    }
  }
  return [...unanswered.values()].sort((a, b) => a.seq - b.seq);
}

/**
 * The calls at the end that were surely not started, by `seq`. A batch that makes changes, which a decision that allows a
 * call shows, keeps all results so far before it starts a call: only the first call without a result can be running.
 */
function unstartedCalls(turns: readonly Turn[]): ReadonlySet<number> {
  const [first, ...others] = openCalls(turns);
  const oneByOne = turns.some(({ events }) =>
    events.some((event) =>
      event.type === "permission_decision" && event.decision === "allowed" &&
      event.seq > (first?.seq ?? Infinity)
    )
  );
  return new Set(oneByOne ? others.map(({ seq }) => seq) : []);
}

export type ToolResultDraft = Extract<EventDraft, { readonly type: "tool_result" }>;

/** An error result for a call that did not finish. */
export function fallbackResult(
  call: ToolCallEvent,
  status: ToolResultStatus,
  output: string,
): ToolResultDraft {
  return {
    type: "tool_result",
    call_id: callIdOf(call.item),
    call_seq: call.seq,
    tool: callNameOf(call.item),
    status,
    output,
  };
}

/**
 * Completes a log after a killed process or an edit: open calls get fallback results, and a newest run without an end
 * ends as `interrupted`. Does nothing if no call and no run is open. Returns the calls that got a result.
 */
export async function closeKilledRun(
  writer: OpenSession,
  emit: Emit = () => {},
): Promise<readonly ToolCallEvent[]> {
  const { manifest } = writer;
  if (manifest === null) return [];
  const killed = manifest.state === "open";
  const calls = unansweredCalls(writer.turns);
  const unstarted = unstartedCalls(writer.turns);
  if (!killed && calls.length === 0) return [];
  const error = new RepriseError(
    "interrupted",
    `The process of run ${manifest.run} ended without closing it`,
  );
  const end: EventDraft = {
    type: "run_ended",
    run: manifest.run,
    state: "interrupted",
    exit_code: error.exitCode,
    usage: usageOfRun(writer.turns, manifest.run),
    error: { code: error.code, message: error.message },
  };
  const turn = await writer.save({
    kind: "harness",
    run: manifest.run,
    events: [
      ...calls.map((call) =>
        killed && unstarted.has(call.seq)
          ? fallbackResult(call, "not_run", "The process ended before this call was started.")
          : fallbackResult(call, "orphaned", ORPHAN_OUTPUT)
      ),
      ...(killed ? [end] : []),
    ],
  });
  emit(savedEvent(turn));
  if (killed) emit({ type: "notice", kind: "run_closed", run: manifest.run });
  if (calls.length > 0) {
    const callIds = calls.map((call) => callIdOf(call.item));
    emit({ type: "notice", kind: "orphan_repaired", call_ids: callIds });
  }
  return calls;
}

/** The recorded tokens of one run's responses, each counted by its provider's rules. */
export function usageOfRun(turns: readonly Turn[], run: number): Usage {
  let total = NO_USAGE;
  for (const turn of turns) {
    if (turn.run !== run) continue;
    for (const event of turn.events) {
      // A checkpoint inside the run has the usage before it: those turns may not have been read.
      if (event.type === "history_compaction") total = event.run_usage ?? total;
    }
    if (turn.kind !== "model") continue;
    const counted = turn.events.findLast((event) => event.type === "provider_usage");
    total = addUsage(
      total,
      counted === undefined ? UNCOUNTED : requestUsageOf(turn.fingerprint.provider, counted.usage),
    );
  }
  return total;
}
