/** Builds histories turn by turn, as the store would have written them. */
import { foldNeedsOf } from "../../src/apis/apis.ts";
import type { EventDraft, Item } from "../../src/domain/event.ts";
import type { Fingerprint } from "../../src/domain/fingerprint.ts";
import { callIdOf } from "../../src/domain/item.ts";
import { checkSeal } from "../../src/domain/seal.ts";
import { encodeTurn, type ModelTurn, type Turn, type TurnDraft } from "../../src/domain/turn.ts";
import type { FoldTarget } from "../../src/fold/guard.ts";
import { eventOfItem } from "../../src/run/request_step.ts";

export const FINGERPRINT: Fingerprint = { provider: "openai", endpoint: "1f3a9c02", account: null };
export const MODEL = "gpt-5.6";
export const TARGET: FoldTarget = {
  fingerprint: FINGERPRINT,
  needs: foldNeedsOf(FINGERPRINT.provider),
  model: MODEL,
  replay: "exact",
};

/** Members of a model turn that a test sets; the others have defaults. */
export interface ResponseFacts {
  readonly fingerprint?: Partial<Fingerprint>;
  readonly asked?: string;
  readonly answered?: string | null;
  readonly status?: string;
}

/** A growing session in memory. */
export class History {
  readonly turns: Turn[] = [];
  /** The bytes of each turn's file. */
  readonly files: Uint8Array[] = [];
  /** The run that the next turns belong to. */
  run = 1;
  #seq = 0;

  /** The `seq` of the newest event. */
  get seq(): number {
    return this.#seq;
  }

  user(text: string): this {
    return this.add({
      kind: "user",
      run: this.run,
      pins: {
        fingerprint: FINGERPRINT,
        model: MODEL,
        instructions: "0".repeat(64),
        tools: "0".repeat(64),
        permissions: ["read"],
        workspace: "/workspace",
      },
      events: [{ type: "user_message", content: [{ type: "input_text", text }] }],
    });
  }

  model(items: readonly Item[], facts: ResponseFacts = {}): this {
    return this.add({
      kind: "model",
      run: this.run,
      model: { asked: facts.asked ?? MODEL, answered: facts.answered ?? null },
      fingerprint: { ...FINGERPRINT, ...facts.fingerprint },
      response: { id: "resp_1", status: facts.status ?? "completed" },
      request: {
        body_sha256: "0".repeat(64),
        fold: 1,
        fields: { model: MODEL },
        guard: { sent: 0, dropped: [] },
      },
      events: items.map(eventOfItem),
    });
  }

  /** Answers the calls of the newest model turn, or those of them that `which` names. */
  results(which?: readonly string[]): this {
    const model = this.turns.findLast((turn): turn is ModelTurn => turn.kind === "model");
    const events = (model?.events ?? []).flatMap((event): EventDraft[] => {
      if (event.type !== "tool_call") return [];
      const callId = callIdOf(event.item);
      if (which !== undefined && !which.includes(callId)) return [];
      return [{
        type: "tool_result",
        call_id: callId,
        call_seq: event.seq,
        tool: String(event.item.name),
        status: "ok",
        output: `output of ${callId}`,
      }];
    });
    return events.length === 0 ? this : this.add({ kind: "tools", run: this.run, events });
  }

  ended(): this {
    return this.add({
      kind: "harness",
      run: this.run,
      events: [{
        type: "run_ended",
        run: this.run,
        state: "completed",
        exit_code: 0,
        usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      }],
    });
  }

  /** Any turn at all. */
  add(draft: TurnDraft): this {
    const last = this.turns.at(-1);
    const encoded = encodeTurn(draft, {
      session: "s",
      turn: this.turns.length + 1,
      firstSeq: this.#seq + 1,
      prev: last?.sum ?? null,
      at: "2026-11-21T20:18:00.000Z",
    });
    if (checkSeal(encoded.bytes) !== encoded.sum) throw new Error("A fresh turn does not fit its own sum");
    this.turns.push(encoded.turn);
    this.files.push(encoded.bytes);
    this.#seq = encoded.turn.seq[1];
    return this;
  }
}

export function reasoning(id: string, blob: string | null = `gAAA-${id}`): Item {
  return { id, type: "reasoning", summary: [], ...(blob === null ? {} : { encrypted_content: blob }) };
}

export function call(id: string, name = "read_file", args = '{"path":"a.txt"}'): Item {
  return {
    id: `fc_${id}`,
    type: "function_call",
    call_id: id,
    name,
    arguments: args,
    status: "completed",
  };
}

export function message(id: string, text: string, phase?: string): Item {
  return {
    id,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
    ...(phase === undefined ? {} : { phase }),
  };
}
