/**
 * Random sessions in which most requests extend the one before, and now and then something happens that may change what
 * earlier turns become in later requests.
 *
 * @module
 */
import type { EventDraft, Item } from "../../../src/domain/event.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Turn, UserTurn } from "../../../src/domain/turn.ts";
import { Dice } from "../fold/dice.ts";
import { call, History, message, reasoning } from "../../support/history.ts";

/** The session of one seed, on either API. */
export function seriesHistory(seed: number): readonly Turn[] {
  return new Maker(new Dice(seed)).make();
}

class Maker {
  readonly #dice: Dice;
  readonly #history = new History();
  readonly #provider: "openai" | "anthropic";
  readonly #ids: string[] = [];
  /** Calls that nothing has answered. */
  readonly #open: { readonly seq: number; readonly callId: string }[] = [];
  readonly #reasoning: number[] = [];
  #account: string | null = null;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#provider = dice.pick(["openai", "openai", "anthropic"]);
  }

  make(): readonly Turn[] {
    for (let runs = this.#dice.count(3, 8); runs > 0; runs--) {
      this.#begin();
      for (let steps = this.#dice.count(1, 4); steps > 0; steps--) this.#step();
      if (this.#dice.chance(0.8)) this.#history.ended();
      if (this.#dice.chance(0.1)) this.#checkpoint();
      this.#history.run++;
    }
    return this.#history.turns;
  }

  #begin(): void {
    const run = this.#history.run;
    if (run === 1 || this.#dice.chance(0.85)) this.#history.user(`Question ${run}`);
    else {
      const { pins } = this.#history.turns[0] as UserTurn;
      this.#history.add({ kind: "harness", run, pins, events: [{ type: "run_continued", run }] });
    }
    if (this.#dice.chance(0.1)) this.#account = this.#dice.pick(["org-1", "org-2"]);
  }

  #step(): void {
    const dice = this.#dice;
    if (dice.chance(0.08)) this.#notice();
    const items: Item[] = [];
    for (let count = dice.count(0, 2); count > 0; count--) items.push(this.#thought());
    if (dice.chance(0.25)) items.push(this.#hosted());
    const callIds: string[] = [];
    if (dice.chance(0.6)) {
      for (let count = dice.count(1, 2); count > 0; count--) callIds.push(this.#id("call", 0.05));
      items.push(...callIds.map((id) => this.#call(id)));
    } else items.push(this.#text());
    this.#response(items);
    if (callIds.length > 0) this.#answer();
    if (this.#open.length > 0 && dice.chance(0.1)) this.#answerLate();
  }

  #response(items: readonly Item[]): void {
    const dice = this.#dice;
    const account = dice.chance(0.7) ? this.#account : null;
    this.#history.model(items, {
      fingerprint: { provider: this.#provider, account },
      status: dice.chance(0.05) ? "incomplete" : "completed",
    });
    const turn = this.#history.turns.at(-1);
    if (turn?.kind !== "model") throw new Error("No model turn was made");
    const replay = {
      mode: dice.chance(0.03) ? "none" : "exact",
      account: dice.chance(0.7) ? this.#account : null,
      window: dice.chance(0.05) ? dice.count(0, 2) : null,
    };
    const fields: JsonObject = dice.chance(0.05) ? { max_output_tokens: dice.count(1, 9) } : {};
    Object.assign(turn, { request: { ...turn.request, replay, fields } });
    if (dice.chance(0.08)) Object.assign(turn, { response: { ...turn.response, paused: true } });
    for (const event of turn.events) {
      if (event.type === "tool_call") this.#open.push({ seq: event.seq, callId: callIdOf(event.item) });
      if (event.type === "reasoning") this.#reasoning.push(event.seq);
    }
  }

  /** Answers all open calls, or now and then only some. */
  #answer(): void {
    const answered = this.#open.splice(0).filter((one) => {
      const isLeft = this.#dice.chance(0.04);
      if (isLeft) this.#open.push(one);
      return !isLeft;
    });
    if (answered.length > 0) {
      this.#history.add({ kind: "tools", run: this.#history.run, events: answered.map(result) });
    }
  }

  #answerLate(): void {
    const [one] = this.#open.splice(0, 1);
    if (one === undefined) return;
    const kind = this.#dice.pick(["tools", "harness"] as const);
    this.#history.add({ kind, run: this.#history.run, events: [result(one)] });
  }

  #notice(): void {
    const seq = this.#reasoning.length === 0 ? null : this.#dice.pick(this.#reasoning);
    if (seq === null) return;
    this.#history.add({
      kind: "harness",
      run: this.#history.run,
      events: [{
        type: "replay_notice",
        reason: "reasoning_refused",
        items: [{ seq, action: this.#dice.pick(["left_out", "left_out", "quarantined"] as const) }],
      }],
    });
  }

  #checkpoint(): void {
    if (this.#open.length > 0) return;
    this.#history.add({
      kind: "compaction",
      run: this.#history.run,
      pins: (this.#history.turns[0] as UserTurn).pins,
      events: [{
        type: "history_compaction",
        to_seq: this.#history.seq,
        to_turn: this.#history.turns.length,
        previous_checkpoint: null,
        opening_turn: null,
        strategy: "deterministic",
        summary: `Up to ${this.#history.seq}`,
        limitations: [],
      }],
    });
  }

  /** A new id, or with some probability one that was used before. */
  #id(kind: string, repeats: number): string {
    const old = this.#ids.filter((id) => id.startsWith(kind));
    if (old.length > 0 && this.#dice.chance(repeats)) return this.#dice.pick(old);
    const id = `${kind}_${this.#ids.length}`;
    this.#ids.push(id);
    return id;
  }

  #thought(): Item {
    const id = this.#id("rs", 0.06);
    return this.#provider === "openai"
      ? reasoning(id)
      : { type: "thinking", id, thinking: "Hm", signature: `sig-${id}` };
  }

  #call(id: string): Item {
    return this.#provider === "openai"
      ? call(id)
      : { type: "tool_use", id, name: "read_file", input: { path: "a.txt" } };
  }

  #text(): Item {
    const id = this.#id("msg", 0);
    return this.#provider === "openai" ? message(id, "Done.") : { type: "text", text: `Done ${id}.` };
  }

  /** A call of a tool that the server runs, or an output that answers an earlier one. */
  #hosted(): Item {
    const callId = this.#id("hosted", 0.5);
    return this.#dice.pick<Item>([
      { type: "web_search_call", id: this.#id("ws", 0), status: "completed" },
      { type: "shell_call", id: this.#id("sh", 0), call_id: callId },
      { type: "shell_call_output", id: this.#id("sho", 0), call_id: callId },
      { type: "server_tool_use", id: callId, name: "web_search", input: {} },
      { type: "web_search_tool_result", tool_use_id: callId, content: [] },
    ]);
  }
}

function callIdOf(item: Item): string {
  return String(item.call_id ?? item.id);
}

function result({ seq, callId }: { readonly seq: number; readonly callId: string }): EventDraft {
  return {
    type: "tool_result",
    call_id: callId,
    call_seq: seq,
    tool: "read_file",
    status: "ok",
    output: `output of ${callId}`,
  };
}
