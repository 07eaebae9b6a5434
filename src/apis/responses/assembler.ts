/**
 * Turns the events of one response into items (protocol §3): whole items from `output_item.done` in arrival order, then
 * items that only the terminal event lists. All other events are for the screen.
 */
import * as z from "zod";
import type { Item } from "../../domain/event.ts";
import { exactly, hasExactMember } from "../../domain/exact_json.ts";
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
import { brokenFailure, classifyErrorEvent, cutFailure, ownFailure } from "../failure.ts";
import { quoted } from "../message.ts";
import type { DeltaEvent, EndEvent, ErrorEvent, ItemEvent, StreamEvent } from "../stream.ts";
import { errorSchema, mismatchOf } from "../wire.ts";
import { isItem, ItemLedger, refusesIn } from "./ledger.ts";
import { type PlainDelta, readPlainDelta, TEXT_DELTA } from "./plain_delta.ts";
import { readResponsesEvent, statusOf } from "./stream.ts";

const NOTHING: readonly StreamUpdate[] = [];

/** First event of a response, which repeats most of the request. */
const CREATED = "response.created";
const CREATED_START = `{"type":"${CREATED}"`;

/**
 * Events that change nothing here: `output_item.done` repeats their content. If the `event:` line names one, its JSON
 * is not parsed.
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

export class ResponsesAssembler implements Assembler {
  readonly #ledger = new ItemLedger();
  readonly #deltas = new DeltaReader();
  readonly #notices: string[] = [];
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
  hasBegun = false;

  feed(event: { readonly event: string | undefined; readonly data: string }): readonly StreamUpdate[] {
    const { event: name, data } = event;
    if (this.#finished) return NOTHING;
    if (this.#broken !== undefined) return this.#finishBroken(this.#broken);
    if (name !== undefined && this.#ignores(name)) return NOTHING;
    const plain = name === TEXT_DELTA ? readPlainDelta(data) : null;
    if (plain !== null) {
      this.hasBegun = true;
      return this.#deltas.readText(plain);
    }
    if (data === "" || data === "[DONE]") return NOTHING;
    if (name === CREATED && data.startsWith(CREATED_START)) {
      this.#created ??= data;
      return NOTHING;
    }
    let payload: unknown;
    try {
      payload = JSON.parse(data);
    } catch {
      this.#broken = data.slice(0, 80);
      return NOTHING;
    }
    if (!isJsonObject(payload)) return this.#finishBroken(data.slice(0, 80));
    return this.#take(readResponsesEvent(payload, name), data);
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
        return NOTHING;
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

  #announce({ item, place }: ItemEvent): readonly StreamUpdate[] {
    if (isItem(item)) this.#deltas.announce(this.#ledger.announce(place, item), item);
    return NOTHING;
  }

  #takeItem({ item, place }: ItemEvent): readonly StreamUpdate[] {
    if (!isItem(item)) {
      this.#notices.push("An item without a type was skipped");
      return NOTHING;
    }
    const outputIndex = this.#ledger.take(place, item);
    if (outputIndex === undefined) {
      this.#notices.push(`Item ${quoted(item.type)} came twice, and was kept once`);
      return NOTHING;
    }
    return this.#give(item, outputIndex);
  }

  #give(item: Item, outputIndex: number): readonly StreamUpdate[] {
    if (refusesIn(item)) this.#refused = true;
    return [...this.#deltas.unseen(item, outputIndex), { kind: "item", outputIndex, item }];
  }

  /** The first error is the one reported. */
  #hold({ data = {} }: ErrorEvent): readonly StreamUpdate[] {
    this.#failure ??= classifyErrorEvent(data);
    return NOTHING;
  }

  /** True if all that is kept of a terminal event is its usage, and `data` spells that as JavaScript does. */
  #isExactlyRead({ response = {}, items, error }: EndEvent, data: string): boolean {
    const { usage, input_transformations: transformations } = response;
    return error === undefined && transformations === undefined && !this.#ledger.lacks(items) &&
      (usage === undefined || usage === null || isJsonObject(usage) && hasExactMember(data, "usage", usage));
  }

  #close({ type, response = {} }: EndEvent): readonly StreamUpdate[] {
    const final = readFinal(type ?? "", response);
    this.#notices.push(...final.notices);
    const updates: StreamUpdate[] = [];
    for (const { item, outputIndex } of this.#ledger.missing(final.output)) {
      this.#notices.push(`Item ${outputIndex} (${quoted(item.type)}) came only with the terminal event`);
      updates.push(...this.#give(item, outputIndex));
    }
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

  #finishBroken(start: string): readonly StreamUpdate[] {
    return this.#finish({ status: "failed", failure: brokenFailure(start) });
  }

  #finish(
    end: Pick<FinishedResponse, "status"> & Partial<FinishedResponse>,
    response: JsonObject = {},
  ): readonly StreamUpdate[] {
    this.#finished = true;
    this.#identify(response);
    this.#identifyAsCreated();
    return [{
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
  const payload = exactly(event.data, data);
  return payload === event.data ? event : readResponsesEvent(payload, event.type) as T;
}

/** Turns deltas into updates for the screen, and creates updates for servers that send no deltas. */
class DeltaReader {
  readonly #phases = new Map<number, string>();
  /** Positions with at least one delta. */
  readonly #seen = new Set<number>();
  readonly #summaryIndexes = new Map<number, number>();
  /** Positions of announced items by their ids, for servers whose deltas name no position (protocol §12). */
  readonly #announced = new Map<string, number>();
  #latest = 0;

  /** Notes the position of an item, and the phase of a message, which its deltas do not repeat (protocol §2.5). */
  announce(outputIndex: number, item: Item): void {
    this.#latest = outputIndex;
    if (typeof item.id === "string") this.#announced.set(item.id, outputIndex);
    if (typeof item.phase === "string") this.#phases.set(outputIndex, item.phase);
  }

  /** Text for the screen; a blank line separates the parts of one summary. */
  read({ channel, text, place, part, data = {} }: DeltaEvent): readonly StreamUpdate[] {
    if (channel === "hidden" || text === null || text === "") return NOTHING;
    const outputIndex = place ?? this.#positionOf(data);
    this.#seen.add(outputIndex);
    if (channel === "text") return [this.#textUpdate(outputIndex, text)];
    if (channel === "reasoning") return [{ kind: "reasoning_delta", outputIndex, delta: text }];
    const summary = part?.index ?? 0;
    const previous = this.#summaryIndexes.get(outputIndex);
    if (previous !== summary) this.#summaryIndexes.set(outputIndex, summary);
    const delta = previous === undefined || previous === summary ? text : `\n\n${text}`;
    return [{ kind: "reasoning_delta", outputIndex, delta }];
  }

  /** Text of a message, as {@linkcode read} returns it. */
  readText({ outputIndex, text }: PlainDelta): readonly StreamUpdate[] {
    if (text === "") return NOTHING;
    this.#seen.add(outputIndex);
    return [this.#textUpdate(outputIndex, text)];
  }

  /** The text of a finished item as one delta, if the server sent no delta for it (protocol §12). */
  unseen(item: Item, outputIndex: number): readonly StreamUpdate[] {
    if (this.#seen.has(outputIndex)) return NOTHING;
    if (item.type === "message") {
      this.announce(outputIndex, item);
      const delta = joinText(item.content, "");
      return delta === "" ? NOTHING : [this.#textUpdate(outputIndex, delta)];
    }
    if (item.type !== "reasoning") return NOTHING;
    const delta = joinText(item.summary, "\n\n") || joinText(item.content, "\n\n");
    return delta === "" ? NOTHING : [{ kind: "reasoning_delta", outputIndex, delta }];
  }

  #positionOf({ item_id: id }: JsonObject): number {
    return (typeof id === "string" ? this.#announced.get(id) : undefined) ?? this.#latest;
  }

  #textUpdate(outputIndex: number, delta: string): StreamUpdate {
    const phase = this.#phases.get(outputIndex);
    return phase === undefined
      ? { kind: "text_delta", outputIndex, delta }
      : { kind: "text_delta", outputIndex, delta, phase };
  }
}

function joinText(parts: JsonValue | undefined, separator: string): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return parts.map((part) => {
    if (!isJsonObject(part)) return "";
    const text = part.type === "refusal" ? part.refusal : part.text;
    return typeof text === "string" ? text : "";
  }).filter((text) => text !== "").join(separator);
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
