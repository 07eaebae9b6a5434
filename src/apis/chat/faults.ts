/** Faulty answers of Chat Completions: ends of streams and error bodies (protocol §15.3–15.6). */
import { isJsonObject, type JsonObject, objectsIn } from "../../domain/json.ts";
import { contentErrors, errorOf } from "../responses/faults.ts";
import {
  type EndingContext,
  type FaultWriter,
  meaningsIn,
  type StreamEnding,
  type StreamEvent,
} from "../stream.ts";
import { finishReasonOf, messagesIn, piecesIn } from "./message.ts";
import { chatStream } from "./stream.ts";

export const chatFaults: FaultWriter = {
  ending,
  // Every event of a stream is a chunk, and signs of life are comments.
  unknownEvent: null,
  keepalive: () => null,
  keepsDone: true,
  textsIn: (document) => {
    const pieces = messagesIn(document).flatMap(piecesIn);
    const of = (wanted: string) => pieces.filter(({ channel }) => channel === wanted).map(({ text }) => text);
    return { text: of("text"), reasoning: of("reasoning") };
  },
  endedDocument: ({ kind, code }, document) =>
    kind === "incomplete"
      ? {
        ...document,
        choices: objectsIn(document.choices).map((choice) => ({
          ...choice,
          finish_reason: finishReason(code),
        })),
      }
      : null,
  documentOf(events) {
    const reasons = events.flatMap(meaningsIn).flatMap((event) =>
      event.kind === "stop" && event.reason !== undefined ? [event.reason] : []
    );
    const messages = chatStream.issuedItems(events).items.flatMap((copies) => copies);
    if (messages.length === 0 || reasons.length < messages.length) return null;
    const usage = events.findLast(({ data }) => isJsonObject(data?.usage))?.data?.usage;
    return {
      ...envelopeOf(events, events),
      object: "chat.completion",
      choices: messages.map((message, index) => ({
        index,
        message: { refusal: null, ...message },
        logprobs: null,
        finish_reason: reasons[index] ?? null,
      })),
      ...(usage === undefined ? {} : { usage }),
    };
  },
  own: [],
  errorOf: (status, about) => errorOf(status, about, CONTENT_ERRORS),
};

const CONTENT_ERRORS = contentErrors("messages");

/** Finish reasons, by the reason of an incomplete response. */
const FINISH_REASONS: Readonly<Record<string, string>> = { max_output_tokens: "length" };

/** An error alone, as Groq sends it, or in a chunk, as OpenRouter does; no chunk says that the response failed. */
function ending(end: StreamEnding, { kept, all }: EndingContext): readonly JsonObject[] | null {
  const code = end.code ?? "server_error";
  const error = { message: "The server had an error.", type: code, param: null, code };
  switch (end.kind) {
    case "failed":
      return null;
    case "error": {
      if (end.shape === "flat") return [{ error }];
      const delta = { role: "assistant", content: "" };
      return [{ ...envelopeOf(kept, all), error, choices: [{ index: 0, delta, finish_reason: null }] }];
    }
    case "incomplete": {
      const choices = openChoices(kept)
        .map((index) => ({ index, delta: {}, finish_reason: finishReason(end.code) }));
      const usage = usageChunk(all);
      return [{ ...envelopeOf(kept, all), choices }, ...(usage === undefined ? [] : [usage])];
    }
  }
}

function finishReason(code: string | null): string {
  const reason = code ?? "max_output_tokens";
  return FINISH_REASONS[reason] ?? reason;
}

/** Members that every chunk of the response repeats. */
function envelopeOf(kept: readonly StreamEvent[], all: readonly StreamEvent[]): JsonObject {
  const newest = [kept, all].map((events) => events.findLast(({ response }) => response !== undefined))
    .find((event) => event !== undefined)?.response;
  const { choices: _choices, usage: _usage, error: _error, obfuscation: _padding, ...envelope } = newest ??
    { id: "chatcmpl-fault", object: "chat.completion.chunk" };
  return envelope;
}

function openChoices(events: readonly StreamEvent[]): readonly number[] {
  const open = new Map<number, boolean>([[0, true]]);
  for (const choice of events.flatMap(({ data }) => objectsIn(data?.choices))) {
    const index = typeof choice.index === "number" ? choice.index : 0;
    open.set(index, open.get(index) !== false && finishReasonOf(choice) === undefined);
  }
  return [...open].filter(([, isOpen]) => isOpen).map(([index]) => index);
}

/** The recorded chunk that only has the usage. */
function usageChunk(all: readonly StreamEvent[]): JsonObject | undefined {
  return all.findLast(({ kind, name }) => kind === "stop" && name === "usage")?.data;
}
