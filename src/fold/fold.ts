/**
 * History → the next request's input. Pure: the same turns and target give the same entries, whether the
 * turns come from memory or from disk.
 *
 * @module
 */
import type { ReasoningEvent, SessionEvent, ToolCallEvent, ToolResultEvent } from "../domain/event.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import type { DroppedItem, DropReason, ModelTurn, Turn } from "../domain/turn.ts";
import type { FoldTarget } from "./guard.ts";
import { planResponse } from "./response_plan.ts";

/** Recorded with each request; `verify` compares only requests of the same version. */
export const FOLD_VERSION = 1;

/** What a call without a recorded result is answered with: nobody knows whether it ran. */
export const ORPHAN_OUTPUT =
  "No result was recorded: the process ended while this call was open. The call may or may not have run.";

/** One reasoning item of the history and what becomes of it. */
export interface ReasoningDecision {
  readonly seq: number;
  readonly turn: number;
  readonly id: string | null;
  /** The turn that minted the item. */
  readonly origin: ModelTurn;
  /** `null` when the item is sent. */
  readonly reason: DropReason | null;
}

/** A change that the fold made so that the API accepts the request. */
export interface FoldRepair {
  readonly seq: number;
  readonly kind: "orphan_answered" | "call_id_renamed" | "result_without_call" | "duplicate_result";
  readonly callId: string;
}

/** The next request's input and the account of everything that was left out or changed. */
export interface Folded {
  readonly entries: readonly FoldedEntry[];
  readonly reasoning: readonly ReasoningDecision[];
  /** Everything left out, reasoning included, in `seq` order. */
  readonly dropped: readonly DroppedItem[];
  readonly repairs: readonly FoldRepair[];
}

/** Folds a whole history for one target. */
export function foldHistory(turns: readonly Turn[], target: FoldTarget): Folded {
  const history = new HistoryFold(turns, target);
  for (const turn of turns) history.add(turn);
  return history.finish();
}

class HistoryFold {
  readonly #target: FoldTarget;
  readonly #entries: FoldedEntry[] = [];
  readonly #reasoning: ReasoningDecision[] = [];
  readonly #dropped: DroppedItem[] = [];
  readonly #repairs: FoldRepair[] = [];
  readonly #seenIds = new Set<string>();
  readonly #answeredItems: ReadonlySet<string>;
  /** Calls with a result somewhere in the history, by the call's `seq`. */
  readonly #resultOf: ReadonlyMap<number, ToolResultEvent>;
  /** Wire call ids by the call's `seq`, for the results that follow. */
  readonly #calls = new Map<number, { readonly callId: string; readonly callType: string }>();
  readonly #uses = new Map<string, number>();
  /** Calls that nothing in the history answers, waiting for the end of their batch. */
  #orphans: ToolCallEvent[] = [];

  constructor(turns: readonly Turn[], target: FoldTarget) {
    this.#target = target;
    const results = new Map<number, ToolResultEvent>();
    const answered = new Set<string>();
    for (const turn of turns) {
      for (const event of turn.events) {
        if (event.type === "tool_result" && !results.has(event.call_seq)) results.set(event.call_seq, event);
        if (event.type === "provider_item" && event.item.type.endsWith("_output")) {
          answered.add(String(event.item.call_id));
        }
      }
    }
    this.#resultOf = results;
    this.#answeredItems = answered;
  }

  add(turn: Turn): void {
    if (turn.kind === "model") {
      this.#addResponse(turn);
      return;
    }
    for (const event of turn.events) {
      if (event.type === "tool_result") this.#addResult(event);
      else if (event.type === "user_message") {
        this.#answerOrphans();
        this.#entries.push({ kind: "user_message", content: event.content });
      }
    }
  }

  finish(): Folded {
    this.#answerOrphans();
    return {
      entries: this.#entries,
      reasoning: this.#reasoning,
      dropped: this.#dropped,
      repairs: this.#repairs,
    };
  }

  #addResponse(turn: ModelTurn): void {
    if (turn.events.some(isInputItem)) this.#answerOrphans();
    const plan = planResponse(turn, {
      target: this.#target,
      seenIds: this.#seenIds,
      answeredItems: this.#answeredItems,
    });
    let afterReasoning = false;
    for (const event of turn.events) {
      const reason = plan.dropped.get(event.seq) ?? null;
      if (event.type === "reasoning") this.#decide(event, turn, reason);
      if (reason !== null) {
        this.#dropped.push({ seq: event.seq, reason });
        continue;
      }
      switch (event.type) {
        case "reasoning":
          this.#entries.push({ kind: "reasoning", item: event.item });
          break;
        case "assistant_message":
          this.#entries.push({ kind: "assistant_message", item: event.item, keepId: afterReasoning });
          break;
        case "provider_item":
          this.#entries.push({ kind: "provider_item", item: event.item });
          break;
        case "tool_call":
          this.#addCall(event);
          break;
        default:
          continue;
      }
      afterReasoning = event.type === "reasoning";
    }
  }

  #decide(event: ReasoningEvent, turn: ModelTurn, reason: DropReason | null): void {
    const id = typeof event.item.id === "string" ? event.item.id : null;
    this.#reasoning.push({ seq: event.seq, turn: turn.turn, id, origin: turn, reason });
  }

  /** Outputs are matched by call id one to one: a repeated id gets a suffix, on the wire only. */
  #addCall(event: ToolCallEvent): void {
    const original = String(event.item.call_id);
    let callId = original;
    for (let use = (this.#uses.get(original) ?? 0) + 1;; use++) {
      callId = use === 1 ? original : `${original.slice(0, 56)}-${use}`;
      this.#uses.set(original, use);
      if (use === 1 || !this.#uses.has(callId)) break;
    }
    if (callId !== original) {
      this.#uses.set(callId, 1);
      this.#repairs.push({ seq: event.seq, kind: "call_id_renamed", callId });
    }
    this.#calls.set(event.seq, { callId, callType: event.item.type });
    this.#entries.push({ kind: "tool_call", item: event.item, callId });
    if (!this.#resultOf.has(event.seq)) this.#orphans.push(event);
  }

  #addResult(event: ToolResultEvent): void {
    const call = this.#calls.get(event.call_seq);
    if (call === undefined) {
      this.#repairs.push({ seq: event.seq, kind: "result_without_call", callId: event.call_id });
    } else if (this.#resultOf.get(event.call_seq) !== event) {
      this.#repairs.push({ seq: event.seq, kind: "duplicate_result", callId: event.call_id });
    } else {
      this.#entries.push({ kind: "tool_result", ...call, output: event.output });
    }
  }

  #answerOrphans(): void {
    for (const { seq } of this.#orphans) {
      const call = this.#calls.get(seq);
      if (call === undefined) continue;
      this.#entries.push({ kind: "tool_result", ...call, output: ORPHAN_OUTPUT });
      this.#repairs.push({ seq, kind: "orphan_answered", callId: call.callId });
    }
    this.#orphans = [];
  }
}

function isInputItem(event: SessionEvent): boolean {
  return event.type === "assistant_message" || event.type === "reasoning" || event.type === "tool_call" ||
    event.type === "provider_item";
}
