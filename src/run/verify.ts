/** Builds recorded requests again: the same fold over the same turns must give the same bytes. */
import type { VerifiedRequest } from "../schemas/maintenance.ts";
import { GrowingSha256 } from "../domain/hash.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";
import { FOLD_VERSION } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import type { RunApi } from "../apis/api.ts";
import { apiOf } from "../apis/apis.ts";
import { foldRecorded, recordedFields, type RecordedHistory } from "./next_request.ts";

/** Builds the request of every model turn of a session again. */
export function verifySession(source: RecordedHistory): VerifiedRequest[] {
  const sentTurns = source.turns.filter((turn) =>
    turn.kind === "model" && turn.request.imported === undefined && turn.request.fold <= FOLD_VERSION
  ) as ModelTurn[];
  const refolded = refold(sentTurns, source);
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
function refold(turns: readonly ModelTurn[], source: RecordedHistory): Map<ModelTurn, Refolded> {
  const sums = new Map<ModelTurn, Refolded>();
  const targetOf = ({ fingerprint, model, request: { replay } }: ModelTurn) =>
    JSON.stringify([fingerprint, model.asked, replay]);
  for (const series of Map.groupBy(turns, targetOf).values()) {
    const unbuilt = [...series];
    for (let base = unbuilt.pop(); base !== undefined; base = unbuilt.pop()) {
      const folded = foldRecorded(base, source);
      const built = beginnings(apiOf(base.fingerprint.provider), [...unbuilt, base], folded, source);
      sums.set(base, { sum: built.get(base) ?? null, version: folded.version });
      for (let turn = unbuilt.at(-1); turn !== undefined; turn = unbuilt.at(-1)) {
        const sum = built.get(turn);
        if (sum !== turn.request.body_sha256) break;
        sums.set(turn, { sum, version: folded.version });
        unbuilt.pop();
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
  { turns: all, readBlob }: RecordedHistory,
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
function losesFile({ events }: Turn, { readBlob }: RecordedHistory): boolean {
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
