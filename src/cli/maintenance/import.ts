/** The verb `import`: a session from an export. */
import type { ExitCode } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { openHome } from "../../store/home.ts";
import { importSession } from "../../store/transfer/import.ts";
import type { ImportFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import { exportSource } from "../export_source.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { countedChunks, Progress } from "../progress.ts";
import { dryRunOf, each } from "../dry_run.ts";

/** Performs `import`. */
export async function importVerb(ports: ProgramPorts, file: string, flags: ImportFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const source = exportSource(ports, file, "import");
  const home = openHome(ports, context.home.value, { create: false });
  const name = file === "-" ? "stdin" : file;
  const imported = await importSession(ports, home, {
    source: countedChunks(source, new Progress(output, ports), "importing"),
    ...{ name, dryRun },
  });
  const { id, path, turns, blobs, redacted } = imported;
  if (output.options.json) {
    const facts = { session: id, path, turns, blobs, redacted: redacted ?? null };
    output.json<"import">(
      dryRun ? dryRunOf("import", each("create", "session", [id]), facts) : { ...facts, dry_run: false },
    );
    return 0;
  }
  const what = (and: string) => `${counted(turns, "turn")}${and}${counted(blobs, "blob")}`;
  output.text(
    dryRun ? `Would import ${id}: ${what(", ")}, all sound. Nothing was done.\n` : `${id}\n`,
  );
  if (!dryRun) output.note(`imported ${what(" and ")}; see the session with "reprise show ${id}"`);
  return 0;
}
