/**
 * Selects the items of one response that go into a later request. Reasoning needs the item after it, and hosted items
 * need their reasoning: the decisions on one response depend on each other, and otherwise only on ids seen before.
 */
import { words } from "../domain/text.ts";
import type { ReasoningEvent, SessionEvent, ToolCallEvent, ToolResultEvent } from "../domain/event.ts";
import { callIdOf } from "../domain/item.ts";
import type { DropReason, ModelTurn } from "../domain/turn.ts";
import { differOnlyByPort } from "../domain/fingerprint.ts";
import {
  encryptedItemMismatch,
  type FoldTarget,
  isEncryptedItem,
  isPrefixBound,
  originMismatch,
} from "./guard.ts";

export interface ResponsePlan {
  /** `seq` of every event that is left out, with the reason. */
  readonly dropped: ReadonlyMap<number, DropReason>;
  /** The oldest version of the rules that decides so. */
  readonly version: number;
}

/** Facts that a plan needs beyond the response itself. */
interface PlanContext {
  readonly target: FoldTarget;
  /** Events that are left out whatever their origin: refused, or outside the window. */
  readonly excluded: ReadonlyMap<number, DropReason>;
  /** Ids of reasoning in newer responses, which are planned before older ones; each plan adds its own. */
  readonly ids: {
    /** Ids of items whose origin fits the target. */
    readonly known: Set<string>;
    /** Ids that no older item may use. */
    readonly taken: Set<string>;
  };
  /** The results of the history, by the `seq` of their calls. */
  readonly resultOf: ReadonlyMap<number, ToolResultEvent>;
  /** True if this response's request had another beginning than the request that is folded now. */
  readonly prefixChanged: boolean;
  /** Ids of calls among the provider items that have an output item in the history. */
  readonly answeredItems: ReadonlySet<string>;
  /** True if the history ends with this response and its server only paused it: open calls are then the server's. */
  readonly pausedHere: boolean;
}

/** Types of calls that are not sent without their answer: of tools that reprise does not offer, or that servers run. */
const CALL_TYPES: ReadonlySet<string> = new Set(words(`
  function_call custom_tool_call shell_call local_shell_call apply_patch_call computer_call tool_use
  server_tool_use mcp_tool_use
`));

/** Decides every event of one model turn. */
export function planResponse(turn: ModelTurn, context: PlanContext): ResponsePlan {
  const dropped = new Map<number, DropReason>();
  const fitting: ReasoningEvent[] = [];
  for (const event of turn.events) {
    const origin = event.type === "reasoning" ? reasoningMismatch(event, turn, context) : null;
    if (event.type === "reasoning" && origin === null) fitting.push(event);
    const reason = firstReason(event, turn, context) ?? origin;
    if (reason !== null) dropped.set(event.seq, reason);
  }
  const unrun = [...dropped.values()].includes("call_not_run");
  dropDependents(turn, dropped, context);
  const repeated = dropRepeatedIds(fitting, dropped, context);
  if (repeated) dropDependents(turn, dropped, context);
  // Version 1 had no rule for ports: it treats the two as different endpoints.
  const byPort = turn.events.some(isBound) && differOnlyByPort(turn.fingerprint, context.target.fingerprint);
  return { dropped, version: unrun || repeated || byPort ? 2 : 1 };
}

/** True for events that go only to their own endpoint. */
function isBound({ type }: SessionEvent): boolean {
  return type === "reasoning" || type === "provider_item";
}

/** Drops items that need a dropped item, until no such item is left. */
function dropDependents(turn: ModelTurn, dropped: Map<number, DropReason>, context: PlanContext): void {
  for (let size = -1; size !== dropped.size;) {
    size = dropped.size;
    dropReasoningWithoutFollower(turn, dropped);
    if (!context.target.needs.keepsItemsWithoutReasoning) dropItemsWithoutReasoning(turn, dropped);
    dropHalfPairs(turn, dropped);
  }
}

function reasoningMismatch(
  { item }: ReasoningEvent,
  turn: ModelTurn,
  { target, prefixChanged }: PlanContext,
): DropReason | null {
  return encryptedItemMismatch(item, turn, target) ??
    (prefixChanged && isPrefixBound(turn) ? "prefix_changed" : null);
}

/** Reason to leave out an event on its own; {@linkcode reasoningMismatch} checks the origin of reasoning. */
function firstReason(event: SessionEvent, turn: ModelTurn, context: PlanContext): DropReason | null {
  const excluded = context.excluded.get(event.seq);
  if (excluded !== undefined && isItemEvent(event)) return excluded;
  if (event.type === "tool_call") return wasRun(event, turn, context) ? null : "call_not_run";
  if (event.type !== "provider_item") return null;
  const { item } = event;
  if (isEncryptedItem(item)) return encryptedItemMismatch(item, turn, context.target);
  const origin = originMismatch(turn, context.target);
  if (origin !== null) return origin;
  const unanswered = CALL_TYPES.has(item.type) && !context.answeredItems.has(callIdOf(item));
  return unanswered && !context.pausedHere ? "unanswered_call" : null;
}

/**
 * True unless a call is known not to have run. Calls of an incomplete response are never run: a result that records
 * this is ours, and would show the model a call and an output that never happened.
 */
function wasRun({ seq }: ToolCallEvent, { response }: ModelTurn, { resultOf }: PlanContext): boolean {
  if (response.status === "completed") return true;
  const status = resultOf.get(seq)?.status ?? "not_run";
  return status !== "not_run" && status !== "orphaned";
}

/**
 * Drops older items with a repeated id, which the API refuses. Some servers repeat ids: the newest item that is sent
 * keeps the id, because the current turn needs its reasoning most. The id of a refused item is taken too: another item
 * with that id would be refused as well. Returns true if an id was repeated.
 */
function dropRepeatedIds(
  fitting: readonly ReasoningEvent[],
  dropped: Map<number, DropReason>,
  { ids: { known, taken }, excluded }: PlanContext,
): boolean {
  let repeated = false;
  for (const { seq, item: { id } } of fitting.toReversed()) {
    if (typeof id !== "string") continue;
    if (known.has(id)) repeated = true;
    known.add(id);
    if (dropped.has(seq) && !excluded.has(seq)) continue;
    if (taken.has(id) && !dropped.has(seq)) dropped.set(seq, "duplicate_id");
    taken.add(id);
  }
  return repeated;
}

/**
 * Drops reasoning without the exact item that follows it in its response. The API refuses reasoning "without its
 * required following item" (protocol §6.2); whether it checks the position or the id is unknown.
 */
function dropReasoningWithoutFollower(turn: ModelTurn, dropped: Map<number, DropReason>): void {
  let followed = false;
  for (const event of turn.events.toReversed()) {
    if (!isItemEvent(event)) continue;
    if (event.type === "reasoning" && !followed && !dropped.has(event.seq)) {
      dropped.set(event.seq, "no_following_item");
    }
    followed = !dropped.has(event.seq) && !isOutput(event);
  }
}

/** Drops hosted items after dropped reasoning: their id makes the server demand that reasoning (protocol §2.4). */
function dropItemsWithoutReasoning(turn: ModelTurn, dropped: Map<number, DropReason>): void {
  let reasoningDropped = false;
  for (const event of turn.events) {
    if (event.type === "reasoning") reasoningDropped = dropped.has(event.seq);
    else if (event.type === "provider_item" && reasoningDropped && !isEncryptedItem(event.item)) {
      if (!dropped.has(event.seq)) dropped.set(event.seq, "reasoning_dropped");
    }
  }
}

/** Drops half pairs: a call and its output in one response are sent together or not at all (§2.4). */
function dropHalfPairs(turn: ModelTurn, dropped: Map<number, DropReason>): void {
  const items = turn.events.filter((event) => event.type === "provider_item");
  const lost = new Set(items.flatMap(({ seq, item }) => dropped.has(seq) ? [item.call_id] : []));
  for (const { seq, item } of items) {
    if (typeof item.call_id !== "string" || !lost.has(item.call_id)) continue;
    if (!dropped.has(seq)) dropped.set(seq, "reasoning_dropped");
  }
}

/** True for the output of a tool, which does not come from the model. */
function isOutput(event: SessionEvent): boolean {
  return event.type === "provider_item" && event.item.type.endsWith("_output");
}

/** True for the events that keep an item of a response. */
export function isItemEvent(event: SessionEvent): boolean {
  return event.type === "reasoning" || event.type === "assistant_message" || event.type === "tool_call" ||
    event.type === "provider_item";
}
