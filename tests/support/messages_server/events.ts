import { BINDING_BETA, mergedTurns, type MessagesRequest } from "../../../src/apis/messages/rules/request.ts";
import { type BlockPrefix, judgedBlocks } from "../../../src/apis/messages/rules/signatures.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectMember } from "../../../src/domain/json.ts";
import type { MessagesIssuer } from "./issuer.ts";
import type { MessagesEnd, MessagesStreamOptions, ScriptedBlock } from "./script.ts";
import type { Delivery } from "../serving.ts";

const encoder = new TextEncoder();

/** The bytes of an event stream; each object padded before its last brace, as the API does (protocol §10). */
export function encodeMessagesEvents(
  events: readonly JsonObject[],
  delivery: Delivery = {},
): Uint8Array<ArrayBuffer> {
  const text = events.map((event, index) => {
    const json = JSON.stringify(event);
    const padding = " ".repeat(index * 7 % 11);
    return `event: ${event.type}\ndata: ${json.slice(0, -1)}${padding}}\n\n`;
  }).join("");
  return encoder.encode(text.replaceAll("\n", delivery.lineEnd ?? "\n"));
}

/** A streamed answer: its events in order, and the final message. */
export interface MessagesAnswer {
  readonly events: readonly JsonObject[];
  readonly message: JsonObject;
}

const USAGE: JsonObject = {
  input_tokens: 100,
  cache_creation_input_tokens: 12,
  cache_read_input_tokens: 8,
  cache_creation: { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 0 },
  output_tokens: 40,
  output_tokens_details: { thinking_tokens: 16 },
  service_tier: "standard",
};

/** Characters of a delta. */
const DELTA_CHARS = 12;

/** The events of one answer (protocol §10). */
export function messagesEvents(
  scripted: readonly ScriptedBlock[],
  options: MessagesStreamOptions,
  request: MessagesRequest,
  issuer: MessagesIssuer,
): MessagesAnswer {
  const asked = typeof request.body.model === "string" ? request.body.model : "unknown";
  const usage = options.usage ?? USAGE;
  const { prefix, transformations } = whatWasRead(request, issuer);
  const writer = new BlockWriter(issuer, asked, prefix, request.body);
  const begin = () => ({
    id: issuer.messageId(),
    type: "message",
    role: "assistant",
    model: options.model ?? asked,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
    ...(request.betas.includes(BINDING_BETA) ? { input_transformations: transformations } : {}),
  });
  const events: JsonObject[] = [];
  if (options.abandoned !== undefined) {
    events.push({ type: "message_start", message: begin() });
    events.push(...new BlockWriter(issuer, asked, prefix, request.body).eventsOf(options.abandoned));
  }
  const started = begin();
  const start = { type: "message_start", message: started };
  events.push(start, ...(options.duplicateStart === true ? [start] : []), ...writer.eventsOf(scripted));
  const content = writer.blocks;
  const ends = closing(options.end ?? usualEnd(scripted), usage);
  return {
    events: withPings([...events, ...ends], options.pings ?? "once"),
    message: { ...started, content, usage, ...objectMember(ends[0] ?? {}, "delta") },
  };
}

/** Returns the part of a request that the model sees, and the dropped blocks. */
function whatWasRead(request: MessagesRequest, issuer: MessagesIssuer) {
  const dropped = new Set(
    judgedBlocks(request, issuer.judge).filter(({ verdict }) => verdict === "bound")
      .map(({ placed }) => placed.path),
  );
  const turns = mergedTurns(request.messages).map(({ role, blocks }) => ({
    role,
    content: blocks.filter(({ path }) => !dropped.has(path)).map(({ block }) => block),
  }));
  const { body } = request;
  const prefix: BlockPrefix = {
    model: typeof body.model === "string" ? body.model : undefined,
    system: body.system ?? null,
    tools: body.tools ?? null,
    // A turn that the server paused continues in the same message.
    messages: turns.at(-1)?.role === "assistant" ? turns : [...turns, { role: "assistant", content: [] }],
  };
  const transformations = [...dropped].map((path) => ({
    type: "thinking_dropped",
    path,
    reason: "prefix_binding_mismatch",
  }));
  return { prefix, transformations };
}

/** Writes blocks one after the other, each bound to those before it. */
class BlockWriter {
  readonly #issuer: MessagesIssuer;
  readonly #model: string;
  readonly #prefix: BlockPrefix;
  readonly #omitted: boolean;
  readonly blocks: JsonObject[] = [];

  constructor(issuer: MessagesIssuer, model: string, prefix: BlockPrefix, body: JsonObject) {
    this.#issuer = issuer;
    this.#model = model;
    this.#prefix = prefix;
    this.#omitted = isJsonObject(body.thinking) && body.thinking.display === "omitted";
  }

  eventsOf(scripted: readonly ScriptedBlock[]): JsonObject[] {
    return scripted.flatMap((one) =>
      this.#blocksOf(one).flatMap((block) => {
        const index = this.blocks.length;
        this.blocks.push(block);
        const { start, deltas } = streamed(block, one);
        const events = [
          { type: "content_block_start", index, content_block: start },
          ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        ];
        if (one.unfinished !== true) return [...events, { type: "content_block_stop", index }];
        // An unfinished block stops in the middle of its deltas, and is not part of the message.
        this.blocks.pop();
        return events.slice(0, 1 + Math.floor(deltas.length / 2));
      })
    );
  }

  #blocksOf(scripted: ScriptedBlock): JsonObject[] {
    switch (scripted.kind) {
      case "thinking":
        return [this.#issuer.thinking(this.#omitted ? "" : scripted.text, this.#model, this.#here())];
      case "redacted":
        return [this.#issuer.thinking(null, this.#model, this.#here())];
      case "text":
        return [{ type: "text", text: scripted.text }];
      case "tool_use":
        return [{
          type: "tool_use",
          id: scripted.id ?? this.#issuer.toolUseId(),
          name: scripted.name,
          input: parsed(scripted.input),
        }];
      case "server_tool": {
        const { name, input, result } = scripted;
        const id = this.#issuer.serverToolUseId();
        return [
          { type: "server_tool_use", id, name, input },
          { type: `${name}_tool_result`, tool_use_id: id, content: result },
        ];
      }
      case "block":
        return [scripted.block];
    }
  }

  #here(): BlockPrefix {
    const { messages } = this.#prefix;
    const last = messages.at(-1) ?? { role: "assistant", content: [] };
    return {
      ...this.#prefix,
      messages: [...messages.slice(0, -1), { ...last, content: [...last.content, ...this.blocks] }],
    };
  }
}

function streamed(
  block: JsonObject,
  scripted: ScriptedBlock,
): { start: JsonObject; deltas: readonly JsonObject[] } {
  if (scripted.kind === "block") return { start: block, deltas: [] };
  switch (block.type) {
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...pieces(String(block.thinking)).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block.signature },
        ],
      };
    case "text":
      return {
        start: { type: "text", text: "" },
        deltas: pieces(String(block.text)).map((text) => ({ type: "text_delta", text })),
      };
    case "tool_use":
    case "server_tool_use": {
      const json = scripted.kind === "tool_use" ? scripted.input : JSON.stringify(block.input);
      const parts = json === "{}" ? [""] : ["", ...pieces(json)];
      return {
        start: { ...block, input: {} },
        deltas: parts.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      };
    }
    default:
      return { start: block, deltas: [] };
  }
}

function pieces(text: string): string[] {
  const characters = [...text];
  return Array.from(
    { length: Math.ceil(characters.length / DELTA_CHARS) },
    (_, index) => characters.slice(index * DELTA_CHARS, (index + 1) * DELTA_CHARS).join(""),
  );
}

/** The input as the message has it; what is no JSON was cut off, and is nothing. */
function parsed(input: string): JsonValue {
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}

function usualEnd(blocks: readonly ScriptedBlock[]): MessagesEnd {
  const reason = blocks.some(({ kind }) => kind === "tool_use") ? "tool_use" : "end_turn";
  return { kind: "stop", reason };
}

function closing(end: MessagesEnd, usage: JsonObject): JsonObject[] {
  switch (end.kind) {
    case "stop":
      return [
        {
          type: "message_delta",
          delta: {
            stop_reason: end.reason,
            stop_sequence: null,
            ...(end.details === undefined ? {} : { stop_details: end.details }),
          },
          usage,
        },
        { type: "message_stop" },
      ];
    case "error":
      return [{ type: "error", error: { ...end.error } }];
    case "cut":
    case "reset":
    case "stall":
      return [];
  }
}

function withPings(events: readonly JsonObject[], pings: "once" | "everywhere"): JsonObject[] {
  const ping = { type: "ping" };
  if (pings === "everywhere") return events.flatMap((event) => [ping, event]);
  return events.flatMap((event, index) => index === 0 ? [event, ping] : [event]);
}
