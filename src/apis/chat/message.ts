/** Messages of Chat Completions: whole ones of documents, and those that chunks add up to (protocol §15.3, §15.5). */
import {
  indexMember,
  isJsonObject,
  type JsonObject,
  objectMember,
  objectsIn,
  stringMember,
} from "../../domain/json.ts";

export function messagesIn(document: JsonObject): readonly JsonObject[] {
  return objectsIn(document.choices).map(({ message }) => message).filter(isJsonObject);
}

/** The reason why a choice stops; `undefined` while it continues. Some servers send an empty reason meanwhile. */
export function finishReasonOf(choice: JsonObject): string | undefined {
  const reason = stringMember(choice, "finish_reason");
  return reason === "" ? undefined : reason;
}

/** Visible text in a delta, or in a message. */
interface TextPiece {
  /** The member that holds it. */
  readonly member: string;
  readonly channel: "text" | "reasoning";
  readonly text: string;
}

/** Members with reasoning, by server: DeepSeek's, and that of Groq, Ollama and OpenRouter (§15.5). */
const REASONING = ["reasoning_content", "reasoning"] as const;

/** The texts of a delta, reasoning first; none for empty texts. */
export function piecesIn(delta: JsonObject): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  const add = (member: string, channel: TextPiece["channel"], text: string | undefined) => {
    if (text !== undefined && text !== "") pieces.push({ member, channel, text });
  };
  // A server that sends both members repeats the text in them.
  const reasoning = REASONING.find((name) => (stringMember(delta, name) ?? "") !== "");
  if (reasoning !== undefined) add(reasoning, "reasoning", stringMember(delta, reasoning));
  add("content", "text", stringMember(delta, "content"));
  // Mistral's content is a list while the model thinks.
  for (const part of objectsIn(delta.content)) {
    if (part.type === "thinking") {
      for (const thought of objectsIn(part.thinking)) {
        add("thinking", "reasoning", stringMember(thought, "text"));
      }
    } else add("content", "text", stringMember(part, "text"));
  }
  add("refusal", "text", stringMember(delta, "refusal"));
  return pieces;
}

/** A call, or a piece of one. */
interface PlacedCall {
  /** Empty in all pieces of a call but the first. */
  readonly id: string;
  readonly name: string;
  /** Its arguments, or the input of a custom tool. */
  readonly text: string;
  /** Number of the call in its message, from 0; its place in the delta if the server sends none (Mistral). */
  readonly index: number;
  readonly member: "tool_calls" | "function_call";
}

/** The calls of a delta, and the call in the deprecated `function_call`. */
export function callsIn(delta: JsonObject): readonly PlacedCall[] {
  const calls = objectsIn(delta.tool_calls).map((call, place): PlacedCall => ({
    ...pieceOf(objectMember(call, "function") ?? objectMember(call, "custom") ?? {}, call),
    index: indexMember(call, "index") ?? place,
    member: "tool_calls",
  }));
  const old = objectMember(delta, "function_call");
  return old === undefined ? calls : [...calls, { ...pieceOf(old, {}), index: 0, member: "function_call" }];
}

function pieceOf(said: JsonObject, call: JsonObject) {
  return {
    id: stringMember(call, "id") ?? "",
    name: stringMember(said, "name") ?? "",
    text: stringMember(said, "arguments") ?? stringMember(said, "input") ?? "",
  };
}

class OpenMessage {
  role = "assistant";
  content: string | null = null;
  /** `refusal`, `reasoning` and the like, by their names. */
  readonly texts = new Map<string, string>();
  readonly calls: JsonObject[] = [];
  /** Place in `calls` by the server's index. */
  readonly places = new Map<number, number>();
}

/** Adds up the chunks of a stream to the messages of its choices. */
export class AssembledMessages {
  readonly #choices = new Map<number, OpenMessage>();

  /** Adds one chunk; anything else adds nothing. */
  add(chunk: JsonObject): void {
    for (const choice of objectsIn(chunk.choices)) {
      const { delta } = choice;
      if (!isJsonObject(delta)) continue;
      const message = this.#messageAt(indexMember(choice, "index") ?? 0);
      message.role = stringMember(delta, "role") ?? message.role;
      for (const { member, text } of piecesIn(delta)) {
        if (member === "content") message.content = (message.content ?? "") + text;
        else message.texts.set(member, (message.texts.get(member) ?? "") + text);
      }
      if (typeof delta.content === "string") message.content ??= "";
      for (const call of objectsIn(delta.tool_calls)) addCall(message, call);
    }
  }

  /** The messages so far, in the order of their choices. */
  list(): readonly JsonObject[] {
    return [...this.#choices].sort(([a], [b]) => a - b).map(([, { role, content, texts, calls }]) => ({
      role,
      // The first chunk of a message that only calls has an empty text, or none.
      content: content === "" && calls.length > 0 ? null : content,
      ...Object.fromEntries(texts),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }));
  }

  #messageAt(index: number): OpenMessage {
    const message = this.#choices.get(index) ?? new OpenMessage();
    this.#choices.set(index, message);
    return message;
  }
}

/** Members of a call that the server sends in pieces. */
const IN_PIECES: ReadonlySet<string> = new Set(["arguments", "input"]);

/** Adds a piece of a call. Without an index, an id begins another call (Mistral, §15.5). */
function addCall({ calls, places }: OpenMessage, piece: JsonObject): void {
  const index = indexMember(piece, "index");
  const known = index === undefined
    ? stringMember(piece, "id") === undefined ? calls.length - 1 : -1
    : places.get(index) ?? -1;
  const { index: _index, ...rest } = piece;
  const before = calls[known];
  if (before === undefined) {
    if (index !== undefined) places.set(index, calls.length);
    calls.push(rest);
  } else calls[known] = merged(before, rest);
}

/** Adds later members to earlier ones: pieces of text are joined; an empty or repeated member changes nothing. */
function merged(before: JsonObject, piece: JsonObject): JsonObject {
  const result: Record<string, JsonObject[string]> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    const was = result[name];
    if (isJsonObject(was) && isJsonObject(value)) result[name] = merged(was, value);
    else if (typeof was === "string" && typeof value === "string" && IN_PIECES.has(name)) {
      result[name] = was + value;
    } else if (value !== null && value !== "" && value !== undefined) result[name] = value;
  }
  return result;
}
