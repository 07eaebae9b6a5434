/** The verb `import`: a session from an export, or from a session of another agent. */
import { collectSource, isZstd, MAX_SOURCE_BYTES } from "../../agents/lines.ts";
import { readerOf } from "../../agents/readers.ts";
import { concatBytes } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { openHome } from "../../store/home.ts";
import type { ExportSource } from "../../store/transfer/reader.ts";
import { importSession } from "../../store/transfer/import.ts";
import type { ImportFlags } from "./command.ts";
import { importAgent } from "./import_agent.ts";
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
  const { firstLine, whole } = await decompressedSource(await firstLineOf(source), {
    name,
    onCut: () => output.note(`${name} is cut or damaged: what comes before that is imported`),
  });
  const reader = readerOf(firstLine);
  if (reader !== null) {
    await importAgent(context, { reader, bytes: await collectSource(whole, name), name, home }, flags);
    return 0;
  }
  if (flags.trustOrigin !== undefined) {
    throw new RepriseError("usage", "Cannot use --trust-origin: the file is no session of another agent", {
      hint: "Import it without --trust-origin",
    });
  }
  const imported = await importSession(ports, home, {
    source: countedChunks(whole, new Progress(output, ports), "importing"),
    ...{ name, dryRun },
  });
  const { id, path, turns, blobs, redacted } = imported;
  if (output.options.json) {
    const facts = { session: id, path, turns, blobs, redacted: redacted ?? null, from: null };
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

/** Most bytes that are read to find the first line. */
const MAX_FIRST_LINE = 1024 * 1024;

/** A source whose first line is known. */
interface BegunSource {
  readonly firstLine: Uint8Array;
  readonly whole: AsyncIterable<Uint8Array>;
}

/**
 * Decompresses a source that is compressed with zstd.
 *
 * @throws {RepriseError} `bad_import` if it holds nothing that can be read, or too much.
 */
async function decompressedSource(
  begun: BegunSource,
  { name, onCut }: { readonly name: string; readonly onCut: () => void },
): Promise<BegunSource> {
  if (!isZstd(begun.firstLine)) return begun;
  const { decompressed } = await import("../../agents/zstd.ts");
  const found = decompressed(await collectSource(begun.whole, name), MAX_SOURCE_BYTES);
  if (found === null || found.bytes.length === 0) {
    const why = found === null
      ? `it has more than ${MAX_SOURCE_BYTES} bytes`
      : "nothing of it can be decompressed";
    throw new RepriseError("bad_import", `Cannot import ${JSON.stringify(name)}: ${why}`, {
      hint: 'Check it with "zstd -t"',
    });
  }
  if (found.isCut) onCut();
  return await firstLineOf([found.bytes]);
}

/** Reads until the first line is whole, and returns it with a source that begins at the start again. */
async function firstLineOf(source: ExportSource): Promise<BegunSource> {
  const chunks = (async function* () {
    yield* source;
  })();
  let start = new Uint8Array();
  while (!start.includes(0x0a) && start.length < MAX_FIRST_LINE) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    start = concatBytes([start, value]);
  }
  const end = start.indexOf(0x0a);
  const whole = (async function* () {
    yield start;
    yield* chunks;
  })();
  return { firstLine: end === -1 ? start : start.subarray(0, end), whole };
}
