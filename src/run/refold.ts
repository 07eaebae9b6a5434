/**
 * The recorded requests made again: the same fold over the same turns must give the same bytes.
 *
 * @module
 */
import { sha256Hex } from "../domain/hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";
import { FOLD_VERSION, foldHistory } from "../fold/fold.ts";
import type { ReplayMode } from "../fold/guard.ts";
import { dialectOf } from "../provider/dialects.ts";

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

/** Re-folds every model turn of a session. */
export function refoldSession(source: RefoldSource): Refolded[] {
  let redacted = false;
  let repaired = false;
  return source.turns.flatMap((turn): Refolded[] => {
    redacted ||= turn.redacted !== undefined;
    repaired ||= turn.kind === "harness" && turn.replaces !== undefined;
    if (turn.kind !== "model") return [];
    const { body_sha256: recorded, fold } = turn.request;
    const refolded = fold > FOLD_VERSION ? null : refold(turn, source);
    if (refolded === null || refolded.version > fold) {
      return [{ turn: turn.turn, verdict: "other_fold_version", recorded, refolded: null }];
    }
    const sum = redacted ? redactedSum(refolded) : bodySum(refolded);
    const otherwise = redacted ? "redacted" : repaired || sum === null ? "repaired" : "differs";
    const verdict = sum === recorded ? "same" : otherwise;
    return [{ turn: turn.turn, verdict, recorded, refolded: sum }];
  });
}

/** The sum of a request that lost its secrets; `null` where what is left makes no body any more. */
function redactedSum(refolded: Refold): string | null {
  try {
    return bodySum(refolded);
  } catch (error) {
    // Tool schemas in which a secret stood outside a string are no JSON without it.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function bodySum(refolded: Refold): string | null {
  const body = refolded.body();
  return body === null ? null : sha256Hex(body);
}

/** The body of the request that a model turn answers, made from the turns before it; `null` without a lost blob. */
export function refoldedBody(turn: ModelTurn, source: RefoldSource): string | null {
  return refold(turn, source).body();
}

/** A request folded again. */
interface Refold {
  /** The oldest version of the fold's rules that folds its history so. */
  readonly version: number;
  /** `null` where a blob with one of its fields is lost. */
  body(): string | null;
}

function refold(turn: ModelTurn, { turns, readText }: RefoldSource): Refold {
  const { fields, replay } = turn.request;
  const { entries, version } = foldHistory(turns.slice(0, turn.turn - 1), {
    fingerprint: { ...turn.fingerprint, account: replay?.account ?? null },
    model: turn.model.asked,
    replay: (replay?.mode ?? "exact") as ReplayMode,
    window: replay?.window ?? null,
    run: turn.run,
  });
  const { bodyOf } = dialectOf(turn.fingerprint.provider);
  return {
    version,
    body: () => {
      const whole = wholeFields(fields, readText);
      return whole === null ? null : bodyOf(whole, entries);
    },
  };
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
  const encoder = new TextEncoder();
  const [old, now] = [encoder.encode(wanted), encoder.encode(next)];
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
