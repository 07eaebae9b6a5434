/** Begin of a recording as text: what it plays, sends and keeps, and what `--dry-run` prints. */
import { commandLine } from "../../tools/permission/shell_words.ts";
import type { ExitCode } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import type { Context } from "../context.ts";
import type { RecordFlags } from "./command.ts";
import type { ModePlan } from "./record_mode.ts";
import { contentOf, type FolderContent, previewFolder } from "./recording_folder.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";

/** Facts about a recording that begins. */
export interface BeginFacts {
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
