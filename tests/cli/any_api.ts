/**
 * A server that is every provider at once: it answers any path, in the API that the path ends with, and keeps what it
 * was sent.
 */
import { framed } from "../doors/recordings/answers.ts";
import { answerText, responseStream } from "../doors/wire/streams_answers.ts";
import { KEY } from "./harness.ts";

/** A key for each provider, each to be found wherever it leaked. */
export const KEYS = {
  OPENAI_API_KEY: `${KEY}-openai`,
  AZURE_OPENAI_API_KEY: `${KEY}-azure`,
  ANTHROPIC_API_KEY: `${KEY}-anthropic`,
};
/** A dated version of Azure's API. */
export const AZURE_VERSION = "2025-04-01-preview";

/** One request as it arrived. */
export interface Arrived {
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
}

/** The server and what came. */
export interface AnyApi extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly arrived: readonly Arrived[];
}

const MESSAGES_EVENTS = [
  {
    type: "message_start",
    message: {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null },
      usage: { input_tokens: 3, output_tokens: 0 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: "message_stop" },
];

/** The stream of one short answer, as the API of `path` sends it. */
export function shortAnswer(path: string): string {
  return path.endsWith("/messages") ? framed(MESSAGES_EVENTS) : responseStream([answerText("Hello.")]);
}

/** Starts the server on a free port. */
export function startAnyApi(): AnyApi {
  const arrived: Arrived[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    arrived.push({ target: `${pathname}${search}`, headers: request.headers, body: await request.text() });
    return new Response(shortAnswer(pathname), {
      headers: { "content-type": "text/event-stream", "anthropic-workspace-id": "wrkspc_1" },
    });
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    arrived,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
