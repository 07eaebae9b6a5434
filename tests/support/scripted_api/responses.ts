/** The Responses API as a scripted server (protocol §3, §8.1, §13). It compacts on request, without a script. */
import { Buffer } from "node:buffer";
import type { Json } from "../files.ts";
import { type Issued, itemsOf, responsesViolations } from "./judge.ts";
import {
  type End,
  httpError,
  type ScriptedItem,
  type ScriptedResponse,
  type StreamedResponse,
} from "./responses_script.ts";
import {
  type Adapter,
  type ArrivedRequest,
  eventStream,
  type HttpAnswer,
  parsed,
  pieces,
  ScriptedApi,
  type ScriptedServer,
  type ScriptOf,
  startScriptedApi,
  type StreamOptions,
} from "./server.ts";

export * from "./responses_script.ts";

/** One request as it arrived, over HTTP or a WebSocket. */
export interface RecordedRequest extends ArrivedRequest {
  /** The items of `body.input`; over a WebSocket those of the continued response first. */
  readonly input: readonly Json[];
  readonly transport: "http" | "ws";
  /** Number of its WebSocket from 1; 0 over HTTP. */
  readonly connection: number;
  /** Message or body as sent: with `previous_response_id`, and `input` not resolved. */
  readonly message: Json;
}

/** The answers of a server. */
export type Script = ScriptOf<RecordedRequest, StreamedResponse>;

/** Options of a server. */
export interface ServerOptions {
  readonly script: Script;
  /** `none` checks nothing. @default {"openai"} */
  readonly rules?: "openai" | "none";
  /** The accepted key; requests with another key get 401. @default {any key} */
  readonly key?: string | undefined;
  /** The number before its first id. @default {0} */
  readonly idsFrom?: number;
  /** `false`: no header names organization and project, as servers of others do. */
  readonly namesAccount?: false;
}

/** A running server. */
export type ResponsesServer = ScriptedServer<RecordedRequest>;

/** Starts a server on a free port of 127.0.0.1. */
export function startResponsesServer(options: ServerOptions): ResponsesServer {
  return startScriptedApi(newResponsesApi(options));
}

/** The API without an address. */
export function newResponsesApi(
  { script, rules, key, idsFrom, namesAccount }: ServerOptions,
): ScriptedApi<RecordedRequest, StreamedResponse> {
  const issuer = new Issuer(idsFrom);
  const account = { "openai-organization": ORGANIZATION, "openai-project": "proj_test" };
  const adapter: Adapter<RecordedRequest, StreamedResponse> = {
    path: /\/responses(\/compact)?$/,
    keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
    headers: (number) => ({
      "x-request-id": `req_${String(number).padStart(8, "0")}`,
      ...(namesAccount === false ? {} : account),
      "openai-version": "2020-10-01",
      "openai-processing-ms": "1",
    }),
    sent: (arrived) => ({
      transport: "http",
      connection: 0,
      message: arrived.body,
      ...arrived,
      input: itemsOf(arrived.body?.input),
    }),
    violations: ({ body }) => rules === "none" ? [] : responsesViolations(body, { issued: issuer }),
    error: httpError,
    ownAnswer: ({ path, body, input }) => {
      if (path.endsWith("/compact")) return compacted(body.model, input, issuer);
      if (body.generate !== false) return undefined;
      const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
      return { kind: "stream", items: [], options: { usage } };
    },
    written: ({ items, options }, { body }) => answerEvents(items, options, { issuer, body }),
    encode: eventStream,
  };
  return new ScriptedApi(adapter, script, key);
}

const ORGANIZATION = "org-test";

/** Ids and blobs of one server: counted, so that a script gives the same bytes each time. */
class Issuer implements Issued {
  #count: number;
  readonly reasoningOf = new Map<string, string>();

  /** Ids count from `idsFrom + 1`. */
  constructor(idsFrom = 0) {
    this.#count = idsFrom;
  }

  newId(prefix: string): string {
    return `${prefix}_${(++this.#count).toString(16).padStart(24, "0")}`;
  }

  /** Encrypted content: short at `added`, other bytes of one length at `done` and `completed` (protocol §4.1). */
  seal(id: string, model: string) {
    const encrypt = (padding: number) => {
      const nonce = String(++this.#count).padStart(8, "0");
      const content = { id, organization: ORGANIZATION, model, nonce, padding: "p".repeat(padding) };
      return `gAAAA${Buffer.from(JSON.stringify(content)).toString("base64url")}`;
    };
    return { added: encrypt(30), done: encrypt(90), completed: encrypt(90) };
  }

  /** Reads the blobs of any server of this kind. */
  readonly unreadable = (id: string | undefined, blob: string): string | null => {
    const content = blob.startsWith("gAAAA")
      ? parsed(Buffer.from(blob.slice(5), "base64url").toString())
      : null;
    if (content === null || (id !== undefined && content.id !== id)) {
      return "Encrypted content could not be decrypted or parsed.";
    }
    return content.organization === ORGANIZATION
      ? null
      : "Encrypted content organization_id did not match the target organization.";
  };
}

/** The answer of `/responses/compact`: the user's messages unchanged, all else in one blob (protocol §8.1). */
function compacted(model: string, input: readonly Json[], issuer: Issuer): HttpAnswer {
  const responseId = issuer.newId("resp");
  const kept = input.filter(({ role }) => role === "user").map(({ content }) => ({
    id: issuer.newId("msg"),
    type: "message",
    status: "completed",
    content: typeof content === "string" ? [{ type: "input_text", text: content }] : content ?? [],
    role: "user",
  }));
  const id = issuer.newId("cmp");
  const answer = {
    id: responseId,
    object: "response.compaction",
    created_at: CREATED_AT,
    output: [...kept, { id, type: "compaction", encrypted_content: issuer.seal(id, model).done }],
    usage: { input_tokens: 156, output_tokens: 190, total_tokens: 346 },
  };
  const headers = { "content-type": "application/json" };
  return { kind: "http", status: 200, headers, body: JSON.stringify(answer) };
}

const CREATED_AT = 1_790_000_000;
const USAGE = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 16 },
  total_tokens: 160,
};

/** The bytes of a streamed answer to a request. */
export function responseBytes(
  response: ScriptedResponse,
  { issuer = new Issuer(), body }: { readonly issuer?: Issuer; readonly body: Json },
): Uint8Array<ArrayBuffer> {
  if (response.kind !== "stream") throw new TypeError("Only streams have these bytes");
  const { events } = answerEvents(response.items, response.options, { issuer, body });
  return new TextEncoder().encode(eventStream(events));
}

/** The events of one answer (protocol §3.2 to §3.6), and the final response object. */
function answerEvents(
  items: readonly ScriptedItem[],
  options: StreamOptions<End>,
  { issuer, body }: { readonly issuer: Issuer; readonly body: Json },
): { readonly events: readonly Json[]; readonly whole: Json } {
  const asked = body.model ?? "unknown";
  const base = {
    id: issuer.newId("resp"),
    object: "response",
    created_at: CREATED_AT,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: {},
    model: options.model ?? asked,
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
  const started = { ...base, status: "in_progress", output: [], usage: null };
  const events: Json[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
  ];
  const output: Json[] = [];
  let reasoningId: string | undefined;
  items.forEach((item, output_index) => {
    const { added, between, done, completed = done } = streamed(item, asked, issuer);
    const inside = between.map((event) => ({ ...event, output_index }));
    events.push({ type: "response.output_item.added", output_index, item: added });
    if (item.kind === "reasoning") reasoningId = done.id;
    else if (item.kind !== "item" && reasoningId !== undefined) issuer.reasoningOf.set(done.id, reasoningId);
    if (item.unfinished === true) {
      // An unfinished item stops in the middle of its deltas.
      events.push(...inside.slice(0, Math.floor(inside.length / 2)));
      return;
    }
    events.push(...inside, { type: "response.output_item.done", output_index, item: done });
    output.push(completed);
  });
  const { closing, response: whole } = closed(options.end ?? { kind: "completed" }, {
    ...base,
    output,
    usage: options.usage ?? USAGE,
  });
  const isPadded = body.stream_options?.include_obfuscation !== false;
  return {
    events: [...events, ...closing].map((event, sequence_number) => ({
      ...event,
      sequence_number,
      ...(isPadded && typeof event.delta === "string" ? obfuscation(event.delta) : {}),
    })),
    whole,
  };
}

const obfuscation = ({ length }: string) => ({
  obfuscation: "kQzVwXbNpRtLmSdF".slice(0, (16 - length % 16) % 16),
});

/** Every form that an item takes in a stream (protocol §3.4). */
interface StreamedItem {
  /** As `output_item.added` has it. */
  readonly added: Json;
  /** The events between `added` and `done`. */
  readonly between: readonly Json[];
  readonly done: Json;
  /** As the terminal event lists it; reasoning is encrypted again. */
  readonly completed?: Json;
}

function streamed(item: ScriptedItem, model: string, issuer: Issuer): StreamedItem {
  switch (item.kind) {
    case "reasoning": {
      const id = issuer.newId("rs");
      const blobs = issuer.seal(id, model);
      const form = (summary: Json, encrypted_content: string) => ({
        id,
        type: "reasoning",
        summary,
        encrypted_content,
      });
      const parts = item.texts.map((text) => ({ type: "summary_text", text }));
      return {
        added: form([], blobs.added),
        between: item.texts.flatMap((text, part) => summaryPart(id, part, text)),
        done: form(parts, blobs.done),
        completed: form(parts, blobs.completed),
      };
    }
    case "message": {
      const { text, phase, refusal } = item;
      const id = issuer.newId("msg");
      const type = refusal === true ? "refusal" : "output_text";
      const member = refusal === true ? "refusal" : "text";
      const extras = refusal === true ? {} : { logprobs: [] };
      const part = { type, ...(refusal === true ? {} : { annotations: [] }), ...extras };
      const form = (status: string, content: Json) => ({
        ...{ id, type: "message", status, content },
        ...(phase === undefined ? {} : { phase }),
        role: "assistant",
      });
      const at = { item_id: id, content_index: 0 };
      return {
        added: form("in_progress", []),
        between: [
          { type: "response.content_part.added", ...at, part: { ...part, [member]: "" } },
          ...pieces(text).map((delta) => ({ type: `response.${type}.delta`, ...at, delta, ...extras })),
          { type: `response.${type}.done`, ...at, [member]: text, ...extras },
          { type: "response.content_part.done", ...at, part: { ...part, [member]: text } },
        ],
        done: form("completed", [{ ...part, [member]: text }]),
      };
    }
    case "function_call": {
      const { name, arguments: text, callId } = item;
      const id = issuer.newId("fc");
      const call_id = callId ?? issuer.newId("call");
      const form = (status: string, args: string) => ({
        id,
        type: "function_call",
        status,
        arguments: args,
        call_id,
        name,
      });
      const events = "response.function_call_arguments";
      return {
        added: form("in_progress", ""),
        between: [
          ...pieces(text).map((delta) => ({ type: `${events}.delta`, item_id: id, delta })),
          { type: `${events}.done`, item_id: id, arguments: text },
        ],
        done: form("completed", text),
      };
    }
    case "item":
      return { added: item.item, between: [], done: item.item };
  }
}

function summaryPart(item_id: string, summary_index: number, text: string): Json[] {
  const at = { item_id, summary_index };
  const events = "response.reasoning_summary";
  return [
    { type: `${events}_part.added`, ...at, part: { type: "summary_text", text: "" } },
    ...pieces(text).map((delta) => ({ type: `${events}_text.delta`, ...at, delta })),
    { type: `${events}_text.done`, ...at, text },
    { type: `${events}_part.done`, ...at, part: { type: "summary_text", text } },
  ];
}

function closed(end: End, answered: Json): { readonly closing: readonly Json[]; readonly response: Json } {
  const with_ = (status: string, more: Json = {}) => ({ ...answered, status, ...more });
  switch (end.kind) {
    case "completed":
    case "incomplete": {
      const reason = "reason" in end ? { incomplete_details: { reason: end.reason } } : {};
      const response = with_(end.kind, reason);
      return { closing: [{ type: `response.${end.kind}`, response }], response };
    }
    case "failed":
    case "error_then_failed": {
      const response = with_("failed", { usage: null, error: { ...end.error } });
      const { code, message } = end.error;
      const first = { type: "error", error: { type: code, code, message, param: null } };
      const failed = { type: "response.failed", response };
      return { closing: end.kind === "failed" ? [failed] : [first, failed], response };
    }
    case "error":
      return { closing: [{ type: "error", ...end.error, param: null }], response: with_("failed") };
    default:
      return { closing: [], response: with_("in_progress") };
  }
}
