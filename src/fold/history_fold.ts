/**
 * One walk over the turns of a history, from the checkpoint in force to its end.
 *
 * @module
 */
import type {
  BranchSummaryEvent,
  HistoryCompactionEvent,
  ProviderItemEvent,
  ReasoningEvent,
  ToolCallEvent,
  ToolResultEvent,
} from "../domain/event.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { callIdOf } from "../domain/item.ts";
import type { DroppedItem, DropReason, ModelTurn, Turn } from "../domain/turn.ts";
import type { Folded, FoldRepair, ReasoningDecision } from "./fold.ts";
import { type FoldTarget, isEncryptedItem } from "./guard.ts";
import { isItemEvent, planResponse } from "./response_plan.ts";
import type { Steering } from "./steering.ts";

/** What a call without a recorded result is answered with: nobody knows whether it ran. */
export const ORPHAN_OUTPUT =
  "No result was recorded: the process ended while this call was open. The call may or may not have run.";

/** What asks a model to go on where it stopped in the middle of its answer. */
export const GO_ON = "Continue from where you stopped.";

/** In UTF-16 units; the API refuses more (protocol §2.1). */
const MAX_CALL_ID_LENGTH = 64;

/** Collects entries turn by turn. */
export class HistoryFold {
  readonly #target: FoldTarget;
  readonly #steering: Steering;
  readonly #entries: FoldedEntry[] = [];
  readonly #seqs: number[] = [];
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
  /** Number of the response that the history ends with, if its server only paused it. */
  readonly #pausedEnd: number | null = null;
  /** True when the newest response was only paused by its server. */
  #paused = false;

  constructor(turns: readonly Turn[], target: FoldTarget, steering: Steering) {
    this.#target = target;
    this.#steering = steering;
    const results = new Map<number, ToolResultEvent>();
    const answered = new Set<string>();
    for (const turn of turns) {
      for (const event of turn.events) {
        if (event.type === "tool_result" && !results.has(event.call_seq)) results.set(event.call_seq, event);
        // What lies before the checkpoint must not matter: it may not have been read.
        const passed = event.seq <= (steering.checkpoint?.to_seq ?? 0);
        if (event.type !== "provider_item" || passed) continue;
        if (event.item.type.endsWith("_output")) answered.add(callIdOf(event.item));
        if (typeof event.item.tool_use_id === "string") answered.add(event.item.tool_use_id);
      }
    }
    this.#resultOf = results;
    const end = turns.findLast(({ kind }) => kind === "model" || kind === "user");
    if (end?.kind === "model" && isPaused(end)) this.#pausedEnd = end.turn;
    this.#answeredItems = answered;
    this.#dropped.push(...steering.passedOver);
    if (steering.checkpoint !== null) this.#openAtCheckpoint(turns, steering.checkpoint);
  }

  add(turn: Turn): void {
    const { checkpoint } = this.#steering;
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
      else if (event.type === "branch_summary") this.#addBranch(event);
      else if (event.type === "user_message") {
        this.#answerOrphans();
        this.#push({ kind: "user_message", content: event.content }, event.seq);
      }
    }
  }

  finish(): Folded {
    this.#answerOrphans();
    this.#askToGoOn();
    return {
      entries: this.#entries,
      seqs: this.#seqs,
      reasoning: this.#reasoning,
      dropped: this.#steering.passedOver.length === 0
        ? this.#dropped
        : this.#dropped.toSorted((a, b) => a.seq - b.seq),
      repairs: this.#repairs,
    };
  }

  #addResponse(turn: ModelTurn): void {
    if (turn.events.some(isItemEvent)) {
      this.#answerOrphans();
      this.#askToGoOn();
    }
    const plan = planResponse(turn, {
      target: this.#target,
      excluded: this.#steering.excluded,
      seenIds: this.#seenIds,
      prefixChanged: this.#steering.otherPrefix.has(turn.turn),
      pausedHere: this.#pausedEnd === turn.turn,
      answeredItems: this.#answeredItems,
    });
    this.#paused = isPaused(turn);
    let afterReasoning = false;
    let reasoningDropped = false;
    for (const event of turn.events) {
      const reason = plan.dropped.get(event.seq) ?? null;
      if (event.type === "reasoning") {
        this.#decide(event, turn, reason);
        reasoningDropped = reason !== null;
      }
      if (reason !== null) {
        this.#dropped.push({ seq: event.seq, reason });
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
   * Anthropic takes no history that ends with the assistant's own words (protocol §9), unless it paused itself: a
   * short user message asks it to go on. It stands at the same place in every later request.
   */
  #askToGoOn(): void {
    if (this.#target.fingerprint.provider !== "anthropic" || this.#paused) return;
    const last = this.#entries.at(-1);
    if (last === undefined || last.kind === "user_message" || last.kind === "tool_result") return;
    this.#push({ kind: "user_message", content: [{ type: "input_text", text: GO_ON }] }, 0);
  }

  #push(entry: FoldedEntry, seq: number): void {
    this.#entries.push(entry);
    this.#seqs.push(seq);
  }

  /** A compaction does without its id, which would make the server demand the reasoning before it (§2.4). */
  #providerItem({ item, seq }: ProviderItemEvent, reasoningDropped: boolean): FoldedEntry {
    const more = reasoningDropped && isEncryptedItem(item) ? ["id"] : [];
    return { kind: "provider_item", item, ...this.#omitted({ seq }, more) };
  }

  /** The members that an item goes without: those that the API refused on it, and `more`. */
  #omitted(
    { seq }: { readonly seq: number },
    more: readonly string[] = [],
  ): { readonly omit?: readonly string[] } {
    const omit = [...this.#steering.stripped.get(seq) ?? [], ...more];
    return omit.length === 0 ? {} : { omit };
  }

  /**
   * The checkpoint as one delimited user message. When it cuts into a run that goes on behind it, that run's user
   * message stays verbatim, so that the task is still in the user's own words. A provider's own items stand in place
   * of the summary, and of the user messages among them.
   */
  #openAtCheckpoint(turns: readonly Turn[], checkpoint: HistoryCompactionEvent): void {
    if (checkpoint.items !== undefined) {
      // Ids of messages are bound to the response that they came with; these stand alone.
      for (const item of checkpoint.items) {
        const omit = item.type === "message" ? { omit: ["id"] } : {};
        this.#push({ kind: "provider_item", item, ...omit }, checkpoint.seq);
      }
      if (checkpoint.items.some(({ role }) => role === "user")) return;
    } else {
      const text = `<session_checkpoint>\n${checkpoint.summary}\n</session_checkpoint>`;
      this.#push({ kind: "user_message", content: [{ type: "input_text", text }] }, checkpoint.seq);
    }
    const next = turns.find(({ seq, kind, events }) =>
      seq[0] > checkpoint.to_seq &&
      (kind === "model" || kind === "tools" || kind === "user" ||
        events.some(({ type }) => type === "run_continued"))
    );
    // With nothing behind the checkpoint yet, the run that asks is the one that it cuts into.
    const active = next?.run ?? this.#target.run;
    if (active === undefined) return;
    const opening = turns.findLast((turn) => turn.kind === "user" && turn.run <= active);
    for (const event of opening?.events ?? []) {
      if (event.type === "user_message" && event.seq <= checkpoint.to_seq) {
        this.#push({ kind: "user_message", content: event.content }, event.seq);
      }
    }
  }

  /** What another branch did, as one delimited user message. */
  #addBranch({ summary, seq }: BranchSummaryEvent): void {
    this.#answerOrphans();
    const text = `<branch_summary>\n${summary}\n</branch_summary>`;
    this.#push({ kind: "user_message", content: [{ type: "input_text", text }] }, seq);
  }

  /** A response from before the checkpoint: its reasoning never survives one. */
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
   * Outputs are matched by call id one to one: a repeated id gets a suffix, on the wire only. So does one that is
   * longer than OpenAI takes, as other servers give.
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
    this.#push({ kind: "tool_call", item: event.item, callId, ...this.#omitted(event) }, event.seq);
    if (!this.#resultOf.has(event.seq)) this.#orphans.push(event);
  }

  #addResult(event: ToolResultEvent): void {
    const call = this.#calls.get(event.call_seq);
    if (this.#steering.excluded.has(event.call_seq)) {
      this.#dropped.push({ seq: event.seq, reason: "call_refused" });
    } else if (call === undefined) {
      this.#repairs.push({ seq: event.seq, kind: "result_without_call", callId: event.call_id });
    } else if (this.#resultOf.get(event.call_seq) !== event) {
      this.#repairs.push({ seq: event.seq, kind: "duplicate_result", callId: event.call_id });
    } else {
      const { output, status, seq } = event;
      this.#push(
        { kind: "tool_result", ...call, output, ...(status === "ok" ? {} : { isError: true }) },
        seq,
      );
    }
  }

  #answerOrphans(): void {
    for (const { seq } of this.#orphans) {
      const call = this.#calls.get(seq);
      if (call === undefined) continue;
      this.#push({ kind: "tool_result", ...call, output: ORPHAN_OUTPUT, isError: true }, 0);
      this.#repairs.push({ seq, kind: "orphan_answered", callId: call.callId });
    }
    this.#orphans = [];
  }
}

/** With a call of the client's among its items, a response waits for results, whatever its server says. */
function isPaused({ response, events }: ModelTurn): boolean {
  return response.paused === true && events.every(({ type }) => type !== "tool_call");
}
