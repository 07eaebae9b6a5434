/** Exchanges over a WebSocket made by tests. */
import type { Json } from "./files.ts";
import type { GivenExchange } from "../doors/recordings/recording_files.ts";

/** One exchange over a WebSocket as a test gives it. */
export interface GivenSocketExchange {
  readonly message: Json;
  /** Messages of the server, one every 10 ms. */
  readonly events: readonly Json[];
  readonly request?: Json;
  readonly response?: Json;
}

/** Returns the files of an exchange over a WebSocket. */
export function socketExchange({ message, events, request, response }: GivenSocketExchange): GivenExchange {
  const texts = events.map((event) => typeof event === "string" ? event : JSON.stringify(event));
  let offset = 0;
  const messages = texts.map((text, index): [number, number] => {
    const mark: [number, number] = [offset, (index + 1) * 10];
    offset += new TextEncoder().encode(text).length + 1;
    return mark;
  });
  return {
    request: { method: "GET", transport: "ws", connection: 1, body: message, ...request },
    response: { status: 101, headers: {}, messages, ended: "complete", ...response },
    body: texts.map((text) => `${text}\n`).join(""),
  };
}

/** Returns the events of a response with these items of output. */
export function responseEvents(id: string, output: readonly Json[]): Json[] {
  const response = { id, object: "response", model: "gpt-6-sol", output: [] as readonly Json[] };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const events: Json[] = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    ...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
    { type: "response.completed", response: { ...response, status: "completed", output, usage } },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** A call of the shell tool, as the server sends it. */
export const SHELL_CALL = {
  ...{ type: "function_call", id: "fc_1", call_id: "call_1", status: "completed" },
  ...{ name: "shell", arguments: '{"command":"ls"}' },
};

/** The output of {@linkcode SHELL_CALL}. */
export const SHELL_OUTPUT = { type: "function_call_output", call_id: "call_1", output: "a.txt" };

/** The last message of the model, as the server sends it. */
export const LAST_MESSAGE = {
  ...{ type: "message", id: "msg_1", status: "completed", role: "assistant" },
  content: [{ type: "output_text", text: "one file", annotations: [], logprobs: [] }],
};

/** Members of every message of {@linkcode agentLoop}. */
export const AGENT_FIELDS = { model: "gpt-6-sol", instructions: "be brief", store: false };

/** The first prompt of {@linkcode agentLoop}. */
export const PROMPT = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "list files" }],
};

/**
 * Returns the exchanges of an agent: a warm-up, a request that continues it, and a request that continues that one with
 * the output of a tool.
 */
export function agentLoop(): GivenExchange[] {
  const create = { type: "response.create", ...AGENT_FIELDS };
  return [
    socketExchange({
      message: { ...create, generate: false, input: [] },
      events: responseEvents("resp_0", []),
      request: { at_ms: 0 },
    }),
    socketExchange({
      message: { ...create, previous_response_id: "resp_0", input: [PROMPT] },
      events: responseEvents("resp_1", [SHELL_CALL]),
      request: { at_ms: 100 },
    }),
    socketExchange({
      message: { ...create, previous_response_id: "resp_1", input: [SHELL_OUTPUT] },
      events: responseEvents("resp_2", [LAST_MESSAGE]),
      request: { at_ms: 200 },
    }),
  ];
}

/**
 * Rewrites a recording over HTTP as if it had been made over one WebSocket, on which each request continues the one before.
 * The files of a recording have no faults and one data line for each event.
 */
export function recordOverSocket(path: string): void {
  let before: { readonly id: string; readonly known: number } | null = null;
  for (
    const { name } of [...Deno.readDirSync(`${path}/exchanges`)].sort((a, b) => a.name < b.name ? -1 : 1)
  ) {
    const folder = `${path}/exchanges/${name}`;
    const request = JSON.parse(Deno.readTextFileSync(`${folder}/request.json`));
    const { stream: _stream, input, ...fields } = request.body;
    const events = Deno.readTextFileSync(`${folder}/body`).split("\n")
      .filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
    const continued = before === null
      ? { input }
      : { previous_response_id: before.id, input: input.slice(before.known) };
    const { response } = JSON.parse(events.at(-1) as string);
    before = { id: response.id, known: input.length + response.output.length };
    const { chunks: _chunks, ...answer } = JSON.parse(Deno.readTextFileSync(`${folder}/response.json`));
    const { ["content-type"]: _type, ...headers } = answer.headers;
    const given = socketExchange({
      message: { type: "response.create", ...fields, ...continued },
      events,
      response: { ...answer, status: 101, headers },
    });
    const { body_sha256: _sum, ...kept } = request;
    Deno.writeTextFileSync(`${folder}/request.json`, JSON.stringify({ ...kept, ...given.request }));
    Deno.writeTextFileSync(`${folder}/response.json`, JSON.stringify(given.response));
    Deno.writeTextFileSync(`${folder}/body`, given.body as string);
  }
}
