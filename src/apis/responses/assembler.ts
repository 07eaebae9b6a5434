/**
 * The events of one response → items (protocol §3): whole items from `output_item.done` in arrival order, what
 * only the terminal event lists from there, everything else for the screen.
 *
 * @module
 */
import type { Item } from "../../domain/event.ts";
import { exactly } from "../../domain/exact_json.ts";
import { eventItem } from "../../domain/item.ts";
import { isJsonObject, type JsonObject, objectMember, stringMember } from "../../domain/json.ts";
import type { ApiFailure } from "../../domain/errors.ts";
import type { Assembler, FinishedResponse, StreamUpdate } from "../api.ts";
import { DeltaReader } from "./deltas.ts";
import { brokenFailure, classifyErrorEvent, cutFailure } from "../failure.ts";
import { isItem, ItemLedger, refusesIn } from "./ledger.ts";
import { quoted } from "../message.ts";
import { readFinal } from "./final.ts";

const NOTHING: readonly StreamUpdate[] = [];

/**
 * Events that change nothing here. When the `event:` line names one of them its JSON is not even parsed: what
 * it repeats comes again in `output_item.done`.
 */
const IGNORED: ReadonlySet<string> = new Set([
  "keepalive",
  "response.content_part.added",
  "response.content_part.done",
  "response.custom_tool_call_input.delta",
  "response.custom_tool_call_input.done",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.output_text.annotation.added",
  "response.output_text.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.done",
  "response.reasoning_text.done",
  "response.refusal.done",
]);

/** Assembles one stream of Responses events. */
export class ResponsesAssembler implements Assembler {
  readonly #ledger = new ItemLedger();
  readonly #deltas = new DeltaReader();
  readonly #notices: string[] = [];
  #id: string | null = null;
  #model: string | null = null;
  #refused = false;
  /** Held back until the stream says more: `response.failed` may follow and names the response (§3.5). */
  #failure: ApiFailure | undefined;
  /** Start of an event that is not JSON. Last in the stream it means a cut, anywhere else a broken stream. */
  #broken: string | undefined;
  #finished = false;

  feed(event: { readonly event: string | undefined; readonly data: string }): readonly StreamUpdate[] {
    const { event: name, data } = event;
    if (this.#finished) return NOTHING;
    if (this.#broken !== undefined) return this.#finishBroken(this.#broken);
    if (name !== undefined && this.#ignores(name)) return NOTHING;
    if (data === "" || data === "[DONE]") return NOTHING;
    let payload: unknown;
    try {
      payload = JSON.parse(data);
    } catch {
      this.#broken = data.slice(0, 80);
      return NOTHING;
    }
    if (!isJsonObject(payload)) return this.#finishBroken(data.slice(0, 80));
    const type = typeof payload.type === "string" ? payload.type : name;
    return this.#read(type, payload, data);
  }

  end(): readonly StreamUpdate[] {
    if (this.#finished) return NOTHING;
    if (this.#failure !== undefined) return this.#finish({ status: "failed", failure: this.#failure });
    return this.#finish({
      status: "cut",
      failure: cutFailure(),
    });
  }

  /** `response.in_progress` repeats the whole `response.created`, instructions and tools included. */
  #ignores(name: string): boolean {
    return IGNORED.has(name) || (name === "response.in_progress" && this.#id !== null);
  }

  #read(type: string | undefined, payload: JsonObject, data: string): readonly StreamUpdate[] {
    switch (type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#deltas.text(payload);
      case "response.reasoning_summary_text.delta":
        return this.#deltas.summary(payload);
      case "response.reasoning_text.delta":
        return this.#deltas.reasoning(payload);
      case "response.output_item.added":
        return this.#announce(payload);
      case "response.output_item.done":
        return this.#take(exactly(payload, data));
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        this.#identify(objectMember(payload, "response"));
        return NOTHING;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#close(type, exactly(payload, data));
      case "error":
      case "response.error":
        return this.#hold(payload);
      default:
        // A gateway may send an error object with no type at all.
        return type === undefined && payload.error ? this.#hold(payload) : NOTHING;
    }
  }

  #identify(response: JsonObject | undefined): void {
    if (response === undefined) return;
    this.#id ??= stringMember(response, "id") ?? null;
    this.#model ??= stringMember(response, "model") ?? null;
  }

  #announce(payload: JsonObject): readonly StreamUpdate[] {
    const item = eventItem(payload);
    if (!isItem(item)) return NOTHING;
    this.#deltas.announce(this.#ledger.announce(payload, item), item);
    return NOTHING;
  }

  #take(payload: JsonObject): readonly StreamUpdate[] {
    const item = eventItem(payload);
    if (!isItem(item)) {
      this.#notices.push("An item without a type was skipped");
      return NOTHING;
    }
    const outputIndex = this.#ledger.take(payload, item);
    if (outputIndex === undefined) {
      this.#notices.push(`Item ${quoted(item.type)} came twice, and was kept once`);
      return NOTHING;
    }
    return this.#give(item, outputIndex, "done");
  }

  #give(item: Item, outputIndex: number, source: "done" | "terminal"): readonly StreamUpdate[] {
    if (refusesIn(item)) this.#refused = true;
    return [...this.#deltas.unseen(item, outputIndex), { kind: "item", outputIndex, item, source }];
  }

  /** The first error is the one reported. */
  #hold(payload: JsonObject): readonly StreamUpdate[] {
    this.#failure ??= classifyErrorEvent(payload);
    return NOTHING;
  }

  #close(type: string, payload: JsonObject): readonly StreamUpdate[] {
    const response = objectMember(payload, "response") ?? {};
    this.#identify(response);
    const final = readFinal(type, response);
    this.#notices.push(...final.notices);
    const updates: StreamUpdate[] = [];
    for (const { item, outputIndex } of this.#ledger.missing(final.output)) {
      this.#notices.push(`Item ${outputIndex} (${quoted(item.type)}) came only with the terminal event`);
      updates.push(...this.#give(item, outputIndex, "terminal"));
    }
    this.#refused ||= final.reason === "content_filter";
    const failure = this.#failure ?? final.failure;
    updates.push(...this.#finish({
      id: stringMember(response, "id") ?? this.#id,
      model: stringMember(response, "model") ?? this.#model,
      status: failure === undefined ? final.status : "failed",
      ...(final.reason === undefined ? {} : { reason: final.reason }),
      ...(failure === undefined ? {} : { failure }),
      usage: final.usage,
      ...(final.transformations.length === 0 ? {} : { inputTransformations: final.transformations }),
    }));
    return updates;
  }

  #finishBroken(start: string): readonly StreamUpdate[] {
    return this.#finish({ status: "failed", failure: brokenFailure(start) });
  }

  #finish(
    end: Pick<FinishedResponse, "status"> & Partial<FinishedResponse>,
  ): readonly StreamUpdate[] {
    this.#finished = true;
    return [{
      kind: "finished",
      response: {
        id: this.#id,
        model: this.#model,
        refused: this.#refused,
        usage: null,
        notices: this.#notices,
        ...end,
      },
    }];
  }
}
