import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import type { Dialect } from "./dialect.ts";
import type { Issuer } from "./issuer.ts";
import type { End, ScriptedItem, StreamOptions } from "./script.ts";

const encoder = new TextEncoder();

/** The bytes of an event stream. */
export function encodeEvents(
  events: readonly JsonObject[],
  dialect: Dialect,
  options: StreamOptions,
): Uint8Array<ArrayBuffer> {
  const comments = options.noise?.includes("comments") === true;
  const blocks = events.map((event) => {
    const name = dialect.eventLines ? `event: ${event.type}\n` : "";
    return `${comments ? ": still here\n\n" : ""}${name}data: ${JSON.stringify(event)}\n\n`;
  });
  const opening = dialect.opening === undefined ? "" : `: ${dialect.opening}\n\n`;
  const ended = options.end === undefined || !["cut", "reset", "stall"].includes(options.end.kind);
  const text = `${opening}${blocks.join("")}${dialect.done && ended ? "data: [DONE]\n\n" : ""}`;
  return encoder.encode(text.replaceAll("\n", options.delivery?.lineEnd ?? "\n"));
}

/** One item on its way through a stream. */
export interface StreamedItem {
  /** As `output_item.added` has it. */
  readonly added: JsonObject;
  /** The events between `added` and `done`, without `sequence_number` and `output_index`. */
  readonly between: readonly JsonObject[];
  readonly done: JsonObject;
  /** As the terminal event lists it: its blob is encrypted again. */
  readonly completed: JsonObject;
}

/** Place of an item. */
export interface ItemPlace {
  readonly issuer: Issuer;
  readonly dialect: Dialect;
  readonly responseId: string;
  readonly model: string;
  /** The reasoning item before it in its response. */
  readonly reasoningId: string | undefined;
}

const DELTA_CHARS = 12;

/** Every form that an item takes in a stream (protocol §3.4). */
export function streamItem(item: ScriptedItem, place: ItemPlace): StreamedItem {
  switch (item.kind) {
    case "reasoning":
      return streamReasoning(item.texts, place);
    case "message":
      return streamMessage(item, place);
    case "function_call":
      return streamCall(item, place);
    case "item":
      return { added: item.item, between: [], done: item.item, completed: item.item };
  }
}

function streamReasoning(
  texts: readonly string[],
  { issuer, dialect, responseId, model }: ItemPlace,
): StreamedItem {
  const id = issuer.itemId("rs");
  const blobs = issuer.seal(id, model, responseId);
  const inText = dialect.reasoning === "text";
  const form = (blob: string | null, finished: boolean): JsonObject => ({
    id,
    type: "reasoning",
    summary: finished && !inText ? texts.map((text) => ({ type: "summary_text", text })) : [],
    ...(inText ? { content: finished ? texts.map((text) => ({ type: "reasoning_text", text })) : [] } : {}),
    ...(blob !== null || dialect.blobs === "none" ? { encrypted_content: blob } : {}),
    ...(dialect.reasoningStatus ? { status: finished ? "completed" : "in_progress" } : {}),
  });
  const between = texts.flatMap((text, part) =>
    inText
      ? textPart(id, part, { type: "reasoning_text", member: "text", text })
      : summaryPart(id, part, text)
  );
  return {
    added: form(blobs.added, false),
    between,
    done: form(blobs.done, true),
    completed: form(blobs.completed, true),
  };
}

function streamMessage(item: Extract<ScriptedItem, { kind: "message" }>, place: ItemPlace): StreamedItem {
  const id = place.issuer.itemId("msg");
  if (place.reasoningId !== undefined) place.issuer.reasoningOf.set(id, place.reasoningId);
  const part = item.refusal === true
    ? { type: "refusal", refusal: item.text }
    : { type: "output_text", annotations: [], logprobs: [], text: item.text };
  const form = (finished: boolean): JsonObject => ({
    id,
    type: "message",
    status: finished ? "completed" : "in_progress",
    content: finished ? [part] : [],
    ...(item.phase === undefined ? {} : { phase: item.phase }),
    role: "assistant",
  });
  const between = textPart(id, 0, {
    type: item.refusal === true ? "refusal" : "output_text",
    member: item.refusal === true ? "refusal" : "text",
    text: item.text,
  });
  return { added: form(false), between, done: form(true), completed: form(true) };
}

type CallItem = Extract<ScriptedItem, { readonly kind: "function_call" }>;

function streamCall({ name, arguments: text, callId }: CallItem, place: ItemPlace): StreamedItem {
  const id = place.issuer.itemId("fc");
  if (place.reasoningId !== undefined) place.issuer.reasoningOf.set(id, place.reasoningId);
  const call_id = callId ?? place.issuer.callId();
  const form = (finished: boolean): JsonObject => ({
    id,
    type: "function_call",
    status: finished ? "completed" : "in_progress",
    arguments: finished ? text : "",
    call_id,
    name,
  });
  const events = "response.function_call_arguments";
  const deltas = place.dialect.argumentDeltas ? pieces(text) : [];
  return {
    added: form(false),
    between: [
      ...deltas.map((delta) => ({ type: `${events}.delta`, item_id: id, delta })),
      { type: `${events}.done`, item_id: id, arguments: text },
    ],
    done: form(true),
    completed: form(true),
  };
}

interface TextPart {
  readonly type: "output_text" | "refusal" | "reasoning_text";
  readonly member: "text" | "refusal";
  readonly text: string;
}

function textPart(item_id: string, content_index: number, { type, member, text }: TextPart): JsonObject[] {
  const at = { item_id, content_index };
  const extras = type === "output_text" ? { logprobs: [] } : {};
  const part = { type, ...(type === "output_text" ? { annotations: [], logprobs: [] } : {}) };
  return [
    { type: "response.content_part.added", ...at, part: { ...part, [member]: "" } },
    ...pieces(text).map((delta) => ({ type: `response.${type}.delta`, ...at, delta, ...extras })),
    { type: `response.${type}.done`, ...at, [member]: text, ...extras },
    { type: "response.content_part.done", ...at, part: { ...part, [member]: text } },
  ];
}

function summaryPart(item_id: string, summary_index: number, text: string): JsonObject[] {
  const at = { item_id, summary_index };
  return [
    { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
    ...pieces(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
    { type: "response.reasoning_summary_text.done", ...at, text },
    { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text } },
  ];
}

/** `text` in pieces that split no character. */
function pieces(text: string): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / DELTA_CHARS);
  return Array.from(
    { length: count },
    (_, index) => characters.slice(index * DELTA_CHARS, (index + 1) * DELTA_CHARS).join(""),
  );
}

/** Server and request of an answer. */
export interface AnswerContext {
  readonly issuer: Issuer;
  readonly dialect: Dialect;
  readonly body: JsonObject;
}

/** A streamed answer: its events in order, and the final response object. */
export interface Answer {
  /** With `sequence_number`. */
  readonly events: readonly JsonObject[];
  readonly response: JsonObject;
}

const USAGE: JsonObject = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 16 },
  total_tokens: 160,
};

/** The events of one answer (protocol §3.2 to §3.6). */
export function answerEvents(
  items: readonly ScriptedItem[],
  options: StreamOptions,
  context: AnswerContext,
): Answer {
  const { issuer, dialect, body } = context;
  const asked = typeof body.model === "string" ? body.model : "unknown";
  const base = responseBase(issuer.responseId(), options.model ?? asked, body);
  const started = { ...base, status: "in_progress", output: [], usage: null };
  const events: JsonObject[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
  ];
  const output: JsonObject[] = [];
  let reasoningId: string | undefined;
  items.forEach((item, output_index) => {
    const streamed = streamItem(item, {
      issuer,
      dialect,
      responseId: String(base.id),
      model: asked,
      reasoningId,
    });
    events.push(...itemEvents(streamed, item, output_index));
    if (item.unfinished !== true) output.push(streamed.completed);
    if (item.kind === "reasoning") reasoningId = String(streamed.done.id);
  });
  const { closing, response } = closingEvents(options.end ?? { kind: "completed" }, {
    ...base,
    output: options.withoutFinalOutput === true ? [] : output,
    usage: options.usage ?? USAGE,
  });
  const all = withNoise([...events, ...closing], options);
  const finished = all.map((event, sequence_number) => finishEvent({ ...event, sequence_number }, context));
  return { events: finished, response };
}

function responseBase(id: string, model: string, body: JsonObject): JsonObject {
  return {
    id,
    object: "response",
    created_at: 1_790_000_000,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: {},
    model,
    parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: body.store ?? true,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: body.tools ?? [],
    top_p: 1,
    truncation: "disabled",
  };
}

function itemEvents(streamed: StreamedItem, item: ScriptedItem, output_index: number): JsonObject[] {
  const between = streamed.between.map((event) => ({ ...event, output_index }));
  const added = { type: "response.output_item.added", output_index, item: streamed.added };
  // An unfinished item stops in the middle of its deltas.
  if (item.unfinished === true) return [added, ...between.slice(0, Math.floor(between.length / 2))];
  return [added, ...between, { type: "response.output_item.done", output_index, item: streamed.done }];
}

function closingEvents(end: End, response: JsonObject): { closing: JsonObject[]; response: JsonObject } {
  switch (end.kind) {
    case "completed": {
      const completed = { ...response, status: "completed" };
      return { closing: [{ type: "response.completed", response: completed }], response: completed };
    }
    case "incomplete": {
      const incomplete = { ...response, status: "incomplete", incomplete_details: { reason: end.reason } };
      return { closing: [{ type: "response.incomplete", response: incomplete }], response: incomplete };
    }
    case "failed":
    case "error_then_failed": {
      const failed = { ...response, status: "failed", usage: null, error: { ...end.error } };
      const nested = { type: end.error.code, code: end.error.code, message: end.error.message, param: null };
      const first = end.kind === "failed" ? [] : [{ type: "error", error: nested }];
      return { closing: [...first, { type: "response.failed", response: failed }], response: failed };
    }
    case "error":
      return {
        closing: [{ type: "error", ...end.error, param: null }],
        response: { ...response, status: "failed" },
      };
    case "cut":
    case "reset":
    case "stall":
      return { closing: [], response: { ...response, status: "in_progress" } };
  }
}

function withNoise(events: readonly JsonObject[], { noise = [] }: StreamOptions): JsonObject[] {
  const extra: JsonObject[] = [
    ...(noise.includes("keepalive") ? [{ type: "keepalive" }] : []),
    ...(noise.includes("unknown_events")
      ? [{ type: "response.novelty.delta", item_id: "nov_1", delta: "?" }]
      : []),
  ];
  return events.flatMap((event, index) => index === 0 || index % 3 !== 0 ? [event] : [...extra, event]);
}

function finishEvent(event: JsonObject, { issuer, dialect, body }: AnswerContext): JsonObject {
  const streamOptions = isJsonObject(body.stream_options) ? body.stream_options : {};
  const obfuscated = dialect.obfuscation && streamOptions.include_obfuscation !== false;
  const named = dialect.rotateIds ? rotateIds(event, issuer) : event;
  if (!obfuscated || typeof event.delta !== "string") return named;
  const missing = (16 - event.delta.length % 16) % 16;
  return { ...named, obfuscation: "kQzVwXbNpRtLmSdF".slice(0, missing) };
}

/** Returns the event with a new id in place of each id. */
function rotateIds(event: JsonObject, issuer: Issuer): JsonObject {
  const fresh = (value: JsonValue | undefined) =>
    typeof value === "string" ? issuer.rotated(value) : value ?? null;
  const renamed = (value: JsonValue | undefined) =>
    isJsonObject(value) ? { ...value, id: fresh(value.id) } : null;
  const response = renamed(event.response);
  const item = renamed(event.item);
  return {
    ...event,
    ...(event.item_id === undefined ? {} : { item_id: fresh(event.item_id) }),
    ...(item === null ? {} : { item }),
    ...(response === null ? {} : { response }),
  };
}
