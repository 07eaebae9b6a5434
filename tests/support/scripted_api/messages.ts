/** The Messages API as a scripted server (protocol §9–11, §13), which signs its thinking. */
import { Buffer } from "node:buffer";
import { type Json, sha256 } from "../files.ts";
import { asksToDrop, type JudgedBlock, messagesViolations, turnsOf, type Verdict } from "./judge.ts";
import {
  apiError,
  type MessagesEnd,
  type MessagesStreamOptions,
  type ScriptedBlock,
  type StreamedMessage,
} from "./messages_script.ts";
import {
  type Adapter,
  type ArrivedRequest,
  parsed,
  pieces,
  ScriptedApi,
  type ScriptedServer,
  type ScriptOf,
  startScriptedApi,
} from "./server.ts";

export * from "./messages_script.ts";

/** One request as it arrived. */
export interface RecordedMessages extends ArrivedRequest {
  /** All blocks of its messages, in order. */
  readonly blocks: readonly Json[];
}

/** The answers of a server. */
export type MessagesScript = ScriptOf<RecordedMessages, StreamedMessage>;

/** Options of a server. */
export interface MessagesServerOptions {
  readonly script: MessagesScript;
  /** The accepted key; requests with another key get 401. @default {any key} */
  readonly key?: string;
  /** Does not know `thinking.block_binding`, even with the beta header. */
  readonly legacyBinding?: true;
}

/** A running server. */
export type MessagesServer = ScriptedServer<RecordedMessages>;

const BINDING_BETA = "thinking-binding-controls-2026-08-01";
const ERROR_TYPES: Readonly<Record<number, string>> = { 401: "authentication_error", 404: "not_found_error" };

/** Starts a server on a free port of 127.0.0.1. */
export function startMessagesServer({ script, key, legacyBinding }: MessagesServerOptions): MessagesServer {
  const issuer = new MessagesIssuer();
  /** The last blocks of the turns in which the API paused. */
  const paused = new Set<string>();
  const adapter: Adapter<RecordedMessages, StreamedMessage> = {
    path: /\/messages$/,
    keyOf: (headers) => headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, ""),
    headers: (number) => ({
      "request-id": `req_${String(number).padStart(8, "0")}`,
      "anthropic-workspace-id": "wrkspc_test",
    }),
    sent: (arrived) => ({ ...arrived, blocks: blocksOf(arrived.body ?? {}) }),
    violations: ({ body, headers, blocks }) => {
      if (headers["anthropic-version"] === undefined) {
        return [{ message: "anthropic-version: header is required" }];
      }
      return messagesViolations(body, {
        judged: issuer.judged(body),
        isPaused: paused.has(endOf(blocks)),
        knowsBinding: knowsBinding(headers) && legacyBinding !== true,
      });
    },
    error: (status, { message }) => apiError(status, ERROR_TYPES[status] ?? "invalid_request_error", message),
    written: ({ blocks, options }, { body, headers }) => {
      const { events, whole } = messageEvents(blocks, options, { body, headers, issuer });
      if (whole.stop_reason === "pause_turn") paused.add(endOf(whole.content));
      return { events, whole };
    },
    encode,
  };
  return startScriptedApi(new ScriptedApi(adapter, script, key));
}

const knowsBinding = (headers: ArrivedRequest["headers"]) =>
  headers["anthropic-beta"]?.includes(BINDING_BETA) === true;
const blocksOf = (body: Json) => turnsOf(body).flatMap(({ blocks }) => blocks.map(({ block }) => block));
const isThinking = ({ type }: Json) => type === "thinking" || type === "redacted_thinking";
/** The last block that is no thinking, which a client may have to leave out. */
const endOf = (blocks: readonly Json[]) => canonical(blocks.findLast((block) => !isThinking(block)) ?? null);

/** The text of a stream; each object padded before its last brace, as the API does (protocol §10). */
function encode(events: readonly Json[]): string {
  return events.map((event, index) => {
    const padding = " ".repeat(index * 7 % 11);
    return `event: ${event.type}\ndata: ${JSON.stringify(event).slice(0, -1)}${padding}}\n\n`;
  }).join("");
}

/** A text that is the same for equal values, whatever the order of members; `cache_control` left out (protocol §11). */
function canonical(value: Json): string {
  return JSON.stringify(value, (name, each) => {
    if (name === "cache_control") return undefined;
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => a < b ? -1 : 1));
  });
}

/** Everything before a thinking block; the last turn is its own, up to the block. */
interface Prefix {
  readonly body: Json;
  readonly turns: readonly { readonly role: string; readonly blocks: readonly Json[] }[];
}

/** Models whose thinking is bound to what came before it (protocol §11). */
const BOUND_MODELS = ["claude-opus-5-5", "claude-fable-5-1"];
/** Every server of this kind reads the signatures of every other, as the API reads those of its other machines. */
const KEY = "messages-server";
const CHECK_CHARS = 16;

/** Ids and signatures of one server: counted, so that a script gives the same bytes each time. */
class MessagesIssuer {
  #count = 0;

  newId(prefix: string): string {
    return `${prefix}_01${(++this.#count).toString(36).padStart(22, "0")}`;
  }

  /** The signature of thinking with exactly this text, none if it is redacted, bound to the prefix. */
  sign(text: string | undefined, prefix: Prefix): string {
    const sum = sha256(text ?? "");
    return sealed(JSON.stringify({ nonce: ++this.#count, sum, ...boundTo(prefix) }));
  }

  /** Judges every thinking block in order, each without the blocks that are dropped before it. */
  judged(body: Json): JudgedBlock[] {
    const judged: JudgedBlock[] = [];
    const turns: { role: string; blocks: Json[] }[] = [];
    for (const { role, blocks } of turnsOf(body)) {
      const before: Json[] = [];
      turns.push({ role, blocks: before });
      for (const { path, block } of blocks) {
        if (isThinking(block)) {
          const verdict = verdictOn(block, { body, turns });
          judged.push({ path, block, verdict });
          if (verdict === "bound" && asksToDrop(body)) continue;
        }
        before.push(block);
      }
    }
    return judged;
  }
}

/**
 * Removing thinking from the start of a conversation, or all of it, is allowed, so the thinking before a block is the end
 * of the thinking that was there when it was issued (protocol §11).
 */
function verdictOn(block: Json, prefix: Prefix): Verdict {
  const content = opened(String(block.signature ?? block.data));
  if (content?.sum !== sha256(block.thinking ?? "")) return "forged";
  const now = boundTo(prefix);
  if (!BOUND_MODELS.includes(now.model) || content.model !== now.model) return "ok";
  const { said, before } = content;
  const fits = now.before.length === 0 || before.slice(-now.before.length).join() === now.before.join();
  return fits && said === now.said ? "ok" : "bound";
}

/** The model, a sum of all that was said without thinking, and the marks of the thinking. */
function boundTo({ body: { model, system = null, tools = null }, turns }: Prefix) {
  const said = turns.map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter((each) => !isThinking(each)),
  }));
  const before = turns.flatMap(({ blocks }) => blocks.filter(isThinking));
  return {
    model,
    said: sha256(canonical([system, tools, said])),
    before: before.map((block) => sha256(canonical(block)).slice(0, CHECK_CHARS)),
  };
}

function sealed(content: string): string {
  return Buffer.from(sha256(KEY + content).slice(0, CHECK_CHARS) + content).toString("base64");
}

function opened(secret: string): Json {
  const content = Buffer.from(secret, "base64").toString().slice(CHECK_CHARS);
  return secret === sealed(content) ? parsed(content) : null;
}

const USAGE = {
  input_tokens: 100,
  cache_creation_input_tokens: 12,
  cache_read_input_tokens: 8,
  cache_creation: { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 0 },
  output_tokens: 40,
  output_tokens_details: { thinking_tokens: 16 },
  service_tier: "standard",
};

/** Server and request of an answer. */
interface AnswerContext {
  readonly issuer: MessagesIssuer;
  readonly body: Json;
  readonly headers: ArrivedRequest["headers"];
}

/** The events of one answer (protocol §10), and the final message. */
function messageEvents(
  scripted: readonly ScriptedBlock[],
  options: MessagesStreamOptions,
  context: AnswerContext,
): { readonly events: readonly Json[]; readonly whole: Json } {
  const { issuer, body, headers } = context;
  const usage = options.usage ?? USAGE;
  const dropped = issuer.judged(body).filter(({ verdict }) => verdict === "bound").map(({ path }) => path);
  const transformations = dropped.map((path) => (
    { type: "thinking_dropped", path, reason: "prefix_binding_mismatch" }
  ));
  const start = () => ({
    type: "message_start",
    message: {
      id: issuer.newId("msg"),
      type: "message",
      role: "assistant",
      model: options.model ?? body.model ?? "unknown",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
      ...(knowsBinding(headers) ? { input_transformations: transformations } : {}),
    },
  });
  const given = options.abandoned === undefined
    ? []
    : [start(), ...blockEvents(options.abandoned, dropped, context).events];
  const started = start();
  const { events, content } = blockEvents(scripted, dropped, context);
  const isCalling = scripted.some(({ kind }) => kind === "tool_use");
  const end: MessagesEnd = options.end ?? { kind: "stop", reason: isCalling ? "tool_use" : "end_turn" };
  const delta = end.kind !== "stop" ? {} : {
    stop_reason: end.reason,
    stop_sequence: null,
    ...(end.details === undefined ? {} : { stop_details: end.details }),
  };
  const closing = end.kind === "stop"
    ? [{ type: "message_delta", delta, usage }, { type: "message_stop" }]
    : end.kind === "error"
    ? [{ type: "error", error: { ...end.error } }]
    : [];
  const [first, ...others] = [...given, started, ...events, ...closing];
  return {
    events: [first, { type: "ping" }, ...others],
    whole: { ...started.message, content, usage, ...delta },
  };
}

/** The events of blocks, each bound to those before it, and the blocks that were finished. */
function blockEvents(scripted: readonly ScriptedBlock[], dropped: readonly string[], context: AnswerContext) {
  const { body } = context;
  const turns = turnsOf(body).map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter(({ path }) => !dropped.includes(path)).map(({ block }) => block),
  }));
  // A turn that the server paused continues in the same message.
  if (turns.at(-1)?.role !== "assistant") turns.push({ role: "assistant", blocks: [] });
  const content: Json[] = [];
  const events = scripted.flatMap((one) =>
    newBlocks(one, { body, turns }, context).flatMap(({ block, start, deltas }) => {
      const index = content.length;
      const begun = [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      ];
      // An unfinished block stops in the middle of its deltas, and is not part of the message.
      if (one.unfinished === true) return begun.slice(0, 1 + Math.floor(deltas.length / 2));
      content.push(block);
      turns.at(-1)?.blocks.push(block);
      return [...begun, { type: "content_block_stop", index }];
    })
  );
  return { events, content };
}

/** A block, and its forms in a stream. */
interface StreamedBlock {
  readonly block: Json;
  readonly start: Json;
  readonly deltas: readonly Json[];
}

function newBlocks(one: ScriptedBlock, prefix: Prefix, { issuer, body }: AnswerContext): StreamedBlock[] {
  switch (one.kind) {
    case "thinking": {
      const text = body.thinking?.display === "omitted" ? "" : one.text;
      const signature = issuer.sign(text, prefix);
      const block = { type: "thinking", thinking: text, signature };
      const deltas = [
        ...pieces(text).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature },
      ];
      return [{ block, start: { type: "thinking", thinking: "", signature: "" }, deltas }];
    }
    case "redacted":
      return [whole({ type: "redacted_thinking", data: issuer.sign(undefined, prefix) })];
    case "text": {
      const deltas = pieces(one.text).map((text) => ({ type: "text_delta", text }));
      return [{ block: { type: "text", text: one.text }, start: { type: "text", text: "" }, deltas }];
    }
    case "tool_use": {
      const { id = issuer.newId("toolu"), name, input } = one;
      // What is no JSON was cut off, and is nothing.
      return [called({ type: "tool_use", id, name, input: parsed(input) ?? {} }, input)];
    }
    case "server_tool": {
      const { name, input, result } = one;
      const id = issuer.newId("srvtoolu");
      const results = { type: `${name}_tool_result`, tool_use_id: id, content: result };
      const use = called({ type: "server_tool_use", id, name, input }, JSON.stringify(input));
      return [use, whole(results)];
    }
    case "block":
      return [whole(one.block)];
  }
}

const whole = (block: Json): StreamedBlock => ({ block, start: block, deltas: [] });

function called(block: Json, input: string): StreamedBlock {
  const parts = input === "{}" ? [""] : ["", ...pieces(input)];
  const deltas = parts.map((partial_json) => ({ type: "input_json_delta", partial_json }));
  return { block, start: { ...block, input: {} }, deltas };
}
