/**
 * The items of one response that go into a later request. Reasoning needs its follower, hosted items need their
 * reasoning: the decisions of one response depend on each other, and otherwise only on ids seen before.
 *
 * @module
 */
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

/** Decisions about a response's events. */
export interface ResponsePlan {
  /** `seq` of every event that stays out, with its reason. */
  readonly dropped: ReadonlyMap<number, DropReason>;
  /** The oldest version of the rules that decides so. */
  readonly version: number;
}

/** Ids of reasoning in the responses that were planned so far: the newer ones. */
export interface ReasoningIds {
  /** Every id whose item may go to the target by its origin. */
  readonly known: Set<string>;
  /** Ids that no older item may be sent with. */
  readonly taken: Set<string>;
}

/** Facts that a plan needs beyond the response itself. */
export interface PlanContext {
  readonly target: FoldTarget;
  /** Events that stay out whatever their origin: refused, or outside the window. */
  readonly excluded: ReadonlyMap<number, DropReason>;
  /** Responses are planned from the newest to the oldest; each plan adds its own ids. */
  readonly ids: ReasoningIds;
  /** The results of the history, by the `seq` of their calls. */
  readonly resultOf: ReadonlyMap<number, ToolResultEvent>;
  /** True if the request of this response began otherwise than the request that is folded now. */
  readonly prefixChanged: boolean;
  /** Ids of calls among the provider items that have an output item in the history. */
  readonly answeredItems: ReadonlySet<string>;
  /** True when the history ends with this response, which its server only paused: its open calls are the server's. */
  readonly pausedHere: boolean;
}

/** Calls that are of no use without their answer: of tools that reprise does not offer, or that servers run. */
const CALL_TYPES: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "local_shell_call",
  "apply_patch_call",
  "computer_call",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
]);

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
  // Version 1 knew no ports: it took the two for different endpoints.
  const byPort = turn.events.some(isBound) && differOnlyByPort(turn.fingerprint, context.target.fingerprint);
  return { dropped, version: unrun || repeated || byPort ? 2 : 1 };
}

/** True for events that go only to their own endpoint. */
function isBound({ type }: SessionEvent): boolean {
  return type === "reasoning" || type === "provider_item";
}

/** Each of these drops may take away what another item needs. */
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

/** Reason why an event stays out by itself; {@linkcode reasoningMismatch} judges the origin of reasoning. */
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
 * True unless it is known that a call was not run. Calls of a response that did not complete are never run: a result
 * that only says so is ours, and would show the model a call and an output that never happened.
 */
function wasRun({ seq }: ToolCallEvent, { response }: ModelTurn, { resultOf }: PlanContext): boolean {
  if (response.status === "completed") return true;
  const status = resultOf.get(seq)?.status ?? "not_run";
  return status !== "not_run" && status !== "orphaned";
}

/**
 * Drops older items with a repeated id, which the API refuses. Some servers repeat ids: the newest item that is sent
 * keeps the id, because the current turn needs its reasoning most. The id of an item that was refused is taken too: its
 * double would be refused as well. Returns whether any id came twice.
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
 * The API refuses reasoning "without its required following item" (protocol §6.2). Whether it looks at the place or
 * at the id is not known: reasoning goes only with the exact item that its response has next.
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

/** Drops the half of a pair: a call and its output that one response brought go together or not at all (§2.4). */
function dropHalfPairs(turn: ModelTurn, dropped: Map<number, DropReason>): void {
  const items = turn.events.filter((event) => event.type === "provider_item");
  const lost = new Set(items.flatMap(({ seq, item }) => dropped.has(seq) ? [item.call_id] : []));
  for (const { seq, item } of items) {
    if (typeof item.call_id !== "string" || !lost.has(item.call_id)) continue;
    if (!dropped.has(seq)) dropped.set(seq, "reasoning_dropped");
  }
}

/** True for the output of a tool, which the model did not make. */
function isOutput(event: SessionEvent): boolean {
  return event.type === "provider_item" && event.item.type.endsWith("_output");
}

/** True for the events that keep an item of a response. */
export function isItemEvent(event: SessionEvent): boolean {
  return event.type === "reasoning" || event.type === "assistant_message" || event.type === "tool_call" ||
    event.type === "provider_item";
}
