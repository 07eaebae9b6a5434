/** The chunks of Chat Completions and their meaning (protocol §15.3–15.5). */
import {
  indexMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  objectsIn,
  stringMember,
} from "../../domain/json.ts";
import {
  type DeltaEvent,
  type EndEvent,
  type EndWatch,
  type ErrorEvent,
  type IssuedItems,
  meaningsIn,
  type MissingPart,
  type StopEvent,
  type StreamEvent,
  type StreamReader,
} from "../stream.ts";
import { AssembledMessages, callsIn, finishReasonOf, messagesIn, piecesIn } from "./message.ts";

export const chatStream: StreamReader = {
  readEvent: readChatEvent,
  readDocument,
  issuedItems,
  missingIn,
  isTerminal,
  watchEnd: (request) => new ChatEnd(request),
  // Also matches each choice but the first, which has to be seen to be missed.
  mayEnd: /error|"finish_reason"\s*:\s*"|"usage"\s*:\s*\{|"index"\s*:\s*[1-9]|\[DONE\]/,
  endsWithDone: true,
};

/** True for an error, and for a chunk with the reason why a choice stops. */
function isTerminal(event: StreamEvent): boolean {
  return event.kind === "error" ||
    meaningsIn(event).some((one) => one.kind === "stop" && one.reason !== undefined);
}

/**
 * Reads one chunk; `name` is its `event:` line. A chunk with several pieces carries all but the last: texts and calls
 * come before the reason to stop, and that before the usage.
 */
function readChatEvent(data: JsonObject, name?: string): StreamEvent {
  const type = typeof data.type === "string" ? data.type : name;
  const base = { data, type, response: describes(data) ? data : undefined };
  if (data.error || name === "error") return errorOf(data, base);
  const choices = objectsIn(data.choices);
  const usage = objectMember(data, "usage");
  const pieces: (DeltaEvent | StopEvent)[] = choices.flatMap((choice) => deltasOf(choice, base));
  const reasons = choices.flatMap((choice) => {
    const reason = finishReasonOf(choice);
    return reason === undefined ? [] : [{ reason, place: placeOf(choice) }];
  });
  pieces.push(...reasons.map(({ reason, place }, index): StopEvent => ({
    ...base,
    kind: "stop",
    name: "finish_reason",
    place,
    reason,
    usage: index === reasons.length - 1 ? usage : undefined,
  })));
  if (usage !== undefined && reasons.length === 0) {
    pieces.push({ ...base, kind: "stop", name: "usage", reason: undefined, usage });
  }
  const [first] = choices;
  const last = pieces.pop();
  if (last !== undefined) return pieces.length === 0 ? last : { ...last, carried: pieces };
  // The chunk that begins a choice, or one that only shows that the server is alive.
  return first === undefined
    ? { ...base, kind: "other", name: "chunk" }
    : { ...base, kind: "delta", name: "delta", place: placeOf(first), channel: "hidden", text: null };
}

type Base = Pick<DeltaEvent, "data" | "type" | "response">;

function deltasOf(choice: JsonObject, base: Base): DeltaEvent[] {
  const delta = objectMember(choice, "delta") ?? {};
  const place = placeOf(choice);
  const texts = piecesIn(delta).map(({ member, channel, text }): DeltaEvent => ({
    ...base,
    kind: "delta",
    name: `delta.${member}`,
    place,
    channel,
    text,
  }));
  const calls = callsIn(delta).map(({ id, name, text, index, member }): DeltaEvent => {
    const form = [name, id].filter((part) => part !== "").join(" ");
    return {
      ...base,
      kind: "delta",
      name: `delta.${member}`,
      place,
      part: { name: "call", index },
      ...(form === "" ? {} : { form }),
      channel: "hidden",
      text: text === "" ? null : text,
    };
  });
  return [...texts, ...calls];
}

/** False for Azure's first chunk, which names neither response nor model (§15.5). */
function describes(data: JsonObject): boolean {
  return (stringMember(data, "id") ?? "") !== "" || (stringMember(data, "model") ?? "") !== "";
}

function placeOf(choice: JsonObject): number {
  return indexMember(choice, "index") ?? 0;
}

function errorOf(data: JsonObject, base: Base): ErrorEvent {
  const { error } = data;
  return {
    ...base,
    kind: "error",
    name: "error",
    error: isJsonObject(error) ? error : typeof error === "string" ? { message: error } : data,
  };
}

/** Reads an answer that is not streamed; Mistral's errors are flat (§15.6). */
function readDocument(document: JsonObject): EndEvent | ErrorEvent | null {
  const base = { data: document, type: undefined, response: document };
  if (document.error || document.object === "error") return errorOf(document, base);
  if (!Array.isArray(document.choices)) return null;
  return { ...base, kind: "end", items: messagesIn(document), failed: false };
}

/** The message of each choice. It has no id; a client sends it back with the ids of its calls. */
function issuedItems(events: Iterable<StreamEvent>): IssuedItems {
  const messages = new AssembledMessages();
  const listed: JsonObject[] = [];
  let failed = false;
  for (const event of events) {
    failed ||= event.kind === "error";
    if (event.kind === "end") listed.push(...event.items.filter(isJsonObject));
    else messages.add(event.data ?? {});
  }
  return { failed, items: [...listed, ...messages.list()].map((message) => [message]), thinking: [] };
}

function missingIn(events: readonly StreamEvent[], request: JsonValue | undefined): readonly MissingPart[] {
  const document = events.find((event) => event.kind === "end");
  const isAsked = document !== undefined || asksForUsage(request);
  const failed = events.some(({ kind }) => kind === "error");
  return !isAsked || failed || events.some(({ data }) => isJsonObject(data?.usage)) ? [] : ["usage"];
}

/**
 * Watches for a `finish_reason` of every choice and the usage if it was requested, or an error (§15.4). `[DONE]` says
 * that no usage will come. Choices that were requested and choices that the stream begins count.
 */
class ChatEnd implements EndWatch {
  readonly #open: Set<number>;
  readonly #finished = new Set<number>();
  #awaitsUsage: boolean;
  #isDone = false;
  #failed = false;

  constructor(request: JsonValue | undefined) {
    const asked = isJsonObject(request) ? indexMember(request, "n") ?? 1 : 1;
    this.#open = new Set(
      Array.from({ length: Math.min(Math.max(asked, 1), MAX_CHOICES) }, (_, index) => index),
    );
    this.#awaitsUsage = asksForUsage(request);
  }

  get ended(): boolean {
    return this.#failed || this.#open.size === 0 && (this.#isDone || !this.#awaitsUsage);
  }

  get lacksUsage(): boolean {
    return !this.#failed && this.ended && this.#awaitsUsage;
  }

  take({ kind, data }: StreamEvent): void {
    if (kind === "done") this.#isDone = true;
    if (data === undefined) return;
    if (kind === "error") this.#failed = true;
    for (const choice of objectsIn(data.choices)) {
      const place = placeOf(choice);
      // OpenRouter repeats a choice after its finish, without a reason (§15.5).
      if (finishReasonOf(choice) !== undefined) this.#finished.add(place);
      if (this.#finished.has(place)) this.#open.delete(place);
      else this.#open.add(place);
    }
    if (isJsonObject(data.usage)) this.#awaitsUsage = false;
  }
}

/** The API's own limit of choices. */
const MAX_CHOICES = 128;

function asksForUsage(request: JsonValue | undefined): boolean {
  if (!isJsonObject(request) || request.stream !== true) return false;
  return objectMember(request, "stream_options")?.include_usage === true;
}
