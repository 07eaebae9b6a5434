/**
 * Random histories, the same for the same seed: switches of model, endpoint and account, crashes at any event,
 * prefixes, dropped outputs, refusals, checkpoints.
 *
 * @module
 */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import { familyOf } from "../../../src/domain/models.ts";
import type { EventDraft, Item, Omission, ReplayAction, SessionEvent } from "../../../src/domain/event.ts";
import { type Pins, type Turn, TURN_FORMAT, type TurnDraft } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget, ReplayMode } from "../../../src/fold/guard.ts";
import { eventOfItem } from "../../../src/run/request_step.ts";
import { retryEventOf } from "../../../src/run/refusals.ts";
import { Dice } from "./dice.ts";
import { brokenResponsesRules } from "../../doors/wire/rules.ts";

/** A history, the target of its next request, and the state of the server that issued its items. */
export interface RandomCase {
  readonly turns: readonly Turn[];
  readonly target: FoldTarget;
  /** The reasoning item directly before an item, by the item's id. */
  readonly reasoningOf: ReadonlyMap<string, string>;
  /** The id or call id of what came right after a reasoning item; not for ids that came twice. */
  readonly followingOf: ReadonlyMap<string, string>;
}

const ENDPOINTS = ["aaaaaaaa", "bbbbbbbb"];
const MODELS = ["gpt-5.6", "gpt-5.6-mini", "gpt-5.5", "o3", "unheard-of"];
const ACCOUNTS = [null, "org-1", "org-2"];
const MODES: readonly ReplayMode[] = ["exact", "exact", "exact", "family", "none"];
const SUM = "0".repeat(64);

/** The case of one seed. */
export function randomCase(seed: number): RandomCase {
  return new Maker(new Dice(seed)).make();
}

class Maker {
  readonly #dice: Dice;
  #turns: Turn[] = [];
  #run = 0;
  #ids = 0;
  #where: FoldTarget;
  readonly #reasoningOf = new Map<string, string>();
  readonly #followingOf = new Map<string, string>();
  readonly #used: string[] = [];
  readonly #usedCalls: string[] = [];

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#where = this.#target();
  }

  make(): RandomCase {
    const dice = this.#dice;
    for (let runs = dice.count(1, 5); runs > 0; runs--) {
      this.#open();
      for (let steps = dice.count(0, 4); steps > 0; steps--) this.#step();
      if (dice.chance(0.15)) this.#checkpoint();
      if (dice.chance(0.05)) this.#withdraw();
      if (dice.chance(0.5)) this.#end();
      if (dice.chance(0.1)) this.#cut();
    }
    if (dice.chance(0.7)) this.#open();
    const target = { ...this.#where, run: this.#run, window: dice.chance(0.2) ? dice.count(0, 4) : null };
    return {
      turns: this.#turns,
      target,
      reasoningOf: this.#reasoningOf,
      followingOf: this.#followingOf,
    };
  }

  #target(): FoldTarget {
    const { pick } = this.#dice;
    return {
      fingerprint: { provider: "openai", endpoint: pick(ENDPOINTS), account: pick(ACCOUNTS) },
      needs: foldNeedsOf("openai"),
      model: pick(MODELS),
      replay: pick(MODES),
    };
  }

  #open(): void {
    this.#run++;
    if (this.#dice.chance(0.3)) this.#where = this.#target();
    const pins: Pins = {
      fingerprint: this.#where.fingerprint,
      model: this.#where.model,
      instructions: SUM,
      tools: SUM,
      permissions: [],
      workspace: "/workspace",
    };
    if (this.#run === 1 || this.#dice.chance(0.8)) {
      const text = `prompt ${this.#run}`;
      this.#add({
        kind: "user",
        run: this.#run,
        pins,
        events: [{
          type: "user_message",
          content: [{ type: "input_text", text }],
        }],
      });
    } else {
      const continued = { type: "run_continued" as const, run: this.#run };
      this.#add({ kind: "harness", run: this.#run, pins, events: [continued] });
    }
  }

  #step(): void {
    const dice = this.#dice;
    if (dice.chance(0.1)) this.#refuse();
    const whole = this.#items();
    const cut = dice.chance(0.2);
    const items = cut ? whole.slice(0, dice.count(0, whole.length)) : whole;
    if (items.length === 0) return;
    const status = cut ? dice.pick(["incomplete", "failed", "interrupted", "cut"]) : "completed";
    this.#addResponse(items, status);
    const calls = this.#turns.at(-1)?.events.filter((event) => event.type === "tool_call") ?? [];
    const share = dice.pick([1, 1, 1, 0.5, 0]);
    const results = calls.filter(() => dice.chance(share)).map((call): EventDraft => ({
      type: "tool_result",
      call_id: String(call.item.call_id),
      call_seq: call.seq,
      tool: "f",
      status: "ok",
      output: `output ${call.seq}`,
    }));
    // Now and then one result comes twice.
    if (dice.chance(0.02)) results.push(...results.slice(0, 1));
    if (results.length > 0) this.#add({ kind: "tools", run: this.#run, events: results });
  }

  #addResponse(items: readonly Item[], status: string): void {
    const { fingerprint, model } = this.#where;
    const account = fingerprint.account ?? (this.#dice.chance(0.3) ? "org-1" : null);
    const bound = [fingerprint.endpoint, account ?? "?", model].join("|");
    const sealed = items.map((item) =>
      item.encrypted_content === "" ? { ...item, encrypted_content: `${bound}|${item.id}` } : item
    );
    this.#add({
      kind: "model",
      run: this.#run,
      model: { asked: model, answered: this.#dice.chance(0.5) ? `${model}-2026-08-01` : null },
      fingerprint: { ...fingerprint, account },
      response: { id: "resp_1", status },
      request: { body_sha256: SUM, fold: 1, fields: {}, guard: { sent: 0, dropped: [] } },
      events: sealed.map(eventOfItem),
    });
  }

  /** A few groups of reasoning and what comes of it. */
  #items(): Item[] {
    const dice = this.#dice;
    const items: Item[] = [];
    for (let groups = dice.count(1, 3); groups > 0; groups--) {
      const many = dice.chance(0.05);
      for (let n = many ? dice.count(3, 10) : dice.pick([0, 1, 1, 1, 2]); n > 0; n--) {
        items.push(this.#reasoning());
      }
      items.push(...this.#made());
    }
    let before: string | undefined;
    items.forEach((item, index) => {
      const id = String(item.id);
      if (item.type !== "reasoning") {
        if (before !== undefined && typeof item.id === "string") this.#reasoningOf.set(id, before);
        return;
      }
      before = id;
      const next = items[index + 1];
      const name = next?.call_id ?? next?.id;
      if (typeof name !== "string" || this.#used.indexOf(id) !== this.#used.lastIndexOf(id)) return;
      if (this.#usedCalls.indexOf(name) === this.#usedCalls.lastIndexOf(name) && name.length <= 64) {
        this.#followingOf.set(id, name);
      }
    });
    return items;
  }

  #reasoning(): Item {
    const dice = this.#dice;
    const again = this.#used.length > 0 && dice.chance(0.03);
    const id = again ? dice.pick(this.#used) : this.#id("rs");
    this.#used.push(id);
    if (again) this.#followingOf.delete(id);
    return {
      id,
      type: "reasoning",
      ...(dice.chance(0.1) ? { status: "completed" } : {}),
      summary: dice.chance(0.5) ? [] : [{ type: "summary_text", text: `thinking of ${id}` }],
      // Filled in when it is known who answers.
      ...(dice.chance(0.95) ? { encrypted_content: "" } : {}),
    };
  }

  #made(): Item[] {
    const dice = this.#dice;
    const text = (): Item => ({
      id: this.#id("msg"),
      type: "message",
      status: "completed",
      content: [{ type: "output_text", text: `answer ${this.#ids}`, annotations: [] }],
      phase: dice.pick(["commentary", "final_answer"]),
      role: "assistant",
    });
    const call = (): Item => {
      const again = this.#usedCalls.length > 0 && dice.chance(0.03);
      const callId = again
        ? dice.pick(this.#usedCalls)
        : this.#id(dice.chance(0.02) ? "c".repeat(70) : "call");
      this.#usedCalls.push(callId);
      if (again) {
        for (const [id, name] of this.#followingOf) if (name === callId) this.#followingOf.delete(id);
      }
      const custom = dice.chance(0.2);
      return {
        id: this.#id(custom ? "ctc" : "fc"),
        type: custom ? "custom_tool_call" : "function_call",
        call_id: callId,
        name: "f",
        [custom ? "input" : "arguments"]: '{"a":1}',
        status: "completed",
      };
    };
    switch (dice.count(0, 9)) {
      case 0:
      case 1:
      case 2:
        return [text()];
      case 3:
        return [text(), call()];
      case 4:
        return [{
          id: this.#id("ws"),
          type: "web_search_call",
          status: "completed",
          action: { type: "search", query: "q" },
        }, ...(dice.chance(0.5) ? [text()] : [])];
      case 5:
        return this.#shell();
      case 6:
        return [{ id: this.#id("cmp"), type: "compaction", encrypted_content: "" }];
      default:
        return Array.from({ length: dice.count(1, 5) }, call);
    }
  }

  /** A client-side call, answered by the server in the same response or not at all. */
  #shell(): Item[] {
    const callId = this.#id("call");
    const call: Item = { id: this.#id("sh"), type: "shell_call", call_id: callId, action: { commands: [] } };
    if (this.#dice.chance(0.3)) return [call];
    const output: Item = { id: this.#id("sho"), type: "shell_call_output", call_id: callId, output: [] };
    return this.#dice.chance(0.3) ? [call, this.#reasoning(), output] : [call, output];
  }

  /** The API refuses the next request for something in it. */
  #refuse(): void {
    const dice = this.#dice;
    const folded = foldHistory(this.#turns, { ...this.#where, run: this.#run });
    const sent = folded.reasoning.filter(({ reason }) => reason === null);
    const calls = folded.entries.filter((entry) => entry.kind === "tool_call");
    const named = sent.length > 0 && dice.chance(0.5) ? [String(dice.pick(sent).id)] : [];
    const refused = retryEventOf(
      calls.length > 0 && dice.chance(0.3)
        ? { kind: "call", callId: dice.pick(calls).callId }
        : { kind: "reasoning", ids: named, index: null },
      {
        folded,
        turns: this.#turns,
        run: this.#run,
        fingerprint: this.#where.fingerprint,
        model: this.#where.model,
        without: new Set<Omission>(),
        error: { code: "request_refused", message: "Refused" },
        widest: named.length === 0,
      },
    );
    if (refused !== null) this.#add({ kind: "harness", run: this.#run, events: [refused] });
    if (!dice.chance(0.2)) return;
    const items = this.#turns.flatMap(({ events }) => events).flatMap((event): ReplayAction[] =>
      event.type === "reasoning" ? [{ seq: event.seq, action: "lifted" }] : []
    );
    this.#add({
      kind: "harness",
      run: this.#run,
      events: [{
        type: "replay_notice",
        reason: "quarantine_lifted",
        items,
      }],
    });
  }

  /** Replaces everything up to some turn that leaves no call waiting for a later result. */
  #checkpoint(): void {
    const waiting = new Map<number, number>();
    for (const event of this.#turns.flatMap(({ events }) => events)) {
      if (event.type === "tool_result") waiting.set(event.call_seq, event.seq);
    }
    const ends = this.#turns.filter(({ seq: [, last] }) =>
      [...waiting].every(([call, result]) => call > last || result <= last)
    );
    const pins = this.#turns.findLast((turn) => turn.kind === "user")?.pins;
    if (ends.length === 0 || pins === undefined) return;
    const end = this.#dice.pick(ends);
    this.#add({
      kind: "compaction",
      run: this.#run,
      pins,
      events: [{
        type: "history_compaction",
        to_seq: end.seq[1],
        to_turn: end.turn,
        previous_checkpoint: null,
        opening_turn: null,
        strategy: "deterministic",
        summary: "What happened so far",
        limitations: [],
      }],
    });
  }

  #withdraw(): void {
    const checkpoints = this.#turns.flatMap(({ events }) => events).filter(({ type }) =>
      type === "history_compaction"
    );
    if (checkpoints.length === 0) return;
    const checkpoint = this.#dice.pick(checkpoints).seq;
    const events: EventDraft[] = [{ type: "compaction_withdrawn", checkpoint, restored: null }];
    this.#add({ kind: "harness", run: this.#run, events });
  }

  #end(): void {
    this.#add({
      kind: "harness",
      run: this.#run,
      events: [{
        type: "run_ended",
        run: this.#run,
        state: "completed",
        exit_code: 0,
        usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      }],
    });
  }

  /** The process died at any event, or the session is a fork of a prefix. */
  #cut(): void {
    const kept = this.#turns.slice(0, this.#dice.count(1, this.#turns.length));
    const last = kept.at(-1);
    if (last !== undefined && this.#dice.chance(0.5)) {
      const events: SessionEvent[] = last.events.slice(0, this.#dice.count(1, last.events.length));
      kept[kept.length - 1] = { ...last, events, seq: [last.seq[0], events.at(-1)?.seq ?? 0] };
    }
    this.#turns = kept;
    // The server's items keep their ids, whichever side lost them.
    this.#run = kept.at(-1)?.run ?? 0;
  }

  #id(prefix: string): string {
    return `${prefix}_${++this.#ids}`;
  }

  #add(draft: TurnDraft): void {
    this.#turns.push(turnAfter(this.#turns, draft));
  }
}

/** The next turn of a history in memory: numbered, and without real sums. */
export function turnAfter(turns: readonly Turn[], draft: TurnDraft): Turn {
  const first = (turns.at(-1)?.seq[1] ?? 0) + 1;
  return {
    format: TURN_FORMAT,
    session: "s",
    turn: turns.length + 1,
    seq: [first, first + draft.events.length - 1],
    prev: null,
    at: "2026-11-21T20:18:00.000Z",
    ...draft,
    events: draft.events.map((event, index) => ({ seq: first + index, ...event })),
    sum: "0".repeat(64),
  } as Turn;
}

/** Fails unless the server that issued the items of a case would take this request. */
export function requireAccepted(text: string, { target, reasoningOf, followingOf }: RandomCase): void {
  const body = JSON.parse(text);
  assert.deepEqual(brokenResponsesRules({ store: false, ...body }, { reasoningOf, followingOf }), []);
  const { endpoint, account } = target.fingerprint;
  for (const { id, encrypted_content: blob } of body.input) {
    if (blob === undefined) continue;
    const [madeAt, madeFor, model = "", madeId] = blob.split("|");
    assert.equal(madeAt, endpoint, blob);
    if (id !== undefined) assert.equal(madeId, id);
    assert.ok(madeFor === "?" || account === null || madeFor === account, blob);
    const family = target.replay === "family" ? familyOf(model) : null;
    assert.ok(model === target.model || family !== null && family === familyOf(target.model), blob);
  }
}
