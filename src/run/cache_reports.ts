/** Compares each recorded request of a session with the one before: a prompt cache serves a request that extends it. */
import { joinPieces } from "../apis/api.ts";
import { apiOf } from "../apis/apis.ts";
import type { ModelTurn } from "../domain/turn.ts";
import { foldRecorded, recordedFields, type RecordedHistory } from "./next_request.ts";
import { type PrefixReport, prefixReport, promptFields, rebuiltBody } from "./verify.ts";

/** Turns that are folded for all requests together, about a second: a longer session has no reports for its end. */
const MAX_FOLDED = 200_000;

/** A request, and its body without its limit of output tokens; `null` if a blob is lost. */
interface BuiltTurn {
  readonly turn: ModelTurn;
  readonly body: string | null;
}

/** Reports on the request of each model turn but the first, by turn. A request whose blobs are lost has no report. */
export function cacheReports(session: RecordedHistory): Map<number, PrefixReport> {
  const reports = new Map<number, PrefixReport>();
  let before: BuiltTurn | null = null;
  let folded = 0;
  for (const turn of session.turns) {
    if (turn.kind !== "model" || turn.request.imported !== undefined) continue;
    if ((folded += turn.turn) > MAX_FOLDED) break;
    const now = { turn, body: promptBody(turn, session) };
    const report = before === null ? null : compared(before, now, session);
    if (report !== null) reports.set(turn.turn, report);
    before = now;
  }
  return reports;
}

function compared(before: BuiltTurn, now: BuiltTurn, session: RecordedHistory): PrefixReport | null {
  if (before.body === null || now.body === null) return null;
  const report = prefixReport(before.body, now.body);
  if (report.extends) return report;
  // The limit of output tokens is no reason for a difference, but moves its place.
  return prefixReport(
    rebuiltBody(before.turn, session) ?? before.body,
    rebuiltBody(now.turn, session) ?? now.body,
  );
}

function promptBody(turn: ModelTurn, { turns, readBlob }: RecordedHistory): string | null {
  const fields = recordedFields(turn.request.fields, readBlob);
  if (fields === null) return null;
  const api = apiOf(turn.fingerprint.provider);
  const { entries } = foldRecorded(turn, { turns: turns.filter((each) => each.turn < turn.turn), readBlob });
  return joinPieces(api.piecesOf(promptFields(fields, api), entries));
}
