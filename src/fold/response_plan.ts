/**
 * Which items of one response go into a later request. Reasoning needs its follower, hosted items need
 * their reasoning: the decisions of one response depend on each other, and on nothing else but ids seen before.
 *
 * @module
 */
import type { ReasoningEvent, SessionEvent } from "../domain/event.ts";
import { callIdOf } from "../domain/item.ts";
import type { DropReason, ModelTurn } from "../domain/turn.ts";
import {
  encryptedItemMismatch,
  type FoldTarget,
  isEncryptedItem,
  isPrefixBound,
  originMismatch,
} from "./guard.ts";

/** What a response's events look like to later requests. */
export interface ResponsePlan {
  /** `seq` of every event that stays out, with its reason. */
  readonly dropped: ReadonlyMap<number, DropReason>;
}

/** What the plan needs to know beyond the response itself. */
export interface PlanContext {
  readonly target: FoldTarget;
  /** Events that stay out whatever their origin: refused, or outside the window. */
  readonly excluded: ReadonlyMap<number, DropReason>;
  /** Ids of the reasoning of earlier responses that could go to the target; the plan adds its own. */
  readonly seenIds: Set<string>;
  /** True when the request of this response began otherwise than the one that is folded now. */
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
  for (const event of turn.events) {
    const reason = firstReason(event, turn, context);
    if (reason !== null) dropped.set(event.seq, reason);
  }
  // Each of these drops may take away what another item needs.
  for (let size = -1; size !== dropped.size;) {
    size = dropped.size;
    dropReasoningWithoutFollower(turn, dropped);
    if (context.target.fingerprint.provider !== "anthropic") dropItemsWithoutReasoning(turn, dropped);
    dropHalfPairs(turn, dropped);
  }
  return { dropped };
}

function firstReason(event: SessionEvent, turn: ModelTurn, context: PlanContext): DropReason | null {
  const excluded = context.excluded.get(event.seq);
  if (event.type === "reasoning") {
    // The id counts as seen also where the item stays out: its double would be refused as well.
    const own = encryptedItemMismatch(event.item, turn, context.target) ??
      (context.prefixChanged && isPrefixBound(turn) ? "prefix_changed" : null) ??
      duplicateId(event, context.seenIds);
    return excluded ?? own;
  }
  if (excluded !== undefined && isItemEvent(event)) return excluded;
  if (event.type !== "provider_item") return null;
  const { item } = event;
  if (isEncryptedItem(item)) return encryptedItemMismatch(item, turn, context.target);
  const origin = originMismatch(turn, context.target);
  if (origin !== null) return origin;
  const unanswered = CALL_TYPES.has(item.type) && !context.answeredItems.has(callIdOf(item));
  return unanswered && !context.pausedHere ? "unanswered_call" : null;
}

function duplicateId(event: ReasoningEvent, seenIds: Set<string>): DropReason | null {
  const id = event.item.id;
  if (typeof id !== "string") return null;
  if (seenIds.has(id)) return "duplicate_id";
  seenIds.add(id);
  return null;
}

/**
 * The API refuses reasoning "without its required following item" (protocol §6.2). Whether it looks at the place or
 * at the id is not known: reasoning goes only with the very item that its response has next.
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

/** A hosted item carries an id that makes the server demand the reasoning before it (protocol §2.4). */
function dropItemsWithoutReasoning(turn: ModelTurn, dropped: Map<number, DropReason>): void {
  let reasoningDropped = false;
  for (const event of turn.events) {
    if (event.type === "reasoning") reasoningDropped = dropped.has(event.seq);
    else if (event.type === "provider_item" && reasoningDropped && !isEncryptedItem(event.item)) {
      if (!dropped.has(event.seq)) dropped.set(event.seq, "reasoning_dropped");
    }
  }
}

/** A client-side call and its output that one response brought together go together or not at all (§2.4). */
function dropHalfPairs(turn: ModelTurn, dropped: Map<number, DropReason>): void {
  const items = turn.events.filter((event) => event.type === "provider_item");
  const lost = new Set(items.flatMap(({ seq, item }) => dropped.has(seq) ? [item.call_id] : []));
  for (const { seq, item } of items) {
    if (typeof item.call_id !== "string" || !lost.has(item.call_id)) continue;
    if (!dropped.has(seq)) dropped.set(seq, "reasoning_dropped");
  }
}

/** What a tool gave back is not what the model made next. */
function isOutput(event: SessionEvent): boolean {
  return event.type === "provider_item" && event.item.type.endsWith("_output");
}

/** True for the events that keep an item of a response. */
export function isItemEvent(event: SessionEvent): boolean {
  return event.type === "reasoning" || event.type === "assistant_message" || event.type === "tool_call" ||
    event.type === "provider_item";
}
