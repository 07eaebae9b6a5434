/** End of a recording: its errors, its exit code and its last event. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { total } from "../../domain/redact.ts";
import { counted } from "../../domain/text.ts";
import type { FolderSummary } from "../../fixture/record/test_recordings.ts";
import type { RecordingSummary } from "../../fixture/record/summaries.ts";
import { fileError } from "../../store/fs_errors.ts";
import type { Output } from "../output.ts";
import {
  alteredNote,
  leftAloneNote,
  matchRulesNote,
  nothingSentNote,
  tooShortNote,
  unmetFaultNote,
  unsetKeysNote,
  withheldRulesNote,
} from "./recording_notes.ts";
import type { EventOutput } from "./server_process.ts";

/** Facts about an ended recording, besides the summary of its writers. */
export interface EndFacts {
  readonly out: string;
  /** True if `--missing` played what was there. */
  readonly plays: boolean;
  /** Variables of a wrapped command that lead to the recorder; `null` without a command. */
  readonly variables: readonly string[] | null;
  /** Exit code of the command; 0 without a command. */
  readonly code: number;
  /** Error that ended the recording early. */
  readonly thrown: RepriseError | null;
  /** Variables with values that are too short to look for. */
  readonly tooShort: readonly string[];
  readonly counts: RequestCounts;
  /** Key variables that are not set and that requests need. @default {none} */
  readonly unsetKeys?: readonly string[];
  /** True if the loss of each test was reported at its end. @default {false} */
  readonly isReported?: boolean;
}

/** Numbers of requests that are not exchanges. */
export interface RequestCounts {
  readonly skipped: number;
  readonly turned_away: number;
  readonly played: number;
  /** Requests that `--missing` may not send. */
  readonly missed: number;
}

/** Reports the end of a recording. @returns the exit code: that of the command first, then of the recording. */
export function reportEnd(
  { output, events }: { readonly output: Output; readonly events: EventOutput<"record-event"> },
  { total: sums, tests, failedIn, unmetFaults }: FolderSummary,
  facts: EndFacts,
): ExitCode {
  const { out, plays, code, thrown, tooShort, counts } = facts;
  const { played, missed, turned_away } = counts;
  const failed = sums.failure === null ? null : fileError(sums.failure.error, "record", failedIn);
  const error = thrown ?? failed ??
    (facts.isReported === true ? null : lossOf(sums, facts));
  const exitCode = (code !== 0 ? code : error?.exitCode ?? 0) as ExitCode;
  if (error !== null) {
    events.write({ ...error.toJSON(), type: "error" });
    if (!events.onStdout) output.errorLine(error.message, error.hint);
  }
  events.write({
    type: "record.ended",
    out,
    ...membersOf(sums),
    turned_away,
    ...(plays ? { played, missed, error_answers: sums.errorAnswers } : {}),
    ...(tests === null
      ? {}
      : { tests: tests.map(({ test, ...summary }) => ({ test, ...membersOf(summary) })) }),
    exit_code: exitCode,
  });
  const notes = [
    exitCode === 0 ? null : unsetKeysNote(facts.unsetKeys ?? []),
    matchRulesNote(sums),
    withheldRulesNote(sums.withheldRules),
    alteredNote(sums.altered),
    tooShortNote(tooShort),
    leftAloneNote(sums.leftAlone),
  ];
  for (const note of notes) if (note !== null) output.note(note);
  // Each test has reported its own.
  if (facts.isReported !== true) { for (const fault of unmetFaults) output.note(unmetFaultNote(fault)); }
  if (facts.isReported === true) {
    output.note(`${counted(tests?.length ?? 0, "test")}: ${played} played, ${sums.published} recorded`);
    return output.closed ? output.closedExitCode : exitCode;
  }
  const kept = endLine(sums, { out, tests: tests === null ? "" : ` of ${counted(tests.length, "test")}` });
  output.note((plays ? `${played} played, ` : "") + (missed === 0 ? "" : `${missed} missed, `) + kept);
  return output.closed ? output.closedExitCode : exitCode;
}

function membersOf(summary: RecordingSummary) {
  const { before, published, overSocket, dropped, refused, unkept, redactions, altered } = summary;
  return {
    ...{ before, published, over_socket: overSocket, dropped, refused, unkept, redactions, altered },
    left_alone: summary.leftAlone,
    match_rules: summary.matchRules,
    withheld_rules: summary.withheldRules,
  };
}

function endLine(
  { before, published, overSocket, dropped, redactions }: RecordingSummary,
  { out, tests }: { readonly out: string; readonly tests: string },
): string {
  const replaced = total(redactions);
  const exchanges = counted(published, "exchange") +
    (overSocket === 0 ? "" : ` (${overSocket} over WebSocket)`);
  return (before === 0
    ? `recorded ${exchanges}${tests} into "${out}"`
    : `added ${exchanges} to the ${before}${tests} in "${out}"`) +
    (dropped === 0 ? "" : `, ${dropped} left out`) +
    (replaced === 0 ? "" : `, ${counted(replaced, "secret")} replaced`);
}

/** Returns the error about requests that the fixture lacks; `null` if it lacks none. */
export function lossOf(
  { before, published, dropped, refused, unkept, errorAnswers }: RecordingSummary,
  { code, counts, variables }: Pick<EndFacts, "code" | "counts" | "variables">,
): RepriseError | null {
  if (refused > 0) return leftOver(refused);
  if (unkept > 0) return notKept(unkept);
  if (counts.turned_away > 0) return notServed(counts.turned_away);
  if (counts.missed > 0) return stillMissing(counts.missed);
  if (errorAnswers > 0) return errorsAnswered(errorAnswers);
  if (code !== 0 || variables === null || published > 0) return null;
  if (counts.played > 0 && dropped === 0) return null;
  const hint = dropped === 0
    ? nothingSentNote("recorder", { skipped: counts.skipped, variables })
    : "The notes above say why each exchange was left out";
  return nothingRecorded(before, hint);
}

/** The error after a command that succeeded without an exchange: the recording is empty. */
function nothingRecorded(before: number, hint: string): RepriseError {
  const state = before === 0 ? "the fixture would hold no exchange" : "the fixture is unchanged";
  return new RepriseError("nothing_recorded", `Nothing was recorded: ${state}`, { hint });
}

function leftOver(refused: number): RepriseError {
  return new RepriseError(
    "secret_left",
    `Cannot keep ${refused} of the exchanges: they still held a secret`,
    {
      hint: "The notes above name them and their secrets; nothing of them was kept",
    },
  );
}

function notKept(unkept: number): RepriseError {
  return new RepriseError(
    "not_kept",
    `Cannot keep ${counted(unkept, "exchange")}: no fixture can hold the answers`,
    {
      hint: "The notes above name them and the reasons; every other exchange is in the fixture",
    },
  );
}

/** The error after answers of the API with a status of 400 or more: the fixture lacks them. */
function errorsAnswered(errors: number): RepriseError {
  return new RepriseError(
    "not_kept",
    `Cannot keep ${counted(errors, "exchange")}: the API answered with an error`,
    { hint: "The notes above name them and the statuses; --keep-errors keeps errors too" },
  );
}

/** The error after requests that may not be sent under CI: the fixture lacks them. */
function stillMissing(missed: number): RepriseError {
  return new RepriseError(
    "fixture_miss",
    `Cannot record ${counted(missed, "request")}: CI is set, so nothing is sent`,
    { hint: "Record them without CI set, or give --allow-live; the notes above name the differences" },
  );
}

/** The error after requests that were turned away: the fixture lacks their answers. */
function notServed(turnedAway: number): RepriseError {
  const requests = counted(turnedAway, "request");
  return new RepriseError(
    "not_kept",
    `Cannot keep ${requests}: ${turnedAway === 1 ? "it was" : "they were"} turned away`,
    { hint: "The notes above name them and the reasons; every other exchange is in the fixture" },
  );
}
