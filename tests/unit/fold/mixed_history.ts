/**
 * Random sessions that go from provider to provider, the same for the same seed. Every opaque payload names the
 * provider, endpoint and account that issued it, so that a request can be searched for those of others.
 *
 * @module
 */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { EventDraft, Item } from "../../../src/domain/event.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../../../src/domain/fingerprint.ts";
import { callIdOf, callNameOf } from "../../../src/domain/item.ts";
import type { Pins, Turn, TurnDraft } from "../../../src/domain/turn.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { eventOfItem } from "../../../src/run/request_step.ts";
import { Dice } from "./dice.ts";
import { brokenMessagesRules, brokenResponsesRules } from "../../doors/wire/rules.ts";
import { turnAfter } from "./random_history.ts";

/** A session and where its next request goes. */
export interface MixedCase {
  readonly turns: readonly Turn[];
  readonly target: FoldTarget;
}

const MODELS: Readonly<Record<ProviderKind, readonly string[]>> = {
  openai: ["gpt-5.6", "gpt-5.6-mini", "o3"],
  azure: ["gpt-5.6", "my-deployment"],
  compatible: ["gpt-oss-120b", "deepseek-reasoner"],
  anthropic: ["claude-sonnet-4-5", "claude-opus-5-5", "claude-fable-5-1"],
};
const SUM = "0".repeat(64);
const LONE = "\ud83d";

/** Mark in the opaque payloads of one origin. */
export function markOf({ fingerprint }: FoldTarget): string {
  return `OPAQUE.${fingerprint.provider}.${fingerprint.endpoint}.${fingerprint.account ?? "none"}.`;
}

/** The case of one seed. */
export function mixedCase(seed: number): MixedCase {
  return new Maker(new Dice(seed)).make();
}

class Maker {
  readonly #dice: Dice;
  #turns: Turn[] = [];
  #run = 0;
  #ids = 0;
  #where: FoldTarget;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#where = this.#target();
  }

  make(): MixedCase {
    const dice = this.#dice;
    for (let runs = dice.count(1, 6); runs > 0; runs--) {
      this.#open();
      for (let steps = dice.count(0, 4); steps > 0; steps--) this.#step();
      if (dice.chance(0.1)) this.#checkpoint();
      if (dice.chance(0.1)) this.#turns = this.#turns.slice(0, dice.count(1, this.#turns.length));
    }
    if (dice.chance(0.8)) this.#open();
    return { turns: this.#turns, target: { ...this.#where, run: this.#run } };
  }

  #target(): FoldTarget {
    const { pick } = this.#dice;
    const provider = pick(PROVIDER_KINDS);
    const fingerprint = {
      provider,
      // A gateway may serve every provider at one address: the kind alone must keep them apart.
      endpoint: pick(["gateway", "gateway", "other"]),
      account: pick([null, "acct-a", "acct-b"]),
    };
    const needs = foldNeedsOf(provider);
    return {
      fingerprint,
      needs,
      model: pick(MODELS[provider]),
      replay: pick(["exact", "exact", "family", "none"]),
    };
  }

  #open(): void {
    if (this.#dice.chance(0.6)) this.#where = this.#target();
    this.#run = (this.#turns.at(-1)?.run ?? 0) + 1;
    const { fingerprint, model } = this.#where;
    const pins: Pins = {
      fingerprint,
      model,
      instructions: SUM,
      tools: SUM,
      permissions: [],
      workspace: "/workspace",
    };
    const text = this.#dice.pick([`prompt ${this.#run}`, `lone ${LONE} half`]);
    const first = this.#turns.length === 0;
    this.#add(
      first || this.#dice.chance(0.75)
        ? {
          kind: "user",
          run: this.#run,
          pins,
          events: [{ type: "user_message", content: [{ type: "input_text", text }] }],
        }
        : { kind: "harness", run: this.#run, pins, events: [{ type: "run_continued", run: this.#run }] },
    );
  }

  #step(): void {
    const dice = this.#dice;
    const whole = this.#where.fingerprint.provider === "anthropic" ? this.#blocks() : this.#items();
    const cut = dice.chance(0.2);
    const items = cut ? whole.slice(0, dice.count(1, whole.length)) : whole;
    const paused = !cut && items.at(-1)?.type === "server_tool_use";
    this.#add({
      kind: "model",
      run: this.#run,
      model: { asked: this.#where.model, answered: dice.chance(0.5) ? this.#where.model : null },
      fingerprint: this.#where.fingerprint,
      response: {
        id: `resp_${this.#ids}`,
        status: cut ? dice.pick(["incomplete", "failed", "cut"]) : "completed",
        ...(paused ? { paused } : {}),
      },
      request: { body_sha256: SUM, fold: 1, fields: {}, guard: { sent: 0, dropped: [] } },
      events: items.map(eventOfItem),
    });
    const share = dice.pick([1, 1, 1, 0.5, 0]);
    const results = (this.#turns.at(-1)?.events ?? []).flatMap((event): EventDraft[] =>
      event.type !== "tool_call" || !dice.chance(share) ? [] : [{
        type: "tool_result",
        call_id: callIdOf(event.item),
        call_seq: event.seq,
        tool: callNameOf(event.item),
        status: dice.pick(["ok", "error"]),
        output: dice.pick(["", `output ${event.seq}`, `lone ${LONE}`]),
      }]
    );
    if (results.length > 0) this.#add({ kind: "tools", run: this.#run, events: results });
  }

  /** Responses items; some carry what looks like a signature. */
  #items(): Item[] {
    const { pick, chance, count } = this.#bound();
    const items: Item[] = [];
    if (chance(0.8)) {
      const blob = pick([true, true, true, false]);
      items.push({
        id: this.#id("rs"),
        type: "reasoning",
        summary: chance(0.5) ? [] : [{ type: "summary_text", text: "thinking about it" }],
        ...(blob ? { encrypted_content: this.#opaque() } : {}),
        ...(chance(0.3)
          ? { signature: this.#opaque(), thinking: "looks like one", data: this.#opaque() }
          : {}),
        ...(chance(0.2) ? { content: [{ type: "reasoning_text", text: "shown" }] } : {}),
      });
    }
    if (chance(0.5)) {
      const text = pick(["an answer", "", " \n", `lone ${LONE}`]);
      items.push({
        id: this.#id("msg"),
        type: "message",
        role: "assistant",
        status: "completed",
        content: [
          chance(0.1) ? { type: "refusal", refusal: "no" } : { type: "output_text", text, annotations: [] },
        ],
      });
    }
    for (let calls = pick([0, 1, 1, 2, 3]); calls > 0; calls--) {
      const custom = chance(0.2);
      items.push({
        id: this.#id(custom ? "ctc" : "fc"),
        type: custom ? "custom_tool_call" : "function_call",
        call_id: pick([
          this.#id("call"),
          `${this.#id("odd")}.7|x`,
          "call_again",
          `${this.#id("c")}${"c".repeat(70)}`,
        ]),
        name: pick(["read_file", "functions.read file", "n".repeat(80)]),
        [custom ? "input" : "arguments"]: pick(['{"path":"a.txt"}', "not json", "[1]", ""]),
        status: "completed",
      });
    }
    if (chance(0.1)) {
      items.push({ id: this.#id("ws"), type: "web_search_call", status: "completed", action: {} });
    }
    if (chance(0.05)) {
      items.push({ id: this.#id("cmp"), type: "compaction", encrypted_content: this.#opaque() });
    }
    return items.length > 0
      ? items
      : [{ id: this.#id("x"), type: "unheard_of", encrypted_content: this.#opaque(), n: count(1, 9) }];
  }

  /** Messages content blocks; some carry what looks like encrypted content. */
  #blocks(): Item[] {
    const { pick, chance } = this.#bound();
    const items: Item[] = [];
    for (let blocks = pick([0, 1, 1, 2]); blocks > 0; blocks--) {
      const extra = chance(0.2) ? { id: this.#id("rs"), encrypted_content: this.#opaque(), summary: [] } : {};
      items.push(
        chance(0.3) ? { type: "redacted_thinking", data: this.#opaque(), ...extra } : {
          type: "thinking",
          thinking: "hm",
          signature: pick([this.#opaque(), this.#opaque(), ""]),
          ...extra,
        },
      );
    }
    if (chance(0.6)) items.push({ type: "text", text: pick(["an answer", "", "\n", `lone ${LONE}`]) });
    for (let calls = pick([0, 1, 1, 2, 3]); calls > 0; calls--) {
      items.push({
        type: "tool_use",
        id: pick([this.#id("toolu"), "toolu_again"]),
        name: "read_file",
        input: pick<Item["input"]>([{ path: "a.txt" }, {}, "not json"]) ?? {},
      });
    }
    if (chance(0.1)) {
      items.push({ type: "server_tool_use", id: this.#id("srvtoolu"), name: "web_search", input: {} });
    }
    return items.length > 0 ? items : [{ type: "text", text: "nothing else" }];
  }

  #bound() {
    const dice = this.#dice;
    return {
      pick: dice.pick,
      chance: (probability: number) => dice.chance(probability),
      count: (from: number, to: number) => dice.count(from, to),
    };
  }

  #opaque(): string {
    return `${markOf(this.#where)}${++this.#ids}`;
  }

  /** Replaces everything up to some turn that leaves no call waiting for a later result. */
  #checkpoint(): void {
    const end = this.#turns.at(-1);
    const pins = this.#turns.findLast((turn) => turn.kind === "user")?.pins;
    if (end === undefined || pins === undefined) return;
    this.#add({
      kind: "compaction",
      run: this.#run,
      pins,
      events: [{
        type: "history_compaction",
        to_seq: end.seq[1],
        to_turn: end.turn,
        previous_checkpoint: null,
        opening_turn: this.#turns.findLast((turn) => turn.kind === "user")?.turn ?? null,
        strategy: "deterministic",
        summary: "What happened so far",
        limitations: [],
      }],
    });
  }

  #id(prefix: string): string {
    return `${prefix}_${++this.#ids}`;
  }

  #add(draft: TurnDraft): void {
    this.#turns.push(turnAfter(this.#turns, draft));
  }
}

/** Fails unless the target's API would take a case's request. */
export function requireAcceptedAnywhere(text: string, { turns, target }: MixedCase): void {
  const body = JSON.parse(text);
  const { provider } = target.fingerprint;
  const newest = turns.findLast(({ kind }) => kind === "model");
  const isPaused = newest?.kind === "model" && newest.response.paused === true;
  const broken = provider === "anthropic"
    ? brokenMessagesRules(body, { isPaused })
    : brokenResponsesRules(body, { isLenient: provider === "compatible" });
  assert.deepEqual(broken, []);
}
