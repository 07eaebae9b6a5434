/** The WebSocket client of the `openai` package as its users use it: one connection, a tool loop on it. */
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import { ResponsesWS } from "openai/resources/responses/ws";
import type {
  Response,
  ResponseInput,
  ResponseInputItem,
  ResponsesClientEvent,
  ResponsesServerEvent,
} from "openai/resources/responses/responses";
import type { Json } from "../support/files.ts";
import { bodyOf, clientAt, mistaken } from "./openai.ts";
import { PROMPT, sumOf } from "./script.ts";
import { type Change, type Client, type Origin, reported } from "./support.ts";

type Create = ResponsesClientEvent & { readonly type: "response.create" };

/** Use of the connection. */
interface Use {
  /** Sends `previous_response_id` and the new items, in place of the whole history. */
  readonly continues: boolean;
  /** Begins with the tools and the instructions alone. */
  readonly warmsUp?: true;
  /** Runs the loop twice at once, each in a lane of its own. */
  readonly lanes?: readonly string[];
}

/** Sends new items only. */
export const continuing = client({ continues: true });
/** Sends new items only, after a warm-up. */
export const warm = client({ continues: true, warmsUp: true });
/** Sends the whole history with each request. */
export const whole = client({ continues: false });
/** Two loops at once on one connection. */
export const lanes = client({ continues: true, lanes: ["first", "second.lane"] });

function client(use: Use): Client {
  return async (origin: Origin, change: Change = {}): Promise<Json> => {
    using connection = new Connection(origin);
    const loops = (use.lanes ?? [undefined]).map((lane) => loop(connection, use, change, lane));
    const reports = await Promise.all(loops);
    return reported(use.lanes === undefined ? reports[0] : reports);
  };
}

async function loop(connection: Connection, use: Use, change: Change, lane: string | undefined) {
  const report: unknown[] = [];
  const prompt = lane === undefined ? change.prompt ?? PROMPT : `${change.prompt ?? PROMPT} (${lane})`;
  let history: ResponseInput = [{ role: "user", content: prompt }];
  let added = history;
  let previous: string | undefined;
  if (use.warmsUp === true) {
    const { id } = (await connection.ask({ ...messageOf([], change, lane), generate: false })).response;
    previous = id;
  }
  for (;;) {
    const { response, heard } = await connection.ask({
      ...messageOf(previous === undefined ? history : added, change, lane),
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    });
    const { output, usage } = response;
    report.push({ items: output, text: textOf(response), usage, heard });
    const results = output.flatMap((item): ResponseInputItem[] =>
      item.type === "function_call"
        ? [{
          type: "function_call_output",
          call_id: item.call_id,
          output: change.result ?? sumOf(item.arguments),
        }]
        : []
    );
    if (results.length === 0) return report;
    history = mistaken([...history, ...toResponseInputItems(output), ...results], change.mistake);
    added = results;
    if (use.continues) previous = response.id;
  }
}

function messageOf(input: ResponseInput, change: Change, lane: string | undefined): Create {
  return {
    type: "response.create",
    ...bodyOf(input, change),
    ...(lane === undefined ? {} : { stream_id: lane }),
  };
}

/** The text of a response; the package adds `output_text` to those over HTTP only. */
function textOf({ output }: Response): string {
  return output.flatMap((item) => item.type === "message" ? item.content : [])
    .map((part) => part.type === "output_text" ? part.text : "").join("");
}

interface Asked {
  readonly response: Response;
  readonly heard: readonly ResponsesServerEvent[];
}

class Connection implements Disposable {
  readonly #socket: ResponsesWS;
  /** Listeners of open requests, by lane. */
  readonly #open = new Map<string | undefined, (event: ResponsesServerEvent | Error) => void>();

  constructor(origin: Origin) {
    this.#socket = new ResponsesWS(clientAt(origin));
    this.#socket.on(
      "event",
      (event) => this.#open.get("stream_id" in event ? event.stream_id : undefined)?.(event),
    );
    this.#socket.on("error", (error) => {
      // An error event arrives as an event too.
      if (error.error === undefined) { for (const listen of this.#open.values()) listen(error); }
    });
    this.#socket.on("close", (code) => {
      for (const listen of this.#open.values()) listen(new Error(`The connection closed with ${code}`));
    });
  }

  ask(message: Create): Promise<Asked> {
    const lane = message.stream_id;
    const heard: ResponsesServerEvent[] = [];
    const asked = new Promise<Asked>((resolve, reject) => {
      this.#open.set(lane, (event) => {
        if (event instanceof Error) return reject(event);
        if (event.type === "error") return reject(new Error(JSON.stringify(event)));
        heard.push(event);
        if (event.type === "response.completed") resolve({ response: event.response, heard });
      });
    });
    this.#socket.send(message);
    return asked.finally(() => this.#open.delete(lane));
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}
