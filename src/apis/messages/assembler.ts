/**
 * Turns the events of one message into items (protocol §10). A content block becomes an item when it stops; its deltas
 * are for the screen only.
 */
import * as z from "zod";
import type { ApiFailure } from "../../domain/errors.ts";
import { exactValue, objectOf, withMembers } from "../../domain/exact_json.ts";
import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import { isItem } from "../../domain/item.ts";
import { brokenFailure, classifyErrorEvent, cutFailure, damagedFailure } from "../failure.ts";
import { mismatchOf, quoted } from "../message.ts";
import type { Assembler, FinishedResponse, StreamUpdate } from "../api.ts";
import type { DeltaEvent, ItemEndEvent, ItemEvent, ResponseEvent, StreamEvent } from "../stream.ts";
import { type DeltaEffect, OpenBlock } from "./blocks.ts";
import { readMessagesEvent } from "./stream.ts";

const NOTHING: readonly StreamUpdate[] = [];

/** The message received so far; a restart of the server begins a new one. */
class Message {
  readonly id: string | null;
  readonly model: string | null;
  usage: JsonObject | null;
  /** The `delta` of `message_delta`, or the message itself if its start already has the stop reason. */
  stop: JsonObject;
  readonly transformations: JsonValue[] = [];
  readonly open = new Map<number, OpenBlock>();
  /** Indexes of the blocks that began in an event of their own. */
  readonly begun = new Set<number>();
  /** Indexes of blocks without a type, whose events are skipped. */
  readonly skipped = new Set<number>();
  /** Indexes in `open` of blocks that `message_start` held whole; they may get no further events. */
  readonly given = new Set<number>();
  /** The block that an event without an index is about: the newest one. */
  newest = -1;
  /** True once it holds a call of the client's tools. */
  calls = false;

  constructor(message: JsonObject) {
    this.id = stringMember(message, "id") ?? null;
    this.model = stringMember(message, "model") ?? null;
    this.usage = objectMember(message, "usage") ?? null;
    this.stop = typeof message.stop_reason === "string" ? message : {};
  }
}

export class MessagesAssembler implements Assembler {
  #message = new Message({});
  #started = false;
  readonly #notices = new Set<string>();
  /** Start of an event that is not JSON. Last in the stream it means a cut, anywhere else a broken stream. */
  #broken: string | undefined;
  #finished = false;
  hasBegun = false;

  feed(event: { readonly event: string | undefined; readonly data: string }): readonly StreamUpdate[] {
    const { event: name, data } = event;
    if (this.#finished) return NOTHING;
    if (this.#broken !== undefined) return this.#fail(brokenFailure(this.#broken));
    if (data === "") return NOTHING;
    let payload: unknown;
    try {
      payload = JSON.parse(data);
    } catch {
      this.#broken = data.slice(0, 80);
      return NOTHING;
    }
    if (!isJsonObject(payload)) return this.#fail(brokenFailure(data.slice(0, 80)));
    const read = readMessagesEvent(payload, name);
    this.hasBegun ||= read.kind === "delta" || read.kind === "item" ||
      read.kind === "response" && read.items.length > 0;
    if (read.kind === "delta") return this.#add(read, data);
    const exact = exactValue(payload, data);
    return this.#take(exact === payload ? read : readMessagesEvent(exact, name));
  }

  end(): readonly StreamUpdate[] {
    if (this.#finished) return NOTHING;
    return this.#finish({ status: "cut", failure: cutFailure() });
  }

  #take(event: StreamEvent): readonly StreamUpdate[] {
    const { data = {} } = event;
    switch (event.kind) {
      case "item":
        return this.#open(event);
      case "item_end":
        return this.#close(event);
      case "response":
        return this.#start(event);
      case "stop":
        this.#readDelta(data);
        return NOTHING;
      case "end":
        return this.#stop(data);
      case "error":
        return this.#fail(classifyErrorEvent(data));
      default:
        return NOTHING;
    }
  }

  /** A second start with the same id is a duplicate before the first block; with another id, the server starts again. */
  #start({ response: message, items }: ResponseEvent): readonly StreamUpdate[] {
    const id = stringMember(message, "id") ?? null;
    if (this.#started && id === this.#message.id) {
      return this.#message.begun.size === 0
        ? NOTHING
        : this.#fail(damagedFailure("begins the message again after its blocks"));
    }
    const again = this.#started;
    this.#started = true;
    this.#judge(messageSchema, message);
    const { open, begun, newest, calls } = this.#message;
    this.#message = new Message(message);
    this.#transformed(message);
    if (again) {
      this.#notices.add("The server began its answer again: earlier events are void");
      return [{ kind: "reset" }, ...this.#takeGiven(items)];
    }
    // Blocks that came before the first message_start belong to it.
    for (const [index, block] of open) this.#message.open.set(index, block);
    for (const index of begun) this.#message.begun.add(index);
    this.#message.newest = newest;
    this.#message.calls = calls;
    return this.#takeGiven(items);
  }

  /** Opens the blocks in the start of the message, as sent after a tool call of the server. */
  #takeGiven(items: readonly JsonValue[]): readonly StreamUpdate[] {
    return items.flatMap((start, index) => {
      if (!isItem(start) || this.#message.open.has(index)) return NOTHING;
      const block = new OpenBlock(start);
      this.#message.open.set(index, block);
      this.#message.given.add(index);
      this.#message.calls ||= start.type === "tool_use";
      this.#message.newest = Math.max(this.#message.newest, index);
      return shown(block.opening, index);
    });
  }

  /** Ends the given blocks before `index`. */
  #endGiven(index = Infinity): readonly StreamUpdate[] {
    const { open, given } = this.#message;
    return [...given].filter((place) => place < index).flatMap((outputIndex) => {
      const block = open.get(outputIndex);
      given.delete(outputIndex);
      open.delete(outputIndex);
      return block === undefined ? NOTHING : [doneItem(block, outputIndex)];
    });
  }

  #open({ item: start, place: index = this.#message.newest + 1 }: ItemEvent): readonly StreamUpdate[] {
    if (!isItem(start)) {
      this.#notices.add("A content block without a type was skipped");
      this.#message.skipped.add(index);
      return NOTHING;
    }
    if (this.#message.begun.has(index)) {
      return this.#fail(damagedFailure(`begins content block ${index} twice`));
    }
    this.#message.begun.add(index);
    const ended = this.#endGiven(index);
    const block = new OpenBlock(start);
    this.#message.open.set(index, block);
    this.#message.newest = index;
    this.#message.calls ||= start.type === "tool_use";
    // A given block that the stream repeats is on the screen already.
    return this.#message.given.delete(index) ? ended : [...ended, ...shown(block.opening, index)];
  }

  #add(
    { data: payload = {}, place: index = this.#message.newest }: DeltaEvent,
    data: string,
  ): readonly StreamUpdate[] {
    const block = this.#message.open.get(index);
    const { delta } = payload;
    if (!isJsonObject(delta)) return NOTHING;
    if (block === undefined) return this.#outside(index, "adds to");
    const effect = block.add(isTextDelta(delta) ? delta : exactDelta(payload, data));
    if (effect !== "unknown") return shown(effect, index);
    const type = typeof delta.type === "string" ? quoted(delta.type) : "without a type";
    this.#notices.add(`A delta ${type} does not fit its content block, and was skipped`);
    return NOTHING;
  }

  #close({ place: outputIndex = this.#message.newest }: ItemEndEvent): readonly StreamUpdate[] {
    const block = this.#message.open.get(outputIndex);
    if (block === undefined) return this.#outside(outputIndex, "ends");
    this.#message.open.delete(outputIndex);
    this.#message.given.delete(outputIndex);
    return [doneItem(block, outputIndex)];
  }

  /** An event about a block that is not open: its content has no place, or is there already. */
  #outside(index: number, does: string): readonly StreamUpdate[] {
    if (this.#message.skipped.has(index)) return NOTHING;
    return this.#fail(damagedFailure(`${does} content block ${index}, which is not open`));
  }

  /** Usage is cumulative: new values replace earlier ones, `null` and missing members keep them (§10). */
  #readDelta(payload: JsonObject): void {
    this.#judge(messageDeltaSchema, payload);
    const delta = objectMember(payload, "delta") ?? {};
    if (typeof delta.stop_reason === "string") this.#message.stop = delta;
    const usage = objectMember(payload, "usage");
    if (usage !== undefined) {
      const named = Object.entries(usage).filter(([, value]) => value !== null);
      this.#message.usage = withMembers(this.#message.usage ?? {}, objectOf(named));
    }
    this.#transformed(payload);
    this.#transformed(delta);
  }

  #stop(payload: JsonObject): readonly StreamUpdate[] {
    this.#transformed(payload);
    const facts = stopFacts(this.#message.stop);
    const ended = this.#endGiven();
    const unended = [...this.#message.open];
    const half = unended.find(([, block]) => !block.isWhole);
    if (half !== undefined && facts.status === "completed") {
      return [...ended, ...this.#fail(damagedFailure(`ends inside content block ${half[0]}`))];
    }
    if (this.#message.stop.stop_reason === "tool_use" && !this.#message.calls) {
      return [...ended, ...this.#fail(damagedFailure("stops for a call that it does not hold"))];
    }
    const items = unended.flatMap(([outputIndex, block]) => {
      this.#notices.add(`Content block ${outputIndex} came without its end`);
      return block.isWhole ? [{ ...doneItem(block, outputIndex), fromDeltas: true as const }] : [];
    });
    return [...ended, ...items, ...this.#finish(facts)];
  }

  #fail(failure: ApiFailure): readonly StreamUpdate[] {
    return this.#finish({ status: "failed", failure });
  }

  #judge(schema: z.ZodType, value: JsonObject): void {
    const mismatch = mismatchOf(schema, value);
    if (mismatch !== undefined) {
      this.#notices.add(`An event of the message has an unknown shape at ${quoted(mismatch)}`);
    }
  }

  /** Several events may report the same one. */
  #transformed({ input_transformations: reported }: JsonObject): void {
    if (!Array.isArray(reported)) return;
    const known = new Set(this.#message.transformations.map((one) => JSON.stringify(one)));
    this.#message.transformations.push(...reported.filter((one) => !known.has(JSON.stringify(one))));
  }

  #finish(
    end: Pick<FinishedResponse, "status"> & Partial<FinishedResponse>,
  ): readonly StreamUpdate[] {
    this.#finished = true;
    const { id, model, usage, transformations } = this.#message;
    return [...this.#endGiven(), {
      kind: "finished",
      response: {
        id,
        model,
        usage,
        refused: false,
        ...(transformations.length === 0 ? {} : { inputTransformations: transformations }),
        notices: [...this.#notices],
        ...end,
      },
    }];
  }
}

function doneItem(block: OpenBlock, outputIndex: number) {
  return { kind: "item" as const, outputIndex, item: block.close() };
}

/** True for deltas that leave only a text: most of a stream. */
function isTextDelta({ type }: JsonObject): boolean {
  return type !== "citations_delta" && type !== "compaction_delta";
}

function exactDelta(payload: JsonObject, data: string): JsonObject {
  return objectMember(exactValue(payload, data), "delta") ?? {};
}

function shown(effect: DeltaEffect, outputIndex: number): readonly StreamUpdate[] {
  if (typeof effect === "string" || effect.delta === "") return NOTHING;
  return [{
    kind: effect.kind === "text" ? "text_delta" : "reasoning_delta",
    outputIndex,
    delta: effect.delta,
  }];
}

/** The members of {@linkcode FinishedResponse} that depend on the stop reason. */
type StopFacts = Pick<FinishedResponse, "status" | "reason" | "paused"> & { readonly refused?: true };

/**
 * Reads the `delta` of a `message_delta`. After an unknown or missing reason the message may be incomplete. A refusal
 * is a complete answer; its reason is the server's explanation or category.
 */
function stopFacts(delta: JsonObject): StopFacts {
  const reason = stringMember(delta, "stop_reason");
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
    case "tool_use":
      return { status: "completed" };
    case "pause_turn":
      return { status: "completed", paused: true };
    case "refusal": {
      const details = objectMember(delta, "stop_details") ?? {};
      const why = stringMember(details, "explanation") ?? stringMember(details, "category");
      return { status: "completed", refused: true, ...(why === undefined ? {} : { reason: why }) };
    }
    default:
      return { status: "incomplete", reason: reason ?? "no stop reason" };
  }
}

const usageSchema = z.lazy(() => {
  const count = z.union([z.number(), z.custom(isRawNumber)]).nullish();
  return z.looseObject({
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  });
});

/** The `message` of `message_start` (protocol §10): the members that a client reads. */
const messageSchema = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    model: z.string(),
    usage: usageSchema.nullish(),
    input_transformations: z.array(z.looseObject({})).nullish(),
  })
);

const messageDeltaSchema = z.lazy(() =>
  z.looseObject({
    delta: z.looseObject({
      stop_reason: z.string().nullish(),
      stop_details: z.looseObject({
        category: z.string().nullish(),
        explanation: z.string().nullish(),
      }).nullish(),
    }),
    usage: usageSchema.nullish(),
  })
);
