import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { DIALECTS } from "../responses_server/dialect.ts";
import { answerEvents } from "../responses_server/events.ts";
import { Issuer } from "../responses_server/issuer.ts";
import { answer, type ScriptedResponse } from "../responses_server/script.ts";
import { type ApiError, apiError, findViolation, itemsOf } from "./rules.ts";
import type { ResponsesSocketOptions, SocketRequest } from "./script.ts";

/** Form of the events. */
export const DIALECT = DIALECTS.openai;

/** A response that a later request may continue: its whole input, then its output. */
export interface Chainable {
  readonly id: string;
  readonly items: readonly JsonObject[];
}

/** An answer before it is sent. */
export type Answer =
  | { readonly kind: "error"; readonly status: number; readonly error: JsonObject }
  | {
    readonly kind: "events";
    readonly request: SocketRequest;
    readonly events: readonly JsonObject[];
    readonly response: JsonObject;
    readonly scripted: Extract<ScriptedResponse, { readonly kind: "stream" }>;
    /** Absent if the response failed or never ended. */
    readonly chainable: Chainable | undefined;
  };

/** A request before its `previous_response_id` is resolved. */
export interface Arrived
  extends
    Pick<SocketRequest, "transport" | "connection" | "message" | "text" | "headers" | "path" | "streamId"> {
  /** Finds a response in the memory of the connection. */
  readonly remembered: (id: string) => Chainable | undefined;
}

/** Answers requests of both transports by script and rules. */
export class Answerer {
  readonly issuer: Issuer;
  readonly requests: SocketRequest[] = [];
  readonly refusals: ApiError[] = [];
  readonly #options: ResponsesSocketOptions;
  /** Responses with `store: true`, which outlive their connection. */
  readonly #stored = new Map<string, Chainable>();
  #answered = 0;

  constructor(options: ResponsesSocketOptions) {
    this.#options = options;
    this.issuer = new Issuer(DIALECT, options.organization ?? "org-test", options.idsFrom);
  }

  /** Checks a request and takes its answer from the script. */
  async answerTo({ remembered, ...arrived }: Arrived): Promise<Answer> {
    const { message } = arrived;
    const { type: _type, stream_id: _lane, previous_response_id: previousId, ...fields } = message;
    const previous = typeof previousId === "string"
      ? remembered(previousId) ?? this.#stored.get(previousId)
      : undefined;
    const input = [...previous?.items ?? [], ...itemsOf(message.input)];
    const request: SocketRequest = {
      ...arrived,
      number: this.requests.length + 1,
      method: arrived.transport === "ws" ? "GET" : "POST",
      body: { ...fields, input },
      input,
    };
    this.requests.push(request);
    if (typeof previousId === "string" && previous === undefined) {
      return this.refuse(apiError(`Previous response with id '${previousId}' not found.`, {
        code: "previous_response_not_found",
        param: "previous_response_id",
      }));
    }
    const violation = findViolation(input, this.issuer, message.generate !== false);
    if (violation !== null) return this.refuse(violation);
    const scripted = await this.#scriptedFor(request);
    if (scripted.kind === "bytes") throw new Error("This server sends no bytes of a script");
    if (scripted.kind === "http") {
      return { kind: "error", status: scripted.status, error: JSON.parse(scripted.body).error };
    }
    const body = { ...message, store: message.store ?? true };
    const streamed = answerEvents(scripted.items, scripted.options, {
      issuer: this.issuer,
      dialect: DIALECT,
      body,
    });
    return { kind: "events", request, scripted, chainable: this.#chainable(request, streamed), ...streamed };
  }

  /** Returns and counts the answer for a violation. */
  refuse(error: ApiError): Answer {
    this.refusals.push(error);
    return { kind: "error", status: 400, error: { ...error } };
  }

  async #scriptedFor(request: SocketRequest): Promise<ScriptedResponse> {
    const { script } = this.#options;
    if (request.message.generate === false) {
      return answer([], { usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } });
    }
    if (typeof script === "function") return await script(request);
    const scripted = script[this.#answered++];
    if (scripted === undefined) throw new Error(`The script has no answer to request ${request.number}`);
    return scripted;
  }

  #chainable(
    { input, message }: SocketRequest,
    { events, response: { id, status } }: Pick<Extract<Answer, { kind: "events" }>, "events" | "response">,
  ): Chainable | undefined {
    if (status !== "completed" && status !== "incomplete") return undefined;
    const output = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    const chainable = { id: String(id), items: [...input, ...output.filter(isJsonObject)] };
    if (message.store !== false) this.#stored.set(chainable.id, chainable);
    return chainable;
  }
}
