/**
 * Compares each recorded request of a session with the one before: a prompt cache serves a request that extends it.
 *
 * @module
 */
import { apiOf } from "../apis/apis.ts";
import type { ModelTurn } from "../domain/turn.ts";
import { foldRecorded, recordedFields, type RecordedHistory } from "./next_request.ts";
import { type PrefixReport, prefixReport, promptFields, rebuiltBody, seriesOf } from "./verify.ts";

/** Turns that are folded for all comparisons together: a session with more of them has no reports for its end. */
const MAX_FOLDED = 500_000;

/**
 * Reports on the request of each model turn but the first, by turn. A request whose blobs are lost has no report.
 * Bodies are only built where the history does not show that they extend each other.
 */
export function cacheReports(session: RecordedHistory): Map<number, PrefixReport> {
  const reports = new Map<number, PrefixReport>();
  let before: ModelTurn | null = null;
  let folded = 0;
  for (const { requests } of seriesOf(session.turns)) {
    for (const [index, turn] of requests.entries()) {
      if (before !== null) {
        if (index > 0 && promptText(before) === promptText(turn)) reports.set(turn.turn, { extends: true });
        else if ((folded += 2 * turn.turn) <= MAX_FOLDED) {
          const report = compared(before, turn, session);
          if (report !== null) reports.set(turn.turn, report);
        }
      }
      before = turn;
    }
  }
  return reports;
}

/** The fields of a request that are part of its prompt, as text. */
function promptText({ request, fingerprint }: ModelTurn): string {
  return JSON.stringify(promptFields(request.fields, apiOf(fingerprint.provider)));
}

function compared(before: ModelTurn, turn: ModelTurn, session: RecordedHistory): PrefixReport | null {
  const [was, is] = [before, turn].map((each) => promptBody(each, session));
  if (was === null || was === undefined || is === null || is === undefined) return null;
  const report = prefixReport(was, is);
  if (report.extends) return report;
  // The limit of output tokens is no reason for a difference, but moves its place.
  return prefixReport(rebuiltBody(before, session) ?? was, rebuiltBody(turn, session) ?? is);
}

/** The body of a recorded request without its limit of output tokens; `null` if a blob is lost. */
function promptBody(turn: ModelTurn, { turns, readBlob }: RecordedHistory): string | null {
  const fields = recordedFields(turn.request.fields, readBlob);
  if (fields === null) return null;
  const api = apiOf(turn.fingerprint.provider);
  const { entries } = foldRecorded(turn, { turns: turns.filter((each) => each.turn < turn.turn), readBlob });
  return api.bodyOf(promptFields(fields, api), entries);
}
