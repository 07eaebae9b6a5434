/**
 * One request outside a run: sent, read to its end, and nothing kept.
 *
 * @module
 */
import { ReprError } from "../domain/errors.ts";
import type { Item } from "../domain/event.ts";
import type { Ports } from "../domain/ports.ts";
import type { BuiltRequest, Dialect, FinishedResponse } from "../provider/provider.ts";
import { openEventStream } from "../transport/exchange.ts";
import type { Send } from "../transport/http.ts";
import { failureOfResponse } from "./failure.ts";

/** Where a request goes, and how. */
export interface Asking {
  readonly ports: Ports;
  readonly dialect: Dialect;
  readonly send: Send;
  /** The base URL as text without trailing slash. */
  readonly baseUrl: string;
  /** `null` when a fixture is played. */
  readonly key: string | null;
  readonly signal: AbortSignal;
}

/**
 * Sends a request and waits for the end of its response.
 *
 * @throws {ReprError} when no whole response came: network, provider, a cut stream.
 */
export async function askOnce(
  { ports, dialect, send, baseUrl, key, signal }: Asking,
  built: BuiltRequest,
): Promise<{ readonly items: readonly Item[]; readonly response: FinishedResponse }> {
  const stream = await openEventStream({
    send,
    request: { url: `${baseUrl}${built.path}`, headers: dialect.headers(key), body: built.body },
    signal,
    clock: ports.clock,
    random: ports.random,
    classify: (status, headers, body) => dialect.classify(status, headers, body),
  });
  const assembler = dialect.newAssembler();
  const items: Item[] = [];
  let response: FinishedResponse | null = null;
  const take = (update: ReturnType<typeof assembler.feed>[number]) => {
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
  if (finished === null) throw new ReprError("stream_cut", "The response had no end");
  return { items, response: finished };
}
