/** The conversation of a session as other agents can hold it: texts, calls and results, without reasoning. */
import { requestUsageOf } from "../apis/usage.ts";
import { callArgumentsOf, callIdOf, callNameOf, messageTextOf } from "../domain/item.ts";
import { checkpointAfter } from "../domain/manifest.ts";
import type { CheckpointRef } from "../domain/event.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";
import { NO_USAGE, type RequestUsage } from "../domain/usage.ts";
import { summaryText } from "./reading.ts";

export interface Call {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

export type AnswerPart = { readonly kind: "text"; readonly text: string } | Call;

export type Spoken =
  | { readonly kind: "user"; readonly at: string; readonly text: string }
  | {
    readonly kind: "answer";
    readonly at: string;
    readonly model: string;
    readonly provider: ModelTurn["fingerprint"]["provider"];
    /** All counts are 0 if the server sent none. */
    readonly usage: RequestUsage;
    /** At least one. */
    readonly parts: readonly AnswerPart[];
  }
  | {
    readonly kind: "result";
    readonly at: string;
    readonly callId: string;
    readonly tool: string;
    readonly isError: boolean;
    readonly output: string;
  };

export interface Conversation {
  readonly spoken: readonly Spoken[];
  readonly lost: readonly { readonly turn: number; readonly what: string }[];
}

const NOT_RUN = "This call has no result: it did not run.";

/**
 * Reads the conversation from the checkpoint in force on, whose summary comes first. Each call gets a result, because
 * agents refuse open calls.
 */
export function conversationOf(turns: readonly Turn[]): Conversation {
  const checkpoint = turns.reduce(checkpointAfter, null as CheckpointRef | null);
  const reading = new Reading();
  if (checkpoint !== null) reading.summarize(turns, checkpoint);
  for (const turn of turns) reading.add(turn, checkpoint?.to_seq ?? 0);
  return reading.finish();
}

class Reading {
  readonly #spoken: Spoken[] = [];
  readonly #lost: { turn: number; what: string }[] = [];
  /** Calls without a result so far, by the `seq` of the call. */
  readonly #open = new Map<number, Call>();
  /** Numbers of calls with the same id: some servers issue an id again, and agents match results by it. */
  readonly #uses = new Map<string, number>();
  #at = "";

  summarize(turns: readonly Turn[], { seq, turn: number, opening_turn }: CheckpointRef): void {
    const turn = turns[number - 1];
    const event = turn?.events.find((each) => each.type === "history_compaction" && each.seq === seq);
    if (turn === undefined || event?.type !== "history_compaction") return;
    if (event.summary === "") this.#lose(turn, "a checkpoint that only its provider can read");
    else this.#spoken.push({ kind: "user", at: turn.at, text: summaryText(event.summary) });
    const opening = opening_turn === null ? undefined : turns[opening_turn - 1];
    if (opening !== undefined) this.#addUser(opening, opening.events);
  }

  add(turn: Turn, after: number): void {
    if (turn.seq[1] <= after) return;
    this.#at = turn.at;
    const events = turn.events.filter(({ seq }) => seq > after);
    if (turn.kind === "model") return this.#addAnswer(turn, events);
    this.#addUser(turn, events);
    for (const event of events) {
      if (event.type !== "tool_result") continue;
      const { call_seq, tool, status, output } = event;
      const callId = this.#open.get(call_seq)?.id;
      if (callId === undefined) continue;
      this.#open.delete(call_seq);
      this.#spoken.push({ kind: "result", at: turn.at, callId, tool, isError: status !== "ok", output });
    }
  }

  finish(): Conversation {
    this.#answerOpenCalls();
    return { spoken: this.#spoken, lost: this.#lost };
  }

  #addUser(turn: Turn, events: Turn["events"]): void {
    for (const event of events) {
      if (event.type === "branch_summary") {
        this.#answerOpenCalls();
        const text = `This is a summary of another branch:\n\n${event.summary}`;
        this.#spoken.push({ kind: "user", at: turn.at, text });
      }
      if (event.type === "attachment") this.#lose(turn, `attached file ${JSON.stringify(event.name)}`);
      if (event.type !== "user_message") continue;
      const texts = event.content.flatMap(({ text }) => typeof text === "string" ? [text] : []);
      for (const { type, text } of event.content) {
        if (typeof text !== "string") this.#lose(turn, `part of a message, of type ${JSON.stringify(type)}`);
      }
      this.#answerOpenCalls();
      if (texts.length > 0) this.#spoken.push({ kind: "user", at: turn.at, text: texts.join("\n\n") });
    }
  }

  #addAnswer(turn: ModelTurn, events: Turn["events"]): void {
    const calls: [number, Call][] = [];
    const parts = events.flatMap((event): AnswerPart[] => {
      if (event.type === "assistant_message") {
        const text = messageTextOf(event.item);
        return text.trim() === "" ? [] : [{ kind: "text", text }];
      }
      if (event.type === "provider_item") this.#lose(turn, `item of type ${JSON.stringify(event.item.type)}`);
      if (event.type !== "tool_call") return [];
      const { item } = event;
      const call: Call = {
        kind: "call",
        id: this.#newId(callIdOf(item)),
        name: callNameOf(item),
        arguments: callArgumentsOf(item),
      };
      calls.push([event.seq, call]);
      return [call];
    });
    if (parts.length === 0) return;
    this.#answerOpenCalls();
    for (const [seq, call] of calls) this.#open.set(seq, call);
    const { model, fingerprint: { provider } } = turn;
    const counted = turn.events.find(({ type }) => type === "provider_usage");
    this.#spoken.push({
      kind: "answer",
      at: turn.at,
      model: model.answered ?? model.asked,
      provider,
      usage: counted?.type === "provider_usage" ? requestUsageOf(provider, counted.usage) : NO_USAGE,
      parts,
    });
  }

  #newId(id: string): string {
    const use = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, use);
    return use === 1 ? id : `${id}-${use}`;
  }

  #answerOpenCalls(): void {
    for (const { id, name } of this.#open.values()) {
      const result = { callId: id, tool: name, isError: true, output: NOT_RUN };
      this.#spoken.push({ kind: "result", at: this.#at, ...result });
    }
    this.#open.clear();
  }

  #lose({ turn }: Turn, what: string): void {
    this.#lost.push({ turn, what });
  }
}
