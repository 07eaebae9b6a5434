/** Reports of a recording: what it will do, its `--dry-run`, and its end with errors, exit code and last event. */
import { asRepriseError, type ErrorCode, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { totalCount } from "../../domain/redact.ts";
import { counted } from "../../domain/text.ts";
import type { FolderSummary } from "../../fixture/record/test_recordings.ts";
import type { RecordingSummary } from "../../fixture/record/writer.ts";
import type { Tally } from "../../fixture/tally.ts";
import { fileError } from "../../store/fs_errors.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";
import type { Context } from "../context.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";
import type { Output } from "../output.ts";
import type { RecordFlags } from "./command.ts";
import type { ModePlan } from "./mode.ts";
import { contentOf, type FolderContent, previewFolder } from "./folder.ts";
import {
  alteredNote,
  leftAloneNote,
  matchRulesNote,
  tooShortNote,
  unsetKeysNote,
  withheldRulesNote,
} from "./notes.ts";
import { nothingSentNote, unmetFaultNote } from "../serve/event_view.ts";
import type { EventOutput } from "../serve/server_run.ts";

interface BeginFacts {
  readonly mode: ModePlan;
  /** Content of the folder that is played; `null` if nothing is. */
  readonly played: FolderContent | null;
  readonly upstreams: readonly string[];
}

/** Returns the line that reports that the recorder listens at these places. */
export function beginNote(
  { mode, upstreams, played, places }: BeginFacts & {
    /** Address of the recorder, or its variables. */
    readonly places: string;
  },
): string {
  const { out, sends, sendsFor, unsent } = mode;
  const apis = upstreams.join(" and ");
  if (played === null) return `recording ${apis} at ${places} into "${out}"`;
  return `playing ${thereText(played, out)} at ${places}, and ` +
    (sends && sendsFor(out) ? `recording the rest from ${apis}` : `sending nothing: ${unsent.why}`);
}

/**
 * Prints what a recording would do.
 *
 * @throws {RepriseError} as `openRecording`.
 */
export async function preview(
  { ports, output }: Context,
  { command, flags, mode, played, upstreams }: BeginFacts & {
    readonly command: readonly string[];
    readonly flags: RecordFlags;
  },
): Promise<ExitCode> {
  const { out, unsent } = mode;
  const plays = played !== null;
  const sends = mode.sends && mode.sendsFor(out);
  const replaces = mode.mode === "all";
  const content = played ?? contentOf(ports.files, out);
  await previewFolder(ports, out, { grows: flags.append === true || plays || replaces, writes: sends });
  const { exchanges: before, tests } = content;
  const port = flags.port ?? 0;
  if (output.options.json) {
    const wrapped = command.length === 0 ? null : command;
    const there = { before, ...(tests === null ? {} : { tests }), ...(plays ? { sends } : {}) };
    const action = replaces ? "replace" : before === 0 ? "create" : "append";
    const writes = plays && !sends ? [] : plannedChanges(action, "fixture", [out]);
    const removes = mode.mode === "prune" ? plannedChanges("remove", "exchange", [out]) : [];
    const runs = wrapped === null ? [] : plannedChanges("run", "command", [commandLine(wrapped)]);
    output.json<"record-dry-run">(
      dryRunOf(
        "record",
        [...plannedChanges("listen", "process", upstreams), ...writes, ...removes, ...runs],
        {
          upstreams,
          out,
          port,
          ...there,
          command: wrapped,
        },
      ),
    );
    return 0;
  }
  const there = thereText(content, out);
  const apis = upstreams.join(" or ");
  const acts = !plays
    ? `forward requests to ${apis},\nand ${
      before === 0 ? `keep them in "${out}"` : `${replaces ? "replace" : "add them to"} ${there}`
    }`
    : sends
    ? `play ${there},\nforward other requests to ${apis}, and keep them there`
    : `play ${there},\nand answer other requests with a miss: ${unsent.why}` +
      (mode.mode === "prune" ? ";\nunused exchanges are removed" : "");
  const where = `${flags.host ?? "127.0.0.1"} (${port === 0 ? "any free port" : `port ${port}`})`;
  output.text(
    `Would listen on ${where}, ${acts}` +
      (command.length === 0 ? "" : `, while ${JSON.stringify(command[0])} runs`) + ". Nothing was done.\n",
  );
  return 0;
}

function thereText({ exchanges, tests }: FolderContent, out: string): string {
  const of = tests === null ? "" : ` of ${counted(tests, "test")}`;
  return `the ${counted(exchanges, "exchange")}${of} in "${out}"`;
}

/** Facts about an ended recording, besides the summary of its writers. */
interface EndFacts {
  readonly mode: ModePlan;
  /** Variables of a wrapped command that lead to the recorder; `null` without a command. */
  readonly variables: readonly string[] | null;
  /** Exit code of the command; 0 without a command. */
  readonly code: number;
  /** Error that ended the recording early. */
  readonly thrown: RepriseError | null;
  /** Variables with values that are too short to look for. */
  readonly tooShort: readonly string[];
  readonly tally: Tally;
  /** Key variables that are not set and that requests need. */
  readonly unsetKeys: readonly string[];
  /** True if the loss of each test was reported at its end. */
  readonly isReported: boolean;
}

/** Reports the end of a recording. @returns the exit code: that of the command first, then of the recording. */
export async function reportEnd(
  { output, events }: { readonly output: Output; readonly events: EventOutput<"record-event"> },
  summary: FolderSummary,
  facts: EndFacts,
): Promise<ExitCode> {
  const { total: sums, tests, failedIn, unmetFaults } = summary;
  const { mode, code, thrown, tally, isReported } = facts;
  const { out, plays, unsent } = mode;
  const { served: played, missed, turned_away } = tally.answers;
  const members = { ...sums, tally };
  const failed = sums.failure === null ? null : fileError(sums.failure.error, "record", failedIn);
  let error = thrown ?? failed ??
    (isReported ? null : lossOf(tally, { ...facts, unsent, before: sums.before }));
  const changes: string[] = [];
  if (error === null && code === 0) {
    try {
      changes.push(...await mode.finish(summary));
    } catch (thrown) {
      error = asRepriseError(thrown);
    }
  }
  const exitCode = (code !== 0 ? code : error?.exitCode ?? 0) as ExitCode;
  if (error !== null) {
    events.write({ ...error.toJSON(), type: "error" });
    if (!events.onStdout) output.errorLine(error.message, error.hint);
  }
  events.write({
    type: "record.ended",
    out,
    ...membersOf(members),
    turned_away,
    ...(plays ? { played, missed, error_answers: tally.errorAnswers } : {}),
    ...(tests === null
      ? {}
      : { tests: tests.map(({ test, ...summary }) => ({ test, ...membersOf(summary) })) }),
    exit_code: exitCode,
  });
  const notes = [
    exitCode === 0 ? null : unsetKeysNote(facts.unsetKeys),
    matchRulesNote(sums),
    withheldRulesNote(sums.withheldRules),
    alteredNote(sums.altered),
    tooShortNote(facts.tooShort),
    leftAloneNote(sums.leftAlone),
  ];
  for (const note of [...notes, ...changes]) if (note !== null) output.note(note);
  // Each test has reported its own, and the process of tests counts those of all its servers.
  if (!isReported) {
    for (const fault of unmetFaults) output.note(unmetFaultNote(fault));
    const answered = (plays ? `${played} played, ` : "") + (missed === 0 ? "" : `${missed} missed, `);
    output.note(
      mode.into !== out && exitCode !== 0
        ? `nothing in "${out}" was replaced`
        : `${answered}${endLine(members, out, tests?.length ?? null)}`,
    );
  }
  return output.closed ? output.closedExitCode : exitCode;
}

function membersOf({ before, tally, redactions, altered, ...summary }: RecordingSummary) {
  return {
    before,
    ...tally.exchanges,
    redactions,
    altered,
    left_alone: summary.leftAlone,
    match_rules: summary.matchRules,
    withheld_rules: summary.withheldRules,
  };
}

function endLine(
  { before, tally: { exchanges: { published, over_socket, dropped } }, redactions }: RecordingSummary,
  out: string,
  tests: number | null,
): string {
  const replaced = totalCount(redactions);
  const exchanges = counted(published, "exchange") +
    (over_socket === 0 ? "" : ` (${over_socket} over WebSocket)`);
  const of = tests === null ? "" : ` of ${counted(tests, "test")}`;
  return (before === 0
    ? `recorded ${exchanges}${of} into "${out}"`
    : `added ${exchanges} to the ${before}${of} in "${out}"`) +
    (dropped === 0 ? "" : `, ${dropped} left out`) +
    (replaced === 0 ? "" : `, ${counted(replaced, "secret")} replaced`);
}

/** Returns the error about requests that the fixture lacks; `null` if it lacks none. */
export function lossOf(
  { answers: { served, missed, turned_away, skipped }, exchanges, errorAnswers }: Tally,
  { code, variables, before, unsent }: Pick<EndFacts, "code" | "variables"> & Pick<ModePlan, "unsent"> & {
    readonly before: number;
  },
): RepriseError | null {
  const { published, dropped, refused, unkept } = exchanges;
  const lost = (code: ErrorCode, message: string, hint: string) => new RepriseError(code, message, { hint });
  const others = "The notes above name them and the reasons; every other exchange is in the fixture";
  if (refused > 0) {
    const hint = "The notes above name them and their secrets; nothing of them was kept";
    return lost("secret_left", `Cannot keep ${refused} of the exchanges: they still held a secret`, hint);
  }
  if (unkept > 0) {
    return lost(
      "not_kept",
      `Cannot keep ${counted(unkept, "exchange")}: no fixture can hold the answers`,
      others,
    );
  }
  if (turned_away > 0) {
    const were = turned_away === 1 ? "it was" : "they were";
    return lost("not_kept", `Cannot keep ${counted(turned_away, "request")}: ${were} turned away`, others);
  }
  if (missed > 0) {
    const hint = `${unsent.cure}; the notes above name the differences`;
    return lost("fixture_miss", `Cannot record ${counted(missed, "request")}: ${unsent.why}`, hint);
  }
  if (errorAnswers > 0) {
    const hint = "The notes above name them and the statuses; --keep-errors keeps errors too";
    return lost(
      "not_kept",
      `Cannot keep ${counted(errorAnswers, "exchange")}: the API answered with an error`,
      hint,
    );
  }
  if (code !== 0 || variables === null || published > 0) return null;
  if (served > 0 && dropped === 0) return null;
  const hint = dropped === 0
    ? nothingSentNote("recorder", { skipped, variables })
    : "The notes above say why each exchange was left out";
  const state = before === 0 ? "the fixture would hold no exchange" : "the fixture is unchanged";
  return lost("nothing_recorded", `Nothing was recorded: ${state}`, hint);
}
