/** The verb `import`: a session from an export, or from a session of another agent. */
import { collectSource, MAX_LINE_BYTES, MAX_SOURCE_BYTES } from "../../agents/lines.ts";
import { outputIn, readerOf } from "../../agents/readers.ts";
import { concatBytes, decodeLatin1 } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { openHome } from "../../store/home.ts";
import type { ExportSource } from "../../store/transfer/reader.ts";
import { importSession } from "../../store/transfer/import.ts";
import { isZstd } from "../../transport/zstd_frames.ts";
import type { ImportFlags } from "./command.ts";
import { importAgent } from "./import_agent.ts";
import { homeToRead, makeContext } from "../context.ts";
import { exportSource } from "../export_source.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { countedChunks, Progress } from "../progress.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";

export async function importVerb(ports: ProgramPorts, file: string, flags: ImportFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const source = exportSource(ports, file, "import");
  const home = dryRun ? homeToRead(context) : openHome(ports, context.home.value, { create: false });
  const name = file === "-" ? "stdin" : file;
  const { start, whole } = await decompressedSource(await begunSource(source), {
    name,
    onCut: () => output.note(`${name} is cut or damaged: what comes before that is imported`),
  });
  const isOurs = isExportStart(start);
  const printed = isOurs ? null : outputIn(start);
  if (printed !== null) {
    const why = `it is the output of "${printed.command}", which has no prompts`;
    throw badSource(name, why, `Import the session itself: ${printed.session}`);
  }
  const reader = isOurs ? null : readerOf(start);
  if (reader !== null) {
    await importAgent(context, { reader, bytes: await collectSource(whole, name), name, home }, flags);
    return 0;
  }
  if (flags.trustOrigin !== undefined) {
    throw new RepriseError("usage", "Cannot use --trust-origin: the file is no session of another agent", {
      hint: "Import it without --trust-origin",
    });
  }
  if (!isOurs && /^(?:\xff\xfe|\xfe\xff)/.test(decodeLatin1(start.subarray(0, 2)))) {
    const hint = 'A shell rewrote it: let reprise write the file, with "reprise export ID FILE"';
    throw badSource(name, "it is in UTF-16", hint);
  }
  if (!isOurs) {
    throw badSource(
      name,
      `it is neither an export of reprise nor a session of ${AGENTS}`,
      `Name a file of "reprise export ID FILE", or a file in which ${AGENTS} keeps a session`,
    );
  }
  const imported = await importSession(ports, home, {
    source: countedChunks(whole, new Progress(output, ports), "importing"),
    name,
    dryRun,
  });
  const { id, path, turns, blobs, redacted } = imported;
  if (output.options.json) {
    const facts = { session: id, path, turns, blobs, redacted: redacted ?? null, from: null };
    const changes = plannedChanges("create", "session", [id]);
    output.json<"import">(changeDocument({ verb: "import", dryRun, changes }, facts));
    return 0;
  }
  const what = (and: string) => `${counted(turns, "turn")}${and}${counted(blobs, "blob")}`;
  output.text(
    dryRun ? `Would import ${id}: ${what(", ")}, all sound. Nothing was done.\n` : `${id}\n`,
  );
  if (!dryRun) output.note(`imported ${what(" and ")}; see the session with "reprise show ${id}"`);
  return 0;
}

function badSource(name: string, why: string, hint: string): RepriseError {
  return new RepriseError("bad_import", `Cannot import ${JSON.stringify(name)}: ${why}`, { hint });
}

/** Agents, for messages. */
const AGENTS = "Codex CLI, Claude Code or pi";

/** Bytes at the start of a source that show its format; more if the first line is longer. */
const START_BYTES = 1024 * 1024;

/** A source whose start is known. */
interface BegunSource {
  readonly start: Uint8Array;
  readonly whole: AsyncIterable<Uint8Array>;
}

/** True if a source begins as an export of ours does, also one that is cut short there. */
function isExportStart(start: Uint8Array): boolean {
  const begins = '{"format":"reprise.export/';
  const text = new TextDecoder().decode(start.subarray(0, begins.length));
  return text.startsWith(begins) || begins.startsWith(text);
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
  if (!isZstd(begun.start)) return begun;
  const { decodeStream } = await import("../../transport/content_coding.ts");
  const compressed = await collectSource(begun.whole, name);
  const chunks: Uint8Array[] = [];
  let [size, isCut] = [0, false];
  try {
    const source = ReadableStream.from([compressed]);
    for await (const chunk of decodeStream(source, ["zstd"], UNLIMITED)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_SOURCE_BYTES) break;
    }
  } catch {
    isCut = true;
  }
  if (size > MAX_SOURCE_BYTES) {
    throw badSource(name, `it has more than ${MAX_SOURCE_BYTES} bytes`, "Import a shorter session");
  }
  if (size === 0) throw badSource(name, "nothing of it can be decompressed", 'Check it with "zstd -t"');
  if (isCut) onCut();
  return await begunSource(chunks);
}

/** No limits of a decoder: the bytes are counted here. */
const UNLIMITED = { maxBytes: Infinity, freeBytes: Infinity };

/** Reads the start, and returns it with a source that begins there again. */
async function begunSource(source: ExportSource): Promise<BegunSource> {
  // A reader of files fills the same buffer again, and chunks are collected here.
  const chunks = (async function* () {
    for await (const chunk of source) yield chunk.slice();
  })();
  const read: Uint8Array[] = [];
  let size = 0;
  for (let hasLine = false; size < START_BYTES || !hasLine && size <= MAX_LINE_BYTES;) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    read.push(value);
    size += value.length;
    hasLine ||= value.includes(0x0a);
  }
  const start = concatBytes(read);
  const whole = (async function* () {
    yield start;
    yield* chunks;
  })();
  return { start, whole };
}
