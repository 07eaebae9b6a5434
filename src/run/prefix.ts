/** Compares requests of a session with the ones before them: a prompt cache serves a request that extends the last one. */
import { joinPieces, type RunApi } from "../apis/api.ts";
import { apiOf } from "../apis/apis.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { ModelTurn } from "../domain/turn.ts";
import { foldRecorded, type NextRequest, recordedFields, type RecordedHistory } from "./next_request.ts";

/** Comparison of a request with the previous one. */
export type PrefixReport =
  | { readonly extends: true }
  /** The first item of the input that differs, and the first byte of the whole body that does. */
  | { readonly extends: false; readonly item: number | null; readonly byte: number };

/**
 * Compares the next request with the newest request of a session; `null` before the first request, and if a blob of the
 * newest is lost. Limits of output tokens are ignored: they are not part of the prompt.
 */
export function comparePrefix(session: RecordedHistory, next: NextRequest): PrefixReport | null {
  const last = session.turns.findLast((turn) => turn.kind === "model");
  if (last === undefined || last.request.imported !== undefined) return null;
  const before = recordedBody(last, session, promptFields);
  if (before === null) return null;
  const api = apiOf(next.target.fingerprint.provider);
  const prompt = joinPieces(api.piecesOf(promptFields(next.built.fields, api), next.folded.entries));
  const report = prefixReport(before, prompt);
  return report.extends ? report : prefixReport(recordedBody(last, session) ?? "", next.built.body);
}

/** Turns that are folded for all requests together, about a second: a longer session has no reports for its end. */
const MAX_FOLDED = 200_000;

/** Reports on the request of each model turn but the first, by turn. A request whose blobs are lost has no report. */
export function cacheReports(session: RecordedHistory): Map<number, PrefixReport> {
  const reports = new Map<number, PrefixReport>();
  let before: { readonly turn: ModelTurn; readonly prompt: string | null } | null = null;
  let folded = 0;
  for (const turn of session.turns) {
    if (turn.kind !== "model" || turn.request.imported !== undefined) continue;
    if ((folded += turn.turn) > MAX_FOLDED) break;
    const prompt = recordedBody(turn, session, promptFields);
    if (before !== null && before.prompt !== null && prompt !== null) {
      const report = prefixReport(before.prompt, prompt);
      const last = before.turn;
      const whole = (each: ModelTurn) => recordedBody(each, session) ?? "";
      // The limit of output tokens is no reason for a difference, but moves its place.
      reports.set(turn.turn, report.extends ? report : prefixReport(whole(last), whole(turn)));
    }
    before = { turn, prompt };
  }
  return reports;
}

/** The body of the request that a model turn answers, built from the turns before it; `null` if a blob is lost. */
function recordedBody(
  turn: ModelTurn,
  session: RecordedHistory,
  pick = (fields: JsonObject, _api: RunApi) => fields,
): string | null {
  const fields = recordedFields(turn.request.fields, session.readBlob);
  if (fields === null) return null;
  const api = apiOf(turn.fingerprint.provider);
  return joinPieces(api.piecesOf(pick(fields, api), foldRecorded(turn, session).entries));
}

/** The fields of a request without its limit of output tokens, which is not part of the prompt. */
function promptFields(fields: JsonObject, { outputLimit }: RunApi): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== outputLimit));
}

/** Compares two bodies. `item` is `null` when they differ before their inputs. */
export function prefixReport(before: string, next: string): PrefixReport {
  // Without the closing bracket and brace, so that a longer request may follow.
  const wanted = before.slice(0, -"]}".length);
  if (next.startsWith(wanted) || isLongerAtEnd(before, next)) return { extends: true };
  const [old, now] = [encodeUtf8(wanted), encodeUtf8(next)];
  let byte = 0;
  while (byte < old.length && old[byte] === now[byte]) byte++;
  return { extends: false, item: firstDifference(before, next), byte };
}

/** True if the last message only has more content: messages of one role are sent as one, and caches keep blocks of content. */
function isLongerAtEnd(before: string, next: string): boolean {
  const end = "]}]}";
  return before.endsWith(end) && next.startsWith(`${before.slice(0, -end.length)},`);
}

function firstDifference(before: string, next: string): number | null {
  const [old, now] = [before, next].map((body) => {
    const { input, messages = input, ...fields } = JSON.parse(body);
    // Clients may also send the input as one string.
    const items: JsonValue[] = Array.isArray(messages) ? messages : [messages ?? null];
    return { fields: JSON.stringify(fields), items: items.map((item) => JSON.stringify(item)) };
  });
  if (old === undefined || now === undefined || old.fields !== now.fields) return null;
  const item = old.items.findIndex((text, index) => text !== now.items[index]);
  return item < 0 ? null : item;
}
