/** Walks once over the turns of a history, from the checkpoint in force to the end. */
import type { FOLD_REPAIRS, FoldedEntry } from "../domain/folded.ts";
import { userContent } from "../domain/attachment.ts";
import type {
  HistoryCompactionEvent,
  Item,
  ProviderItemEvent,
  ReasoningEvent,
  ToolCallEvent,
  ToolResultEvent,
} from "../domain/event.ts";
import { callIdOf, hasObjectArguments } from "../domain/item.ts";
import type { DroppedItem, DropReason, ModelTurn, Turn } from "../domain/turn.ts";
import { callText, ORPHAN_OUTPUT } from "./call_text.ts";
import { type FoldTarget, isEncryptedItem } from "./guard.ts";
import { isItemEvent, planResponse, type ResponsePlan } from "./response_plan.ts";
import { type FoldOverrides, repairsArguments } from "./overrides.ts";

/** One reasoning item of the history, and whether it is sent. */
export interface ReasoningDecision {
  readonly seq: number;
  readonly turn: number;
  readonly id: string | null;
  /** The turn of the response that issued the item. */
  readonly origin: ModelTurn;
  /** `null` when the item is sent. */
  readonly reason: DropReason | null;
}

/** A change that the fold made so that the API accepts the request. */
export interface FoldRepair {
  readonly seq: number;
  readonly kind: (typeof FOLD_REPAIRS)[number];
  /** Empty if it is about no call. */
  readonly callId: string;
}

/** The next request's input, and everything that was left out or changed. */
export interface Folded {
  readonly entries: readonly FoldedEntry[];
  /** The `seq` of the event of each entry; 0 for an entry that is not made from a single event. */
  readonly seqs: readonly number[];
  readonly reasoning: readonly ReasoningDecision[];
  /** Everything left out, reasoning included, in `seq` order. */
  readonly dropped: readonly DroppedItem[];
  readonly repairs: readonly FoldRepair[];
  /** The oldest version of the rules, up to `FOLD_VERSION`, that folds this history so. */
  readonly version: number;
}

/** Asks a model to continue an answer that stopped in the middle. */
const GO_ON = "Continue from where you stopped.";

/** In UTF-16 units; the API refuses more (protocol §2.1). */
const MAX_CALL_ID_LENGTH = 64;

export class HistoryFold {
  readonly #target: FoldTarget;
  readonly #overrides: FoldOverrides;
  readonly #entries: FoldedEntry[] = [];
  readonly #seqs: number[] = [];
  readonly #reasoning: ReasoningDecision[] = [];
  readonly #dropped: DroppedItem[] = [];
  readonly #repairs: FoldRepair[] = [];
  readonly #plans: ReadonlyMap<ModelTurn, ResponsePlan>;
  /** Calls with a result somewhere in the history, by the call's `seq`. */
  readonly #resultOf: ReadonlyMap<number, ToolResultEvent>;
  /** Wire call ids by the call's `seq`, for the results that follow. */
  readonly #calls = new Map<number, { readonly callId: string; readonly callType: string }>();
  /** Calls that are left out, by `seq`: their results are left out too. */
  readonly #leftOut = new Map<number, DropReason>();
  readonly #uses = new Map<string, number>();
  /** True if the server accepts only arguments that are one JSON object. */
  readonly #repairsArguments: boolean;
  /** Calls without a result so far, by `seq`, until the end of their batch. */
  readonly #waiting = new Map<number, ToolCallEvent>();
  /** Calls that are sent as text, by `seq`; a batch sends them at its end. */
  readonly #asText = new Map<number, ToolCallEvent>();
  /** The oldest version of the rules that folds this history so. */
  #version = 1;
  /** True if the server only paused the newest response. */
  #paused = false;

  constructor(turns: readonly Turn[], target: FoldTarget, overrides: FoldOverrides) {
    this.#target = target;
    this.#overrides = overrides;
    this.#repairsArguments = repairsArguments(turns, target);
    const results = new Map<number, ToolResultEvent>();
    const answered = new Set<string>();
    for (const turn of turns) {
      for (const event of turn.events) {
        if (event.type === "tool_result" && !results.has(event.call_seq)) results.set(event.call_seq, event);
        // Turns before the checkpoint must not matter: they may not have been read.
        const passed = event.seq <= (overrides.checkpoint?.to_seq ?? 0);
        if (event.type !== "provider_item" || passed) continue;
        if (event.item.type.endsWith("_output")) answered.add(callIdOf(event.item));
        if (typeof event.item.tool_use_id === "string") answered.add(event.item.tool_use_id);
      }
    }
    this.#resultOf = results;
    this.#plans = this.#plan(turns, answered);
    if (overrides.checkpoint !== null) this.#openAtCheckpoint(turns, overrides.checkpoint);
  }

  #add(turn: Turn): void {
    const { checkpoint } = this.#overrides;
    if (checkpoint !== null && turn.seq[1] <= checkpoint.to_seq) {
      if (turn.kind === "model") this.#passOver(turn);
      return;
    }
    if (turn.kind === "model") {
      this.#addResponse(turn);
      return;
    }
    for (const event of turn.events) {
      if (event.type === "tool_result") this.#addResult(event);
      else if (event.type === "branch_summary") {
        this.#endBatch();
        this.#pushText(`<branch_summary>\n${event.summary}\n</branch_summary>`, event.seq);
      } else if (event.type === "user_message") {
        this.#endBatch();
        this.#push({ kind: "user_message", content: userContent(event, turn.events) }, event.seq);
      }
    }
  }

  fold(turns: readonly Turn[]): Folded {
    for (const turn of turns) this.#add(turn);
    this.#endBatch();
    this.#askToContinue();
    return {
      entries: this.#entries,
      seqs: this.#seqs,
      reasoning: this.#reasoning,
      dropped: this.#dropped,
      repairs: this.#repairs,
      version: this.#version,
    };
  }

  /** The plans of the responses after the checkpoint, made from the newest to the oldest. */
  #plan(turns: readonly Turn[], answeredItems: ReadonlySet<string>): Map<ModelTurn, ResponsePlan> {
    const { excluded, checkpoint, otherPrefix } = this.#overrides;
    const end = turns.findLast(({ kind }) => kind === "model" || kind === "user");
    const shared = {
      target: this.#target,
      excluded,
      ids: { known: new Set<string>(), taken: new Set<string>() },
      resultOf: this.#resultOf,
      answeredItems,
    };
    const plans = new Map<ModelTurn, ResponsePlan>();
    for (const turn of turns.toReversed()) {
      if (turn.kind !== "model" || turn.seq[1] <= (checkpoint?.to_seq ?? 0)) continue;
      const pausedHere = turn === end && isPaused(turn);
      const plan = planResponse(turn, { ...shared, prefixChanged: otherPrefix.has(turn.turn), pausedHere });
      this.#version = Math.max(this.#version, plan.version);
      plans.set(turn, plan);
    }
    return plans;
  }

  #addResponse(turn: ModelTurn): void {
    if (turn.events.some(isItemEvent)) {
      this.#endBatch();
      this.#askToContinue();
    }
    const dropped = this.#plans.get(turn)?.dropped ?? new Map<number, DropReason>();
    this.#paused = isPaused(turn);
    let afterReasoning = false;
    let reasoningDropped = false;
    for (const event of turn.events) {
      const reason = dropped.get(event.seq) ?? null;
      if (event.type === "reasoning") {
        this.#decide(event, turn, reason);
        reasoningDropped = reason !== null;
      }
      if (event.type === "tool_call" && reason === "call_refused" && this.#overrides.asText.has(event.seq)) {
        this.#asText.set(event.seq, event);
        continue;
      }
      if (reason !== null) {
        this.#dropped.push({ seq: event.seq, reason });
        if (event.type === "tool_call") this.#leftOut.set(event.seq, reason);
        continue;
      }
      switch (event.type) {
        case "reasoning":
          this.#push({ kind: "reasoning", item: event.item, ...this.#omitted(event) }, event.seq);
          break;
        case "assistant_message":
          this.#push(
            {
              kind: "assistant_message",
              item: event.item,
              keepId: afterReasoning,
              ...this.#omitted(event),
            },
            event.seq,
          );
          break;
        case "provider_item":
          this.#push(this.#providerItem(event, reasoningDropped), event.seq);
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

  /**
   * Adds a short user message if the API refuses a history that ends with the model's own text (protocol §9), unless
   * the server paused there. The message has the same position in every later request.
   */
  #askToContinue(): void {
    if (!this.#target.needs.needsUserLast || this.#paused) return;
    const last = this.#entries.at(-1);
    if (last === undefined || last.kind === "user_message" || last.kind === "tool_result") return;
    this.#pushText(GO_ON, 0);
  }

  /** Adds a text of ours as a message of the user. */
  #pushText(text: string, seq: number): void {
    this.#push({ kind: "user_message", content: [{ type: "input_text", text }] }, seq);
  }

  #push(entry: FoldedEntry, seq: number): void {
    this.#entries.push(entry);
    this.#seqs.push(seq);
  }

  /** A compaction is sent without its id, which would make the server demand the reasoning before it (§2.4). */
  #providerItem(event: ProviderItemEvent, reasoningDropped: boolean): FoldedEntry {
    const { item } = event;
    const more = reasoningDropped && isEncryptedItem(item) ? ["id"] : [];
    return { kind: "provider_item", item, ...this.#omitted(event, more) };
  }

  /** The members that an item omits: the members that the API refused on it or on its type, and `more`. */
  #omitted(
    { seq, item }: { readonly seq: number; readonly item: Item },
    more: readonly string[] = [],
  ): { readonly omit?: readonly string[] } {
    const stripped = this.#overrides.stripped.get(seq) ?? [];
    const refused = [...this.#overrides.refusedMembers.get(item.type) ?? []].filter((name) =>
      Object.hasOwn(item, name) && !stripped.includes(name)
    );
    if (refused.length > 0) this.#version = Math.max(2, this.#version);
    const omit = [...stripped, ...refused, ...more];
    return omit.length === 0 ? {} : { omit };
  }

  /**
   * Adds the checkpoint as one delimited user message. If it cuts into a run that continues after it, that run's user
   * message stays verbatim, so that the task is still in the user's own text.
   */
  #openAtCheckpoint(turns: readonly Turn[], checkpoint: HistoryCompactionEvent): void {
    this.#pushText(`<session_checkpoint>\n${checkpoint.summary}\n</session_checkpoint>`, checkpoint.seq);
    // If nothing follows the checkpoint yet, it cuts into the run of the request.
    const active = turnAfter(turns, checkpoint.to_seq)?.run ?? this.#target.run;
    if (active === undefined) return;
    const opening = turns.findLast((turn) => turn.kind === "user" && turn.run <= active);
    for (const event of opening?.events ?? []) {
      if (event.type === "user_message" && event.seq <= checkpoint.to_seq) {
        const content = userContent(event, opening?.events ?? []);
        this.#push({ kind: "user_message", content }, event.seq);
      }
    }
  }

  /** Drops the reasoning of a response from before the checkpoint. */
  #passOver(turn: ModelTurn): void {
    for (const event of turn.events) {
      if (event.type !== "reasoning") continue;
      this.#decide(event, turn, "before_checkpoint");
      this.#dropped.push({ seq: event.seq, reason: "before_checkpoint" });
    }
  }

  #decide(event: ReasoningEvent, turn: ModelTurn, reason: DropReason | null): void {
    const id = typeof event.item.id === "string" ? event.item.id : null;
    this.#reasoning.push({ seq: event.seq, turn: turn.turn, id, origin: turn, reason });
  }

  /**
   * Adds a call. The API matches outputs by call id one to one: a repeated id gets a suffix, on the wire only. So does
   * an id from another server that is longer than OpenAI accepts.
   */
  #addCall(event: ToolCallEvent): void {
    const original = callIdOf(event.item);
    const fits = original.length <= MAX_CALL_ID_LENGTH;
    let callId = original;
    for (let use = (this.#uses.get(original) ?? 0) + 1;; use++) {
      callId = use === 1 && fits ? original : `${original.slice(0, 56)}-${use}`;
      this.#uses.set(original, use);
      if (callId === original || !this.#uses.has(callId)) break;
    }
    if (callId !== original) {
      this.#uses.set(callId, 1);
      this.#repairs.push({ seq: event.seq, kind: "call_id_renamed", callId });
    }
    this.#calls.set(event.seq, { callId, callType: event.item.type });
    const { item } = event;
    const isRaw = this.#repairsArguments && item.type !== "custom_tool_call" && !hasObjectArguments(item);
    const repaired = isRaw ? { repaired: true } as const : {};
    if (isRaw) this.#version = Math.max(4, this.#version);
    this.#push({ kind: "tool_call", item, callId, ...repaired, ...this.#omitted(event) }, event.seq);
    this.#waiting.set(event.seq, event);
  }

  #addResult(event: ToolResultEvent): void {
    const { seq, call_id: callId, call_seq: callSeq } = event;
    const reason = this.#leftOut.get(callSeq);
    if (reason !== undefined) {
      this.#dropped.push({ seq, reason });
    } else if (this.#overrides.asText.has(callSeq)) {
      // The end of the batch sends it.
      return;
    } else if (!this.#calls.has(callSeq)) {
      this.#repairs.push({ seq, kind: "result_without_call", callId });
    } else if (this.#resultOf.get(callSeq) !== event) {
      this.#repairs.push({ seq, kind: "duplicate_result", callId });
    } else if (this.#waiting.delete(callSeq)) this.#pushResult(event);
  }

  #pushResult(result: ToolResultEvent): void {
    const call = this.#calls.get(result.call_seq);
    if (call === undefined) return;
    const output = this.#outputOf(result, call.callId);
    const isError = result.status === "ok" ? {} : { isError: true } as const;
    this.#push({ kind: "tool_result", ...call, output, ...isError }, result.seq);
  }

  /** The output of a result as it is sent: whole, or shortened. */
  #outputOf({ seq, output }: ToolResultEvent, callId: string): string {
    const kept = this.#overrides.elided.get(seq);
    if (kept === undefined) return output;
    this.#version = Math.max(3, this.#version);
    this.#repairs.push({ seq, kind: "result_elided", callId });
    return kept;
  }

  /** Adds a call whose pairing the API refused as a message of the user, with its result. */
  #pushAsText({ seq, item }: ToolCallEvent): void {
    const callId = callIdOf(item);
    const result = this.#resultOf.get(seq);
    const output = result === undefined ? ORPHAN_OUTPUT : this.#outputOf(result, callId);
    const text = callText(item, { output, status: result?.status ?? "orphaned" });
    this.#version = Math.max(5, this.#version);
    this.#repairs.push({ seq, kind: "call_as_text", callId });
    this.#pushText(text, result?.seq ?? 0);
  }

  /**
   * Ends a batch. A call without a result was never answered, or only after the model continued. Both get their output
   * here, so that a result that is recorded late changes no request.
   */
  #endBatch(): void {
    for (const [seq] of this.#waiting) {
      const call = this.#calls.get(seq);
      const late = this.#resultOf.get(seq);
      if (late !== undefined) {
        this.#version = Math.max(2, this.#version);
        this.#pushResult(late);
      } else if (call !== undefined) {
        this.#push({ kind: "tool_result", ...call, output: ORPHAN_OUTPUT, isError: true }, 0);
        this.#repairs.push({ seq, kind: "orphan_answered", callId: call.callId });
      }
    }
    this.#waiting.clear();
    for (const call of this.#asText.values()) this.#pushAsText(call);
    this.#asText.clear();
  }
}

/** The first turn after an event that begins or continues a run. */
export function turnAfter(turns: readonly Turn[], after: number): Turn | undefined {
  return turns.find(({ seq, kind, events }) =>
    seq[0] > after && (kind === "model" || kind === "tools" || kind === "user" ||
      events.some(({ type }) => type === "run_continued"))
  );
}

/** True if the server only paused. A response with a call for the client waits for results, whatever its status. */
function isPaused({ response, events }: ModelTurn): boolean {
  return response.paused === true && events.every(({ type }) => type !== "tool_call");
}
