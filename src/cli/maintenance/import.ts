/** The verb `import`: a session from an export. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { chunksOf } from "../../store/read/safe_open.ts";
import { openHome } from "../../store/home.ts";
import { importSession } from "../../store/transfer/import.ts";
import type { ImportFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import { otherKind } from "../settings.ts";
import type { ProgramPorts } from "../live_ports.ts";

/** Performs `import`. */
export async function importVerb(ports: ProgramPorts, file: string, flags: ImportFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const source = file === "-" ? readableStdin(ports) : fileChunks(ports, file);
  const home = openHome(ports, context.home.value, { create: false });
  const name = file === "-" ? "stdin" : file;
  const imported = await importSession(ports, home, { source, name, dryRun });
  const { id, path, turns, blobs, redacted } = imported;
  if (output.options.json) {
    output.json({ session: id, path, turns, blobs, redacted: redacted ?? null, dry_run: dryRun });
    return 0;
  }
  const what = (and: string) => `${counted(turns, "turn")}${and}${counted(blobs, "blob")}`;
  output.text(
    dryRun ? `Would import ${id}: ${what(", ")}, all sound. Nothing was done.\n` : `${id}\n`,
  );
  if (!dryRun) output.note(`imported ${what(" and ")}; see the session with "reprise show ${id}"`);
  return 0;
}

function readableStdin({ stdin }: ProgramPorts): AsyncIterable<Uint8Array> {
  if (stdin.isTerminal()) {
    throw new RepriseError("usage", "Cannot import from stdin: it is a terminal", {
      hint: "Name the file, or pipe it in",
    });
  }
  return stdin.readable;
}

function fileChunks(ports: Ports, path: string): Iterable<Uint8Array> {
  // A link to a file is fine: the user chose it.
  const kind = otherKind(path);
  if (kind === null && isThere(path)) return chunksOf(ports, path);
  const why = kind === null ? "no such file" : `it is ${kind}, not a file`;
  throw new RepriseError("usage", `Cannot import ${JSON.stringify(path)}: ${why}`, {
    hint: 'Name a file that "reprise export" wrote, or "-" for stdin',
  });
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
