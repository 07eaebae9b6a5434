/**
 * One request outside a run: sent, read to its end, and nothing kept.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import type { Item } from "../domain/event.ts";
import type { Ports } from "../domain/ports.ts";
import type { ApiKey, BuiltRequest, FinishedResponse, RunApi } from "../apis/api.ts";
import { openEventStream } from "../transport/exchange.ts";
import type { Send } from "../transport/http.ts";
import { failureOfResponse } from "./failure.ts";

/** Where a request goes, and how. */
export interface Asking {
  readonly ports: Ports;
  readonly api: RunApi;
  readonly send: Send;
  /** The URL of a path of the API, such as `/responses`. */
  readonly urlOf: (path: string) => string;
  /** `null` where none is sent. */
  readonly key: ApiKey | null;
  readonly signal: AbortSignal;
}

/** A whole response. */
export interface Answered {
  readonly items: readonly Item[];
  readonly response: FinishedResponse;
  /** The account that the answer named, hashed; `null` when it named none. */
  readonly account: string | null;
}

/**
 * Sends a request and waits for the end of its response.
 *
 * @throws {RepriseError} when no whole response came: network, provider, a cut stream.
 */
export async function askOnce(
  { ports, api, send, urlOf, key, signal }: Asking,
  built: BuiltRequest,
): Promise<Answered> {
  const stream = await openEventStream({
    send,
    request: {
      url: urlOf(built.path),
      headers: { ...api.headers(key), ...built.headers },
      body: built.body,
    },
    signal,
    clock: ports.clock,
    random: ports.random,
    classify: (status, headers, body) => api.classify(status, headers, body),
  });
  const assembler = api.newAssembler();
  const items: Item[] = [];
  let response: FinishedResponse | null = null;
  const take = (update: ReturnType<typeof assembler.feed>[number]) => {
    if (update.kind === "reset") items.length = 0;
    if (update.kind === "item") items.push(update.item);
    if (update.kind === "finished") response = update.response;
  };
  for await (const batch of stream.events) {
    for (const event of batch) assembler.feed(event).forEach(take);
    if (response !== null) break;
  }
  if (response === null) assembler.end().forEach(take);
  const finished = response as FinishedResponse | null;
  const failure = failureOfResponse(finished);
  if (failure !== null) throw failure;
  if (finished === null) throw new RepriseError("stream_cut", "The response had no end");
  return { items, response: finished, account: api.accountOf(stream.headers) };
}
