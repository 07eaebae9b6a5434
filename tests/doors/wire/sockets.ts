/** Runs over a WebSocket: what a server sends after each message, and the messages that follow. */
import type { Json } from "../../support/files.ts";
import type { Duplex } from "node:stream";
import { cutFrame, type Refusal } from "../../support/scripted_api/socket_server.ts";

/** A connection of the server. */
export interface Connection {
  send(text: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
}

/** Reaction to a message: `nth` counts them from 1. */
export type Reaction = (socket: Connection, nth: number, raw: Duplex) => void;

/** A run over a WebSocket. */
export interface SocketRow {
  /** Reactions to the messages, in order; later ones get {@linkcode ends}. */
  readonly reactions: readonly Reaction[];
  readonly flags?: readonly string[];
  readonly refusal?: Refusal;
  /** Exit code. @default {0} */
  readonly exit?: number;
  /** Each message: the response that it continues, and the number of its items; `http` of a request over HTTP. */
  readonly sent: string;
  /** The connection of each message. @default {the first one for all} */
  readonly connections?: string;
  /** A pattern of all that the run printed. */
  readonly says?: RegExp;
}

const message = (text: string): Json => ({
  ...{ id: `msg_${text}`, type: "message", status: "completed", role: "assistant" },
  content: [{ type: "output_text", text, annotations: [] }],
});
const call = (nth: number): Json => ({
  ...{
    id: `fc_${nth}`,
    type: "function_call",
    status: "completed",
    call_id: `call_${nth}`,
    name: "read_file",
  },
  arguments: '{"path":"a.txt","offset":null,"limit":null}',
});
const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const eventsOf = (nth: number, item: Json, status = "completed"): Json[] => [
  { type: "response.created", response: { id: `resp_${nth}`, status: "in_progress", output: [] } },
  { type: "response.output_item.done", output_index: 0, item },
  { type: `response.${status}`, response: { id: `resp_${nth}`, status, output: [item], usage: USAGE } },
];
const sendAll = (socket: Connection, events: readonly Json[]) => {
  for (const event of events) socket.send(JSON.stringify(event));
};

/** Answers with a call of a tool. */
const calls: Reaction = (socket, nth) => sendAll(socket, eventsOf(nth, call(nth)));
/** Answers with a text. */
export const ends: Reaction = (socket, nth) => sendAll(socket, eventsOf(nth, message(`r${nth}`)));
/** The answer over HTTP. */
export const HTTP_ANSWER = eventsOf(9, message("http")).map((event) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
).join("");
const refuses = (error: Json, status?: number): Reaction => (socket) =>
  sendAll(socket, [{ type: "error", ...(status === undefined ? {} : { status }), error }]);
const closes = (code: number): Reaction => (socket) => socket.close(code, "why");
/** The first events of an answer, then something else. */
const begins = (count: number, then: Reaction): Reaction => (socket, nth, raw) => {
  sendAll(socket, eventsOf(nth, message("Half")).slice(0, count));
  then(socket, nth, raw);
};
const both = (...reactions: readonly Reaction[]): Reaction => (socket, nth, raw) => {
  for (const reaction of reactions) reaction(socket, nth, raw);
};
const LOST = { code: "previous_response_not_found", message: "Not found." };
const NO_PAIR = refuses({ code: null, message: "No tool output found for function call call_1." }, 400);
const fails = (error: Json): Reaction => (socket, nth) =>
  sendAll(socket, [{ type: "response.failed", response: { id: `resp_${nth}`, status: "failed", error } }]);
const LIMIT = refuses({ code: "websocket_connection_limit_reached", message: "limit reached" }, 400);
const RETRY = /"kind":"retry".*"attempt":1/;
const cuts: Reaction = (_, __, raw) => cutFrame(raw, "{}", 3);

const table = <T>(values: readonly T[], row: (value: T) => readonly [string, SocketRow]) =>
  Object.fromEntries(values.map(row));

/** By a sentence. */
export const SOCKETS: Readonly<Record<string, SocketRow>> = {
  "a request that extends the last one sends only its new items": {
    reactions: [calls, calls],
    sent: "-:1 resp_1:1 resp_2:1",
  },
  "a request with another field sends its whole input": {
    reactions: [calls],
    flags: ["--max-tokens", "90000"],
    sent: "-:1 -:3",
  },
  "a request whose history was changed sends its whole input": {
    reactions: [calls, NO_PAIR, NO_PAIR, NO_PAIR],
    sent: "-:1 resp_1:1 -:3 -:3 -:2",
    says: /call call_1 of seq 2 is sent as text|"call_as_text"/,
  },
  ...table(
    [
      ["a pairing", NO_PAIR],
      ["an unknown part", refuses({ code: "odd", message: "Odd." }, 422)],
      ["a part, in the stream", refuses({ code: null, message: "No tool call found for call_1" })],
      ["a part, in a failed response", fails({ code: "invalid_prompt", message: "No." })],
      ["a part, once it has begun", begins(1, fails({ code: "invalid_prompt", message: "No." }))],
      ["the response, in a failed response", fails(LOST)],
      ["the response, once it has begun", begins(1, fails(LOST))],
      ["the response, in a flat error", (socket) => sendAll(socket, [{ type: "error", ...LOST }])],
      ["the response, with a failed response after it", both(refuses(LOST), fails(LOST))],
    ] satisfies (readonly [string, Reaction])[],
    ([what, refusal]) => [`a continuation is sent whole if the server refuses ${what}`, {
      reactions: [calls, refusal],
      sent: "-:1 resp_1:1 -:3",
      connections: /failed response after|in the stream|flat/.test(what) ? "1 1 2" : "1 1 1",
    }],
  ),
  "a refusal with a status belongs to the failed response after it with the same error": {
    reactions: [calls, both(refuses(LOST, 400), fails(LOST))],
    sent: "-:1 resp_1:1 -:3",
  },
  ...table(
    [
      ["the same error once more", both(refuses(LOST, 400), fails(LOST)), fails(LOST)],
      ["another error", refuses(LOST, 400), fails({ code: "invalid_prompt", message: "No." })],
      ["the same code with another text", refuses(LOST, 400), fails({ ...LOST, message: "No." })],
    ] satisfies (readonly [string, Reaction, Reaction])[],
    (
      [what, refusal, answer],
    ) => [`after a refusal with a status, a failed response with ${what} is an answer`, {
      reactions: [calls, refusal, answer],
      sent: "-:1 resp_1:1 -:3",
      exit: 13,
    }],
  ),
  "a whole request that is refused is not sent again": {
    reactions: [refuses({ code: null, message: "Odd." }, 400)],
    sent: "-:1",
    exit: 13,
  },
  "a continuation that breaks off once it has begun is a cut": {
    reactions: [calls, begins(1, closes(1000))],
    sent: "-:1 resp_1:1",
    exit: 10,
    says: /stream_cut/,
  },
  ...table(
    [
      { code: "previous_response_not_found", message: "Not found." },
      { code: null, message: "Invalid previous_response_id." },
      { code: null, message: "No.", param: "previous_response_id" },
    ],
    (error) => [`a response that the server lost is no failure: the whole input is sent (${error.message})`, {
      reactions: [calls, refuses(error, 400)],
      sent: "-:1 resp_1:1 -:3",
    }],
  ),
  "a miss that names previous_response_id is no lost response": {
    reactions: [calls, refuses({ code: "fixture_miss", message: "It differs at previous_response_id" }, 400)],
    sent: "-:1 resp_1:1",
    exit: 7,
  },
  "at the limit of a connection the whole input goes over another one": {
    reactions: [calls, both(LIMIT, closes(1000))],
    sent: "-:1 resp_1:1 -:3",
    connections: "1 1 2",
  },
  "a connection that closed between requests is replaced": {
    reactions: [both(calls, closes(1001))],
    sent: "-:1 -:3",
    connections: "1 2",
  },
  "a reused connection that closes before it answers is replaced in another attempt": {
    reactions: [calls, (_, __, raw) => void raw.destroy()],
    sent: "-:1 resp_1:1 -:3",
    connections: "1 1 2",
    says: RETRY,
  },
  ...table(
    [1001, 1005, 1011, 1012, 1013],
    (code) => [`a close with ${code} before the answer is tried again`, {
      reactions: [code === 1005 ? (socket) => socket.close() : closes(code)],
      sent: "-:1 -:1",
      connections: "1 2",
    }],
  ),
  ...table(
    [1000, 1002, 1008, 1009, 4000],
    (code) => [`after a close with ${code} before the answer the run uses HTTP`, {
      reactions: [closes(code)],
      sent: "-:1 http",
      says: new RegExp(`code ${code}[^]*${RETRY.source}`),
    }],
  ),
  ...table(
    [1000, 1001, 1008, null],
    (code) => [`a loss (${code ?? "without a close"}) inside an answer is a cut`, {
      reactions: [begins(2, code === null ? cuts : closes(code))],
      sent: "-:1",
      exit: 10,
      says: /stream_cut/,
    }],
  ),
  "the limit of a connection inside an answer is a cut": {
    reactions: [begins(2, LIMIT)],
    sent: "-:1",
    exit: 10,
    says: /stream_cut/,
  },
  "an error with a status is an answer with that status and the headers of the error": {
    reactions: [
      calls,
      refuses({ code: "rate_limit_exceeded", message: "Slow down.", headers: { "Retry-After": "0" } }, 429),
    ],
    // An error evicts the response that the request continued.
    sent: "-:1 resp_1:1 -:3",
  },
  ...table([429, 503, undefined], (status) => [`a wait that an error names holds (${status})`, {
    reactions: [
      refuses({ code: "rate_limit_exceeded", message: "Slow.", headers: { "retry-after": "120" } }, status),
    ],
    flags: ["--timeout", "60"],
    sent: "-:1",
    exit: status === 503 ? 10 : 9,
    says: status === undefined ? /Slow/ : /the API asks to wait 120 s/,
  }]),
  "a flat error with a status is such an answer too": {
    reactions: [(socket) => sendAll(socket, [{ type: "error", status: 404, code: "gone", message: "No." }])],
    sent: "-:1",
    exit: 13,
    says: /HTTP 404, \\"gone\\"\): No"/,
  },
  "an error inside an answer ends it": {
    reactions: [begins(1, refuses({ code: "server_error", message: "Oops." }, 500)), ends],
    sent: "-:1 -:1",
    connections: "1 2",
  },
  "a binary message breaks the protocol": {
    reactions: [(socket) => socket.send(new Uint8Array([1]))],
    sent: "-:1",
    exit: 10,
    says: /bad_stream/,
  },
  "bytes that are no frame break the protocol": {
    reactions: [(_, __, raw) => void raw.write(new Uint8Array([0xff, 0xff, 0xff]))],
    sent: "-:1",
    exit: 10,
    says: /bad_stream/,
  },
  ...table(
    [307, 400, 401, 404, 426, 429, 500],
    (status) => [`a server that refuses a WebSocket with ${status} gets HTTP`, {
      reactions: [],
      refusal: { status, headers: { location: "ws://127.0.0.1:9/" } },
      sent: "http",
      says: new RegExp(`refused the WebSocket \\(HTTP ${status}\\)`),
    }],
  ),
};
