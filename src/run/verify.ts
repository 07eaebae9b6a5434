/** Builds recorded requests again: the same fold over the same turns must give the same bytes. */
import type { VerifiedRequest } from "../schemas/maintenance.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import { GrowingSha256 } from "../domain/hash.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";
import { FOLD_VERSION } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import { joinPieces, type RunApi } from "../apis/api.ts";
import { apiOf } from "../apis/apis.ts";
import {
  foldRecorded,
  type NextRequest,
  recordedFields,
  type RecordedHistory as VerifiedSession,
} from "./next_request.ts";

/** Builds the request of every model turn of a session again. */
export function verifySession(source: VerifiedSession): VerifiedRequest[] {
  const own = source.turns.filter((turn) =>
    turn.kind === "model" && turn.request.imported === undefined && turn.request.fold <= FOLD_VERSION
  ) as ModelTurn[];
  const refolded = refold(own, source);
  let redacted = false;
  let repaired = false;
  return source.turns.flatMap((turn): VerifiedRequest[] => {
    redacted ||= turn.redacted !== undefined;
    repaired ||= turn.kind === "harness" && turn.replaces !== undefined || losesFile(turn, source);
    if (turn.kind !== "model") return [];
    const { body_sha256: recorded, fold, imported } = turn.request;
    const { sum = null, version = Infinity } = refolded.get(turn) ?? {};
    const otherwise = redacted ? "redacted" : repaired || sum === null ? "repaired" : "differs";
    const verdict = imported !== undefined
      ? "imported"
      : sum === recorded
      ? "same"
      : version > fold
      ? "other_fold_version"
      : otherwise;
    const isBuilt = verdict !== "imported" && verdict !== "other_fold_version";
    return [{ turn: turn.turn, verdict, recorded, refolded: isBuilt ? sum : null }];
  });
}

/** Sum of a request that was built again, and the version of the rules that built it; `sum` is `null` if a blob is lost. */
interface Refolded {
  readonly sum: string | null;
  readonly version: number;
}

/**
 * Builds recorded requests again. Most extend the one before, so they are the beginnings of one fold: that of the newest
 * request which is not built yet. A beginning counts only if it has the recorded sum; the newest request without it is
 * folded by itself, and the ones before are compared with that fold: a checkpoint, an omission or a refusal came between.
 */
function refold(turns: readonly ModelTurn[], source: VerifiedSession): Map<ModelTurn, Refolded> {
  const sums = new Map<ModelTurn, Refolded>();
  const targetOf = ({ fingerprint, model, request: { replay } }: ModelTurn) =>
    JSON.stringify([fingerprint, model.asked, replay]);
  for (const series of Map.groupBy(turns, targetOf).values()) {
    const left = [...series];
    for (let base = left.pop(); base !== undefined; base = left.pop()) {
      const folded = foldRecorded(base, historyBefore(base, source));
      const built = beginnings(apiOf(base.fingerprint.provider), [...left, base], folded, source);
      sums.set(base, { sum: built.get(base) ?? null, version: folded.version });
      for (let turn = left.at(-1); turn !== undefined; turn = left.at(-1)) {
        const sum = built.get(turn);
        if (sum !== turn.request.body_sha256) break;
        sums.set(turn, { sum, version: folded.version });
        left.pop();
      }
    }
  }
  return sums;
}

/** Sums of the bodies that begin like a fold: of each request, the entries from before its turn. Turns are in order. */
function beginnings(
  api: RunApi,
  turns: readonly ModelTurn[],
  { entries, seqs }: Folded,
  { turns: all, readBlob }: VerifiedSession,
): Map<ModelTurn, string> {
  const pieces = [...api.piecesOf({}, entries)];
  const isRedacted = all.some((turn) => turn.redacted !== undefined);
  const heads = new Map<string, { readonly hash: GrowingSha256; pieces: number } | null>();
  const headOf = ({ request: { fields } }: ModelTurn) => {
    const key = JSON.stringify(fields);
    if (!heads.has(key)) {
      const whole = orNull(isRedacted, () => recordedFields(fields, readBlob));
      const hash = new GrowingSha256();
      const [head] = whole === null ? [] : api.piecesOf(whole, []);
      if (head !== undefined) hash.append(head.text);
      heads.set(key, head === undefined ? null : { hash, pieces: 1 });
    }
    return heads.get(key) ?? null;
  };
  const sums = new Map<ModelTurn, string>();
  let [count, last] = [0, 0];
  for (const turn of turns) {
    while (count < entries.length && (seqs[count] ?? 0) < turn.seq[0]) count++;
    while ((pieces[last + 1]?.least ?? Infinity) <= count) last++;
    const end = pieces[last];
    const head = end === undefined || count > end.most ? null : headOf(turn);
    if (end === undefined || head === null) continue;
    while (head.pieces <= last) head.hash.append(pieces[head.pieces++]?.text ?? "");
    sums.set(turn, head.hash.hex(end.end));
  }
  return sums;
}

/** True if a turn has an attached file that is lost: requests without the file differ from those with it. */
function losesFile({ events }: Turn, { readBlob }: VerifiedSession): boolean {
  return events.some((event) => event.type === "attachment" && readBlob(event.blob.sha256) === null);
}

/** Calls `make`; `null` if a redaction left invalid JSON: tool schemas with a secret outside a string. */
function orNull<T>(isRedacted: boolean, make: () => T | null): T | null {
  try {
    return make();
  } catch (error) {
    if (isRedacted && error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The body of the request that a model turn answers, built from the turns before it; `null` if a blob is lost. */
export function rebuiltBody(turn: ModelTurn, session: VerifiedSession): string | null {
  const fields = recordedFields(turn.request.fields, session.readBlob);
  if (fields === null) return null;
  const { entries } = foldRecorded(turn, historyBefore(turn, session));
  return joinPieces(apiOf(turn.fingerprint.provider).piecesOf(fields, entries));
}

function historyBefore({ turn: number }: ModelTurn, { turns, readBlob }: VerifiedSession): VerifiedSession {
  return { turns: turns.filter(({ turn }) => turn < number), readBlob };
}

/** Comparison of a request with the previous one: a prompt cache can be used if it extends that request. */
export type PrefixReport =
  | { readonly extends: true }
  /** The first item of the input that differs, and the first byte of the whole body that does. */
  | { readonly extends: false; readonly item: number | null; readonly byte: number };

/**
 * Compares the next request with the newest request of a session; `null` before the first request, and if a blob of the
 * newest is lost. Limits of output tokens are ignored: they are not part of the prompt.
 */
export function comparePrefix(session: VerifiedSession, next: NextRequest): PrefixReport | null {
  const last = session.turns.findLast((turn) => turn.kind === "model");
  if (last?.request.imported !== undefined) return null;
  const fields = last === undefined ? null : recordedFields(last.request.fields, session.readBlob);
  if (last === undefined || fields === null) return null;
  const [before, now] = [apiOf(last.fingerprint.provider), apiOf(next.target.fingerprint.provider)];
  const { entries } = foldRecorded(last, historyBefore(last, session));
  const report = prefixReport(
    joinPieces(before.piecesOf(promptFields(fields, before), entries)),
    joinPieces(now.piecesOf(promptFields(next.built.fields, now), next.folded.entries)),
  );
  return report.extends ? report : prefixReport(rebuiltBody(last, session) ?? "", next.built.body);
}

/** The fields of a request without its limit of output tokens, which is not part of the prompt. */
export function promptFields(fields: JsonObject, { outputLimit }: RunApi): JsonObject {
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
