/** The verb `export`: a session as one file. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { withoutOmittedContent } from "../../fold/omitted_content.ts";
import { omittedNote } from "../omitted.ts";
import { totalCount, type ValueRedactor } from "../../domain/redact.ts";
import { exportSession, type SessionExport } from "../../store/transfer/export.ts";
import type { ExportFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { outputFile } from "../output_file.ts";
import { countedChunksSync, Progress, reportingFiles } from "../progress.ts";
import { secretEnvironment } from "../secret_environment.ts";
import { sessionArgument } from "../sessions.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";

/** Performs `export`. Without FILE, or for `-`, stdout is the file. */
export async function exportVerb(
  ports: ProgramPorts,
  selector: string,
  file: string | undefined,
  flags: ExportFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  if (flags.to !== undefined) {
    return (await import("./export_agent.ts")).exportToAgent(
      context,
      { selector, to: flags.to, file },
      flags,
    );
  }
  if (flags.output !== undefined) {
    throw new RepriseError("usage", "Cannot use --output: it is for --to", {
      hint: `reprise export ${selector} FILE`,
    });
  }
  const toStdout = file === undefined || file === "-";
  const dryRun = flags.dryRun === true;
  if (toStdout && output.options.json && !dryRun) {
    throw new RepriseError("usage", "Cannot export to stdout with --json: both would print there", {
      hint: "Give a FILE",
    });
  }
  const { home, id } = sessionArgument(context, selector);
  const redact = flags.redact === true;
  const progress = new Progress(output, ports);
  const known = redact ? await environmentSecrets() : null;
  const exported = exportSession(reportingFiles(ports, progress, () => "reading the session"), home, {
    id,
    redact,
    known,
    emptied: withoutOmittedContent,
  });
  // Written to a terminal, the export itself shows how far it is.
  const isShown = toStdout && !dryRun && output.stdoutIsTerminal;
  const chunks = countedChunksSync(exported.chunks, progress, "exporting");
  const made = isShown ? exported : { ...exported, chunks };
  const write = toStdout
    ? null
    : outputFile(ports, file, { what: "the export", force: flags.force === true });
  const take = (chunk: Uint8Array) => {
    if (!dryRun) output.bytes(chunk);
  };
  const bytes = write === null || dryRun ? lengthOf(made, take) : write(made.chunks);
  const facts = {
    session: id,
    file: toStdout ? null : file,
    bytes,
    turns: made.turns,
    blobs: made.blobs,
    redacted: made.redacted,
    omitted: made.omitted,
  };
  if (output.options.json) {
    const changes = plannedChanges("create", "file", toStdout ? [] : [file]);
    output.json<"export">(changeDocument({ verb: "export", dryRun, changes }, facts));
  } else {
    output.note(
      `${dryRun ? "would export" : "exported"} ${id}: ${counted(made.turns, "turn")}, ${
        counted(made.blobs, "blob")
      }, ${counted(bytes, "byte")}`,
    );
    for (const line of redactionLines(made)) output.note(line);
    if (made.omitted > 0) output.note(`${omittedNote(made.omitted)}: --redact drops their content`);
  }
  return 0;
}

/** The scrubber for secrets of the environment, as in recordings. */
async function environmentSecrets(): Promise<ValueRedactor | null> {
  const { Scrubber } = await import("../../fixture/secrets/scrubber.ts");
  const { values } = secretEnvironment();
  // Marks of texts that only look like secrets say so.
  return values.length === 0 ? null : new Scrubber({ values, shapes: false });
}

/** Passes the chunks on, and returns their length. */
function lengthOf({ chunks }: SessionExport, take: (chunk: Uint8Array) => void): number {
  let bytes = 0;
  for (const chunk of chunks) {
    take(chunk);
    bytes += chunk.length;
  }
  return bytes;
}

function redactionLines({ redacted }: SessionExport): string[] {
  if (redacted === null) return [];
  return [
    redactedKinds(redacted.kinds),
    ...redacted.turns.map(({ turn, kinds }) =>
      `  turn ${turn}: ${Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`).join(", ")}`
    ),
    "encrypted items were kept unchanged: only their provider can read them",
  ];
}

/** The replaced secrets by kind, as a line for people. */
function redactedKinds(counts: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ");
  return kinds === "" ? "redacted nothing: no secret was found" : `redacted ${totalCount(counts)}: ${kinds}`;
}
