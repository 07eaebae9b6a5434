/** The verb `export`: a session as one file. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { withoutOmittedContent } from "../../fold/omitted_content.ts";
import { omittedNote } from "../omitted.ts";
import { total, type ValueRedactor } from "../../domain/redact.ts";
import { fileError } from "../../store/fs_errors.ts";
import { parentOf, syncForeignDirectory } from "../../store/home.ts";
import { exportSession, type SessionExport } from "../../store/transfer/export.ts";
import { unlinkQuietly, writeChunks } from "../../store/write/publish.ts";
import type { ExportFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { countedChunksSync, Progress, reportingFiles } from "../progress.ts";
import { secretEnvironment } from "../secret_environment.ts";
import { sessionArgument } from "../sessions.ts";
import { requireDirectoryOf } from "../settings.ts";
import { dryRunOf, each } from "../dry_run.ts";

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
    ...{ id, redact, known, emptied: withoutOmittedContent },
  });
  // Written to a terminal, the export itself shows how far it is.
  const isShown = toStdout && !dryRun && output.stdoutIsTerminal;
  const chunks = countedChunksSync(exported.chunks, progress, "exporting");
  const made = isShown ? exported : { ...exported, chunks };
  const target = toStdout ? null : new ExportFile(ports, file);
  const bytes = dryRun ? sizeOf(made) : target === null ? print(context, made) : target.write(made.chunks);
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
    const changes = each("create", "file", toStdout ? [] : [file]);
    output.json<"export">(
      dryRun ? dryRunOf("export", changes, facts) : { ...facts, dry_run: false },
    );
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
export async function environmentSecrets(): Promise<ValueRedactor | null> {
  const { createScrubber } = await import("../../fixture/secrets/scrubber.ts");
  const { values } = secretEnvironment();
  // Marks of texts that only look like secrets say so.
  return values.length === 0 ? null : createScrubber({ values, shapes: false });
}

function sizeOf({ chunks }: SessionExport): number {
  let bytes = 0;
  for (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

function print({ output }: Context, { chunks }: SessionExport): number {
  let bytes = 0;
  for (const chunk of chunks) {
    output.bytes(chunk);
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
export function redactedKinds(counts: Readonly<Record<string, number>>): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`).join(", ");
  return kinds === "" ? "redacted nothing: no secret was found" : `redacted ${total(counts)}: ${kinds}`;
}

/** A file that replaces an older one when complete, readable only for its owner. */
export class ExportFile {
  readonly #ports: Ports;
  readonly #path: string;

  /** @throws {RepriseError} `usage` if something other than a file is at `path`, or its directory is missing. */
  constructor(ports: Ports, path: string) {
    this.#ports = ports;
    this.#path = path;
    requireDirectoryOf(path, `write ${JSON.stringify(path)}`);
    const kind = ports.files.facts(path)?.kind ?? "file";
    if (kind === "file") return;
    throw new RepriseError(
      "usage",
      `Cannot export to ${JSON.stringify(path)}: it is not a regular file`,
      {
        hint: "Name another file, or leave it out to get the export on stdout",
      },
    );
  }

  /**
   * Writes all of `chunks` durably and returns the number of bytes. An error leaves an older file unchanged.
   *
   * @throws {RepriseError} `storage_*`, and errors of `chunks`.
   */
  write(chunks: Iterable<Uint8Array>): number {
    const random = Math.floor(this.#ports.random() * 2 ** 48).toString(16);
    const temporary = `${this.#path}.part-${this.#ports.process.pid}-${random}`;
    let bytes = 0;
    const counted = function* () {
      for (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    try {
      writeChunks(this.#ports, temporary, counted());
      this.#ports.files.rename(temporary, this.#path);
      // The user may remove the session next, from another disk.
      syncForeignDirectory(this.#ports, parentOf(this.#path));
    } catch (error) {
      unlinkQuietly(this.#ports.files, temporary);
      throw fileError(error, "write the export", this.#path);
    }
    return bytes;
  }
}
