/** Compares requests of a played session with the recorded ones. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { parseExact } from "../../domain/exact_json.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { JsonObject } from "../../domain/json.ts";
import { bodyJson } from "../../fixture/match/compared_json.ts";
import { requestKey } from "../../fixture/match/request_key.ts";
import type { Exchange } from "../../fixture/exchange.ts";
import type { SentRequest } from "./step.ts";

/**
 * True if a request is the recorded one: byte for byte, or in its meaning if the recorded one is a message of a WebSocket,
 * whose HTTP equivalent has other bytes. Copies of encrypted content count as equal: turn files have them.
 */
export function isRecorded(
  { request, socket }: Exchange,
  { method, path, body }: SentRequest,
): boolean {
  if (`${method} ${path}` !== `${request.method} ${request.path}`) return false;
  const bytes = encodeUtf8(body);
  if (socket === undefined) return sha256Hex(bytes) === request.bodySha256;
  const recorded = request.body ?? new Uint8Array(0);
  const keyOf = (body: Uint8Array) =>
    requestKey({ method, path, api: request.api, body, json: bodyJson(body).compared }, () => "").semantic;
  return keyOf(bytes) === keyOf(recorded);
}

/** Returns the body that `request.json` records for a request: of a WebSocket, the message with the whole input. */
export function recordedBody({ request, socket }: Exchange, body: string): string {
  const api = request.api?.socket ?? null;
  if (socket === undefined || api === null) return body;
  return api.createMessage(parseExact(body) as JsonObject, { lane: socket.lane });
}
