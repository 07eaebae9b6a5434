import type { JsonObject } from "../../../src/domain/json.ts";
import type { Dialect } from "./dialect.ts";
import type { Mint } from "./mint.ts";
import type { ScriptedItem } from "./script.ts";

/** One item on its way through a stream. */
export interface StreamedItem {
  /** As `output_item.added` has it. */
  readonly added: JsonObject;
  /** The events between `added` and `done`, without `sequence_number` and `output_index`. */
  readonly between: readonly JsonObject[];
  readonly done: JsonObject;
  /** As the terminal event lists it: its blob is encrypted anew. */
  readonly completed: JsonObject;
}

/** Where an item stands. */
export interface ItemPlace {
  readonly mint: Mint;
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
      return streamCall({
        type: "function_call",
        prefix: "fc",
        member: "arguments",
        text: item.arguments,
        ...item,
      }, place);
    case "custom_tool_call":
      return streamCall({
        type: "custom_tool_call",
        prefix: "ctc",
        member: "input",
        text: item.input,
        ...item,
      }, place);
    case "item":
      return { added: item.item, between: [], done: item.item, completed: item.item };
  }
}

function streamReasoning(
  texts: readonly string[],
  { mint, dialect, responseId, model }: ItemPlace,
): StreamedItem {
  const id = mint.itemId("rs");
  const blobs = mint.seal(id, model, responseId);
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
  const id = place.mint.itemId("msg");
  if (place.reasoningId !== undefined) place.mint.reasoningOf.set(id, place.reasoningId);
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

interface CallItem {
  readonly type: "function_call" | "custom_tool_call";
  readonly prefix: string;
  /** The member that holds what the tool is given. */
  readonly member: "arguments" | "input";
  readonly text: string;
  readonly name: string;
  readonly callId?: string;
}

function streamCall({ type, prefix, member, text, name, callId }: CallItem, place: ItemPlace): StreamedItem {
  const id = place.mint.itemId(prefix);
  if (place.reasoningId !== undefined) place.mint.reasoningOf.set(id, place.reasoningId);
  const call_id = callId ?? place.mint.callId();
  const form = (finished: boolean): JsonObject => ({
    id,
    type,
    status: finished ? "completed" : "in_progress",
    [member]: finished ? text : "",
    call_id,
    name,
  });
  const events = `response.${type}_${member}`;
  const deltas = place.dialect.argumentDeltas ? pieces(text) : [];
  return {
    added: form(false),
    between: [
      ...deltas.map((delta) => ({ type: `${events}.delta`, item_id: id, delta })),
      { type: `${events}.done`, item_id: id, [member]: text },
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
