import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import type { Dialect } from "./dialect.ts";
import { type StreamedItem, streamItem } from "./items.ts";
import type { Mint } from "./mint.ts";
import type { End, ScriptedItem, StreamOptions } from "./script.ts";

/** Who answers, and what was asked. */
export interface AnswerContext {
  readonly mint: Mint;
  readonly dialect: Dialect;
  readonly body: JsonObject;
}

/** A streamed answer: its events in order, and the response object as it stands at the end. */
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
  const { mint, dialect, body } = context;
  const asked = typeof body.model === "string" ? body.model : "unknown";
  const base = responseBase(mint.responseId(), options.model ?? asked, body);
  const started = { ...base, status: "in_progress", output: [], usage: null };
  const events: JsonObject[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
  ];
  const output: JsonObject[] = [];
  let reasoningId: string | undefined;
  items.forEach((item, output_index) => {
    const streamed = streamItem(item, {
      mint,
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
  // What is unfinished stops in the middle of its deltas.
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

function finishEvent(event: JsonObject, { mint, dialect, body }: AnswerContext): JsonObject {
  const streamOptions = isJsonObject(body.stream_options) ? body.stream_options : {};
  const obfuscated = dialect.obfuscation && streamOptions.include_obfuscation !== false;
  const named = dialect.rotateIds ? rotateIds(event, mint) : event;
  if (!obfuscated || typeof event.delta !== "string") return named;
  const missing = (16 - event.delta.length % 16) % 16;
  return { ...named, obfuscation: "kQzVwXbNpRtLmSdF".slice(0, missing) };
}

/** The event with a new id wherever one stands. */
function rotateIds(event: JsonObject, mint: Mint): JsonObject {
  const fresh = (value: JsonValue | undefined) =>
    typeof value === "string" ? mint.rotated(value) : value ?? null;
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
