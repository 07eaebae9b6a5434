/**
 * The recorded requests made again: the same fold over the same turns must give the same bytes.
 *
 * @module
 */
import { encodeUtf8 } from "../domain/bytes.ts";
import type { CheckpointRef } from "../domain/event.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { GrowingSha256, sha256Hex } from "../domain/hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";
import { FOLD_VERSION, foldHistory } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import type { ReplayMode } from "../fold/guard.ts";
import { apiOf, foldNeedsOf } from "../apis/apis.ts";
import { type Series, seriesOf } from "./verify_series.ts";

/** What re-folding a model turn's request showed. Only `differs` is a fault. */
export type RefoldVerdict =
  | "same"
  | "differs"
  /** The rules that made the request are not those that fold its history now. */
  | "other_fold_version"
  /** Secrets were stripped from the turns that the request was made from. */
  | "redacted"
  /** A turn or a blob that the request was made from is lost. */
  | "repaired";

/** Reads a blob of the session as text; `null` for one that is recorded as lost. */
export type ReadText = (sha256: string) => string | null;

/** What re-folding needs. */
export interface RefoldSource {
  readonly turns: readonly Turn[];
  readonly readText: ReadText;
}

/** One model turn and its verdict. */
export interface Refolded {
  readonly turn: number;
  readonly verdict: RefoldVerdict;
  /** sha256 of the body as it was sent, and as it is made now. */
  readonly recorded: string;
  readonly refolded: string | null;
}

/** Re-folds every model turn of a session, in time that grows with the session's length. */
export function refoldSession(source: RefoldSource): Refolded[] {
  const refolds = refoldsOf(source);
  let redacted = false;
  let repaired = false;
  return source.turns.flatMap((turn): Refolded[] => {
    redacted ||= turn.redacted !== undefined;
    repaired ||= turn.kind === "harness" && turn.replaces !== undefined;
    if (turn.kind !== "model") return [];
    const { body_sha256: recorded, fold } = turn.request;
    const { version, sum } = refolds.get(turn) ?? { version: Infinity, sum: null };
    if (version > fold) {
      return [{ turn: turn.turn, verdict: "other_fold_version", recorded, refolded: null }];
    }
    const otherwise = redacted ? "redacted" : repaired || sum === null ? "repaired" : "differs";
    return [{ turn: turn.turn, verdict: sum === recorded ? "same" : otherwise, recorded, refolded: sum }];
  });
}

/** A request folded again. */
interface Refold {
  /** The oldest version of the fold's rules that folds its history so. */
  readonly version: number;
  /** `null` if a newer version folds it, a blob of its fields is lost, or a redaction left no body. */
  readonly sum: string | null;
}

/** All requests but those of newer versions of the fold. */
function refoldsOf(source: RefoldSource): Map<ModelTurn, Refold> {
  const isRedacted = source.turns.some(({ redacted }) => redacted !== undefined);
  const refolds = new Map<ModelTurn, Refold>();
  for (const series of seriesOf(source.turns)) {
    const { requests } = series;
    if ((requests[0]?.request.fold ?? 0) > FOLD_VERSION) continue;
    const together = refoldTogether(series, source, isRedacted);
    const differing = requests.find((turn) => together?.get(turn)?.sum !== turn.request.body_sha256);
    // No request is said to differ on the word of a series alone.
    const isSound = together !== null &&
      (differing === undefined ||
        together.get(differing)?.sum === refoldAlone(differing, source, isRedacted).sum);
    for (const turn of requests) {
      refolds.set(turn, (isSound ? together.get(turn) : undefined) ?? refoldAlone(turn, source, isRedacted));
    }
  }
  return refolds;
}

function refoldAlone(turn: ModelTurn, source: RefoldSource, isRedacted: boolean): Refold {
  const { entries, version } = foldFor(turn, turnsBefore(turn, source.turns, null));
  const body = orNull(isRedacted, () => bodyOf(turn, entries, source));
  return { version, sum: body === null || version > turn.request.fold ? null : sha256Hex(body) };
}

/** Tool schemas in which a secret stood outside a string are no JSON without it. */
function orNull<T>(isRedacted: boolean, make: () => T | null): T | null {
  try {
    return make();
  } catch (error) {
    if (isRedacted && error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The requests of a series, from one fold; `null` where their bodies cannot be taken from one another. */
function refoldTogether(
  { requests, checkpoint }: Series,
  { turns, readText }: RefoldSource,
  isRedacted: boolean,
): Map<ModelTurn, Refold> | null {
  const last = requests.at(-1) as ModelTurn;
  const { entries, seqs, version } = foldFor(last, turnsBefore(last, turns, checkpoint));
  if (version > last.request.fold) return new Map(requests.map((turn) => [turn, { version, sum: null }]));
  const body = apiOf(last.fingerprint.provider).bodyPieces(entries);
  if (body === null) return null;
  const openings = new Map<string, string>();
  const refolds = new Map<ModelTurn, Refold>();
  let sha = new GrowingSha256();
  let before: string | undefined;
  let count = 0;
  for (const turn of requests) {
    const { fields } = turn.request;
    const key = JSON.stringify(fields);
    const opening = openings.get(key) ??
      orNull(isRedacted, () => {
        const whole = wholeFields(fields, readText);
        return whole === null ? null : body.opening(whole);
      });
    if (opening === null) return null;
    openings.set(key, opening);
    if (opening !== before) {
      sha = new GrowingSha256();
      sha.append(opening);
      [before, count] = [opening, 0];
    }
    for (; count < seqs.length && (seqs[count] as number) < turn.seq[0]; count++) {
      sha.append(body.pieces[count] as string);
    }
    refolds.set(turn, { version, sum: sha.hexWith(body.closings[count - 1] ?? "]}") });
  }
  return refolds;
}

/** The body of the request that a model turn answers, made from the turns before it; `null` without a lost blob. */
export function refoldedBody(turn: ModelTurn, source: RefoldSource): string | null {
  return bodyOf(turn, foldFor(turn, turnsBefore(turn, source.turns, null)).entries, source);
}

function bodyOf(
  { fingerprint, request }: ModelTurn,
  entries: readonly FoldedEntry[],
  { readText }: RefoldSource,
): string | null {
  const whole = wholeFields(request.fields, readText);
  return whole === null ? null : apiOf(fingerprint.provider).bodyOf(whole, entries);
}

/** All turns before a request; with a checkpoint in force, those that opening a session reads. */
function turnsBefore(
  { turn }: ModelTurn,
  turns: readonly Turn[],
  checkpoint: CheckpointRef | null,
): readonly Turn[] {
  const opening = checkpoint?.opening_turn ?? null;
  return [
    ...opening === null ? [] : turns.slice(opening - 1, opening),
    ...turns.slice(checkpoint?.to_turn ?? 0, turn - 1),
  ];
}

/** Folds the history of the request that a model turn answers. */
function foldFor(turn: ModelTurn, history: readonly Turn[]): Folded {
  const { replay } = turn.request;
  return foldHistory(history, {
    fingerprint: { ...turn.fingerprint, account: replay?.account ?? null },
    needs: foldNeedsOf(turn.fingerprint.provider),
    model: turn.model.asked,
    replay: (replay?.mode ?? "exact") as ReplayMode,
    window: replay?.window ?? null,
    run: turn.run,
  });
}

/** The recorded fields with instructions and tools from their blobs; `null` where one of those is lost. */
function wholeFields(fields: JsonObject, readText: ReadText): JsonObject | null {
  const whole: [string, JsonValue | undefined][] = [];
  for (const [name, value] of Object.entries(fields)) {
    const blob = isJsonObject(value) ? value.blob : undefined;
    const text = typeof blob === "string" ? readText(blob) : undefined;
    if (text === null) return null;
    whole.push([name, text === undefined ? value : name === "tools" ? JSON.parse(text) : text]);
  }
  return Object.fromEntries(whole);
}

/** Whether a request goes on where the one before ended: what a prompt cache can use again. */
export type PrefixReport =
  | { readonly extends: true }
  /** The first item of the input that differs, and the first byte of the whole body that does. */
  | { readonly extends: false; readonly item: number | null; readonly byte: number };

/** Compares two bodies. `item` is `null` when they differ before their inputs. */
export function prefixReport(before: string, next: string): PrefixReport {
  // All but the closing bracket and brace: what follows in a longer request.
  const wanted = before.slice(0, -2);
  if (next.startsWith(wanted)) return { extends: true };
  const [old, now] = [encodeUtf8(wanted), encodeUtf8(next)];
  let byte = 0;
  while (byte < old.length && old[byte] === now[byte]) byte++;
  return { extends: false, item: firstDifference(before, next), byte };
}

function firstDifference(before: string, next: string): number | null {
  const [old, now] = [before, next].map((body) => {
    const { input, messages = input, ...fields } = JSON.parse(body);
    return {
      fields: JSON.stringify(fields),
      items: (messages as JsonValue[]).map((item) => JSON.stringify(item)),
    };
  });
  if (old === undefined || now === undefined || old.fields !== now.fields) return null;
  const item = old.items.findIndex((text, index) => text !== now.items[index]);
  return item < 0 ? null : item;
}
