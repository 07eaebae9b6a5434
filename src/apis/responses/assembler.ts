/**
 * Turns the events of one response into items (protocol §3): whole items from `output_item.done` in arrival order, then
 * items that only the terminal event lists. All other events are for the screen.
 */
import { words } from "../../domain/text.ts";
import * as z from "zod";
import type { Item } from "../../domain/event.ts";
import { exactValue, hasExactMember } from "../../domain/exact_json.ts";
import type { ApiFailure } from "../../domain/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  parsedObject,
  stringMember,
} from "../../domain/json.ts";
import type { Assembler, FinishedResponse, StreamUpdate } from "../api.ts";
import { brokenFailure, classifyErrorEvent, cutFailure, damagedFailure, ownFailure } from "../failure.ts";
import { mismatchOf, quoted } from "../message.ts";
import type { EndEvent, ErrorEvent, ItemEvent, StreamEvent } from "../stream.ts";
import { DeltaReader, readPlainDelta, SPARE_EVENTS, TEXT_DELTA } from "./deltas.ts";
import { isItem } from "../../domain/item.ts";
import { ItemLedger, refusesIn } from "./ledger.ts";
import { readResponsesEvent, statusOf } from "./stream.ts";

const NOTHING: readonly StreamUpdate[] = [];

/** First event of a response, which repeats most of the request. */
const CREATED = "response.created";
const CREATED_START = `{"type":"${CREATED}"`;

/**
 * Events that change nothing here: `output_item.done` repeats their content. If the `event:` line names one, its JSON
 * is not parsed.
 */
const IGNORED: ReadonlySet<string> = new Set(words(`
  keepalive response.content_part.added response.content_part.done
  response.custom_tool_call_input.delta response.custom_tool_call_input.done
  response.function_call_arguments.delta response.function_call_arguments.done
  response.output_text.annotation.added response.output_text.done
  response.reasoning_summary_part.added response.reasoning_summary_part.done
  response.reasoning_summary_text.done response.reasoning_text.done response.refusal.done
`));

export class ResponsesAssembler implements Assembler {
  readonly #ledger = new ItemLedger();
  readonly #deltas = new DeltaReader();
  readonly #notices: string[] = [];
  /** Items that began and are not finished, by position. */
  readonly #begun = new Map<number, Item>();
  /** Finished items without content of their own, as their deltas fill them: the terminal event may list them whole. */
  readonly #hollow = new Map<number, Item>();
  /** Data of `response.created`. */
  #begunWith: string | undefined;
  /** Data of the event before. */
  #last: string | undefined;
  /** True if every event comes twice, as two copies of the first one show; the second copies are skipped. */
  #isPaired = false;
  /** In pairs, true at a second copy. */
  #isCopy = false;
  /** The data of `response.created`, which is parsed only if the terminal event does not name the response. */
  #created: string | undefined;
  #id: string | null = null;
  #model: string | null = null;
  #refused = false;
  /** An error held back, because `response.failed` may follow and names the response (§3.5). */
  #failure: ApiFailure | undefined;
  /** Start of an event that is not JSON. Last in the stream it means a cut, anywhere else a broken stream. */
  #broken: string | undefined;
  #finished = false;
  #hasMessage = false;
  hasBegun = false;

  feed(event: { readonly event: string | undefined; readonly data: string }): readonly StreamUpdate[] {
    const { event: name, data } = event;
    if (this.#finished) return NOTHING;
    const before = this.#last;
    this.#last = data;
    if (this.#isPaired) {
      this.#isCopy = !this.#isCopy;
      if (this.#isCopy) {
        return data === before ? NOTHING : this.#fail(damagedFailure("repeats some of its events"));
      }
    }
    if (data === before && data === this.#begunWith && !this.#isPaired) {
      this.#isPaired = this.#isCopy = true;
      return NOTHING;
    }
    if (this.#broken !== undefined) return this.#fail(brokenFailure(this.#broken));
    if (name !== undefined && name !== TEXT_DELTA && this.#ignores(name)) {
      if (SPARE_EVENTS.has(name)) this.#deltas.keep(data, this.#begun.size === 0);
      return NOTHING;
    }
    const plain = name === TEXT_DELTA ? readPlainDelta(data) : null;
    if (plain !== null) {
      this.hasBegun = true;
      return this.#deltas.readText(plain);
    }
    if (data === "" || data === "[DONE]") return NOTHING;
    if (name === CREATED && data.startsWith(CREATED_START)) {
      this.#created ??= data;
      return this.#begin(data);
    }
    let payload: unknown;
    try {
      payload = JSON.parse(data);
    } catch {
      this.#broken = data.slice(0, 80);
      return NOTHING;
    }
    if (!isJsonObject(payload)) return this.#fail(brokenFailure(data.slice(0, 80)));
    const read = readResponsesEvent(payload, name);
    if (read.type !== undefined && SPARE_EVENTS.has(read.type)) {
      this.#deltas.keep(data, this.#begun.size === 0);
    }
    return this.#take(read, data);
  }

  end(): readonly StreamUpdate[] {
    if (this.#finished) return NOTHING;
    return this.#failure === undefined
      ? this.#finish({ status: "cut", failure: cutFailure() })
      : this.#fail(this.#failure);
  }

  /** `response.in_progress` repeats the whole `response.created`, instructions and tools included. */
  #ignores(name: string): boolean {
    const isKnown = this.#id !== null || this.#created !== undefined;
    return IGNORED.has(name) || (name === "response.in_progress" && isKnown);
  }

  #take(event: StreamEvent, data: string): readonly StreamUpdate[] {
    this.hasBegun ||= event.kind === "delta" || event.kind === "item" ||
      event.kind === "end" && event.items.length > 0;
    switch (event.kind) {
      case "delta":
        return this.#deltas.read(event);
      case "item":
        return event.whole ? this.#takeItem(exact(event, data)) : this.#announce(event);
      case "response":
        this.#identify(event.response);
        return event.begins ? this.#begin(data) : NOTHING;
      case "end":
        return this.#close(this.#isExactlyRead(event, data) ? event : exact(event, data));
      case "error":
        return this.#hold(event);
      default:
        return NOTHING;
    }
  }

  #identify(response: JsonObject): void {
    this.#id ??= stringMember(response, "id") ?? null;
    this.#model ??= stringMember(response, "model") ?? null;
  }

  /** Reads what no other event named so far; nothing from data that is not JSON, as of any event that does not matter. */
  #identifyAsCreated(): void {
    if (this.#created === undefined || (this.#id !== null && this.#model !== null)) return;
    const created = parsedObject(this.#created);
    if (created !== null) this.#identify(objectMember(created, "response") ?? {});
  }

  #begin(data: string): readonly StreamUpdate[] {
    if (this.#begunWith !== undefined) return this.#fail(damagedFailure("begins a second response"));
    this.#begunWith = data;
    return NOTHING;
  }

  #announce({ item, place }: ItemEvent): readonly StreamUpdate[] {
    if (!isItem(item)) return NOTHING;
    const outputIndex = this.#ledger.announce(place, item);
    if (outputIndex === undefined) {
      return this.#fail(damagedFailure(`begins an item ${quoted(item.type)} twice`));
    }
    this.#begun.set(outputIndex, item);
    this.#deltas.announce(outputIndex, item);
    return NOTHING;
  }

  #takeItem({ item, place }: ItemEvent): readonly StreamUpdate[] {
    if (!isItem(item)) {
      this.#notices.push("An item without a type was skipped");
      return NOTHING;
    }
    const outputIndex = this.#ledger.take(place, item);
    if (outputIndex === "different") {
      return this.#fail(damagedFailure(`holds two versions of an item ${quoted(item.type)}`));
    }
    if (outputIndex === "same") {
      this.#notices.push(`Item ${quoted(item.type)} came twice, and was kept once`);
      return NOTHING;
    }
    this.#begun.delete(outputIndex);
    this.#deltas.take(item, outputIndex);
    const filled = this.#deltas.filled(item, outputIndex);
    if (this.#begun.size === 0) this.#deltas.release();
    if (filled === null) return this.#give(item, outputIndex);
    this.#hollow.set(outputIndex, filled);
    return NOTHING;
  }

  /** Gives the items that came only in deltas, unless the terminal event lists them whole. */
  #giveHollow(
    listed: readonly unknown[] = [],
    status: FinishedResponse["status"] = "cut",
  ): readonly StreamUpdate[] {
    const open = status === "completed" || status === "incomplete" ? [...this.#begun] : [];
    // A call without its end is whole only if the response is.
    const begun = open.filter(([, item]) => status === "completed" || item.type === "message");
    for (const [outputIndex, item] of begun) {
      const filled = this.#ledger.lacksAt(outputIndex, item) ? this.#deltas.filled(item, outputIndex) : null;
      if (filled !== null) this.#hollow.set(outputIndex, filled);
    }
    const updates = [...this.#hollow].flatMap(([outputIndex, filled]) => {
      const whole = listed[outputIndex];
      if (isItem(whole) && whole.type === filled.type && this.#deltas.filled(whole, outputIndex) === null) {
        return this.#give(whole, outputIndex);
      }
      this.#notices.push(`Item ${outputIndex} (${quoted(filled.type)}) came only in deltas`);
      return this.#give(filled, outputIndex, { fromDeltas: true });
    });
    this.#hollow.clear();
    return updates;
  }

  /** The texts of a response without any message: the server sent no event of an item. */
  #giveTexts(): readonly StreamUpdate[] {
    return this.#deltas.positions().flatMap((outputIndex) => {
      const item = this.#deltas.filled({ type: "message", role: "assistant", content: [] }, outputIndex);
      if (item === null) return NOTHING;
      this.#notices.push(`Item ${outputIndex} (${quoted(item.type)}) came only in deltas`);
      return this.#give(item, outputIndex, { fromDeltas: true });
    });
  }

  #give(item: Item, outputIndex: number, more: { readonly fromDeltas?: true } = {}): readonly StreamUpdate[] {
    if (refusesIn(item)) this.#refused = true;
    this.#hasMessage ||= item.type === "message";
    return [...this.#deltas.unseen(item, outputIndex), { kind: "item", outputIndex, item, ...more }];
  }

  /** The first error is the one reported. */
  #hold({ data = {} }: ErrorEvent): readonly StreamUpdate[] {
    this.#failure ??= classifyErrorEvent(data);
    return NOTHING;
  }

  /** True if all that is kept of a terminal event is its usage, and `data` spells that as JavaScript does. */
  #isExactlyRead({ response = {}, items, error }: EndEvent, data: string): boolean {
    const { usage, input_transformations: transformations } = response;
    return error === undefined && transformations === undefined && this.#hollow.size === 0 &&
      !this.#ledger.lacks(items) &&
      (usage === undefined || usage === null || isJsonObject(usage) && hasExactMember(data, "usage", usage));
  }

  #close({ type, response = {} }: EndEvent): readonly StreamUpdate[] {
    const final = readFinal(type ?? "", response);
    this.#notices.push(...final.notices);
    const updates: StreamUpdate[] = [];
    for (const { item, outputIndex } of this.#ledger.missing(final.output)) {
      this.#notices.push(`Item ${outputIndex} (${quoted(item.type)}) came only with the terminal event`);
      this.#deltas.take(item, outputIndex);
      updates.push(...this.#give(item, outputIndex));
    }
    const damage = final.status === "completed" ? this.#damage() : null;
    if (damage !== null) return [...updates, ...this.#fail(damagedFailure(damage))];
    updates.push(...this.#giveHollow(final.output, final.status));
    if (final.status !== "failed" && !this.#hasMessage) updates.push(...this.#giveTexts());
    this.#refused ||= final.reason === "content_filter";
    const failure = this.#failure ?? final.failure;
    updates.push(...this.#finish({
      status: failure === undefined ? final.status : "failed",
      ...(final.reason === undefined ? {} : { reason: final.reason }),
      ...(failure === undefined ? {} : { failure }),
      usage: final.usage,
      ...(final.transformations.length === 0 ? {} : { inputTransformations: final.transformations }),
    }, response));
    return updates;
  }

  /** The loss of a completed response: the content of an item that it began, or the call of its arguments. */
  #damage(): string | null {
    const lost = [...this.#begun].find(([index, item]) =>
      this.#ledger.lacksAt(index, item) && this.#deltas.filled(item, index) === null
    );
    if (lost !== undefined) return `never ends the item ${quoted(lost[1].type)} that it began`;
    return this.#deltas.lacksCalls() ? "holds arguments of a call that never began" : null;
  }

  #fail(failure: ApiFailure): readonly StreamUpdate[] {
    return this.#finish({ status: "failed", failure });
  }

  #finish(
    end: Pick<FinishedResponse, "status"> & Partial<FinishedResponse>,
    response: JsonObject = {},
  ): readonly StreamUpdate[] {
    this.#finished = true;
    this.#identify(response);
    this.#identifyAsCreated();
    return [...this.#giveHollow(), {
      kind: "finished",
      response: {
        id: stringMember(response, "id") ?? this.#id,
        model: stringMember(response, "model") ?? this.#model,
        refused: this.#refused,
        usage: null,
        notices: this.#notices,
        ...end,
      },
    }];
  }
}

/** The same event with the numbers and the order of members in its text `data`. */
function exact<T extends ItemEvent | EndEvent>(event: T, data: string): T {
  if (event.data === undefined) return event;
  const payload = exactValue(event.data, data);
  return payload === event.data ? event : readResponsesEvent(payload, event.type) as T;
}

/** The readable part of a terminal event. */
interface FinalResponse {
  readonly status: Exclude<FinishedResponse["status"], "cut">;
  readonly reason?: string;
  readonly failure?: ApiFailure;
  readonly usage: JsonObject | null;
  /** As received: elements may be anything. */
  readonly output: readonly unknown[];
  readonly notices: readonly string[];
  /** Changes that the server reports for items that were sent (§4.3). */
  readonly transformations: readonly JsonValue[];
}

/** Reads the response of a terminal event. Members of the wrong shape become notices and read as absent. */
function readFinal(type: string, response: JsonObject): FinalResponse {
  const mismatch = isUsual(response) ? undefined : mismatchOf(finalResponseSchema, response);
  const shared = {
    usage: objectMember(response, "usage") ?? null,
    output: Array.isArray(response.output) ? response.output : [],
    notices: mismatch === undefined ? [] : [`The terminal event has an unknown shape at ${quoted(mismatch)}`],
    transformations: Array.isArray(response.input_transformations) ? response.input_transformations : [],
  };
  const status = statusOf(type, stringMember(response, "status"));
  switch (status) {
    case "completed":
      return { ...shared, status };
    case "incomplete": {
      const reason = stringMember(objectMember(response, "incomplete_details") ?? {}, "reason");
      return { ...shared, status, ...(reason === undefined ? {} : { reason }) };
    }
    case "failed": {
      const failure = isJsonObject(response.error) || typeof response.error === "string"
        ? classifyErrorEvent({ response })
        : ownFailure("provider_failed", "The provider ended the response as failed without a reason");
      return { ...shared, status, failure };
    }
  }
}

/** True for the usual response without an error, which {@linkcode finalResponseSchema} accepts: spares zod's work. */
function isUsual(response: JsonObject): boolean {
  const { id, model, status, output, usage, error } = response;
  const { incomplete_details: details, input_transformations: transformations } = response;
  return [id, model, status].every((member) => typeof member === "string") && Array.isArray(output) &&
    output.every(isItem) && isJsonObject(usage) &&
    [error, details, transformations].every((member) => member === null || member === undefined);
}

/** An error in bodies, `error` events and failed responses (protocol §3.5, §6.1). */
const errorSchema = z.lazy(() =>
  z.looseObject({
    message: z.string().nullish(),
    type: z.string().nullish(),
    /** OpenRouter puts the HTTP status here, as a number. */
    code: z.union([z.string(), z.number()]).nullish(),
    param: z.string().nullish(),
  })
);

/** The response of `response.completed`, `.incomplete` and `.failed`: the members that a client reads (§5). */
const finalResponseSchema = z.lazy(() =>
  z.looseObject({
    id: z.string().nullish(),
    model: z.string().nullish(),
    status: z.string().nullish(),
    output: z.array(z.looseObject({ type: z.string() })).nullish(),
    usage: z.looseObject({}).nullish(),
    error: errorSchema.nullish(),
    incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
    input_transformations: z.array(z.looseObject({})).nullish(),
  })
);
