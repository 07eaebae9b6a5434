/** Reads the lines of an export one after the other, and checks what they say about files: order, sizes and sums. */
import { concatBytes } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import { GrowingSha256 } from "../../domain/hash.ts";
import { isSessionId, type SessionId } from "../../domain/ids.ts";
import { type JsonObject, numberMember, stringMember } from "../../domain/json.ts";
import { turnFileName } from "../../domain/turn.ts";
import { isBlobName } from "../layout.ts";
import { formatVersion, MAX_TURN_BYTES } from "../read/turn_file.ts";
import { BadExport, EXPORT_FORMAT, exportLines, lineContent, parseLine } from "./format.ts";

export type ExportSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads the lines of an export, with their numbers and the hash of all previous lines. */
export class ExportReader {
  readonly #lines: AsyncIterator<Uint8Array>;
  #hash = new GrowingSha256();
  /** The number of the line that was read last. */
  number = 0;

  constructor(source: ExportSource) {
    this.#lines = exportLines(source);
  }

  /** Returns the next line, and the hash of all lines before it. */
  async next(): Promise<{ readonly line: JsonObject; readonly before: string }> {
    this.number++;
    const { done, value } = await this.#lines.next();
    if (done === true) throw new BadExport("is missing: the file is cut short");
    const before = this.#hash.hex();
    this.#hash.append(value);
    return { line: parseLine(value), before };
  }

  /** Stops reading, so that the source releases its resources. */
  async close(): Promise<void> {
    await this.#lines.return?.();
  }

  /** Checks that nothing follows. */
  async requireEnd(): Promise<void> {
    this.number++;
    if ((await this.#lines.next()).done !== true) throw new BadExport("comes after the end");
  }
}

/** The first line of an export. */
export interface ExportHeader {
  readonly id: SessionId;
  readonly turns: number;
  readonly line: JsonObject;
}

/**
 * Reads the first line.
 *
 * @throws {BadExport} if it is no header; {@linkcode RepriseError} `format_too_new`.
 */
export async function readExportHeader(reader: ExportReader, does: "import" | "show"): Promise<ExportHeader> {
  const { line } = await reader.next();
  const version = formatVersion(line, "reprise.export");
  if (version === null) throw new BadExport(`does not name the format "${EXPORT_FORMAT}"`);
  if (version > 1) {
    throw new RepriseError(
      "format_too_new",
      `Cannot ${does} the export: its format is "reprise.export/${version}"`,
      { hint: "Use a newer version of reprise" },
    );
  }
  const id = stringMember(line, "session") ?? "";
  if (!isSessionId(id)) throw new BadExport("names no session id");
  return { id, turns: countOf(line, "turns", { least: 1, most: Number.MAX_SAFE_INTEGER }), line };
}

/** A count in a line. @throws {BadExport} if it is absent or out of range. */
export function countOf(
  line: JsonObject,
  name: string,
  { least, most }: { least: number; most: number },
): number {
  const value = numberMember(line, name);
  if (value === undefined || !Number.isSafeInteger(value) || value < least || value > most) {
    throw new BadExport(`has no ${JSON.stringify(name)} from ${least} to ${most}`);
  }
  return value;
}

/** Reads the file of turn `number`, which comes next. @throws {BadExport} */
export async function readTurnFile(reader: ExportReader, number: number): Promise<Uint8Array> {
  const { line } = await reader.next();
  const path = `turns/${turnFileName(number)}`;
  if (line.path !== path) throw new BadExport(`is not the file ${JSON.stringify(path)}, which comes next`);
  const pieces: Uint8Array[] = [];
  await readContent(reader, line, { most: MAX_TURN_BYTES, take: (piece) => pieces.push(piece) });
  return concatBytes(pieces);
}

/** Reads the line of the blob after blob `after`; `null` at the end of the export. @throws {BadExport} */
export async function nextBlob(
  reader: ExportReader,
  after: string,
): Promise<{ readonly line: JsonObject; readonly name: string } | null> {
  const { line, before } = await reader.next();
  if (line.end === true) {
    if (line.sha256 !== before) throw new BadExport("does not fit the lines before it: they were altered");
    return null;
  }
  const path = stringMember(line, "path") ?? "";
  const name = path.slice("blobs/".length);
  if (!path.startsWith("blobs/") || !isBlobName(name)) throw new BadExport("is neither a blob nor the end");
  if (name <= after) throw new BadExport("is a blob out of order, or one that was there before");
  if (line.sha256 !== name) throw new BadExport("gives its blob another sha256 than its name");
  return { line, name };
}

/** Reads the content lines of one file; throws if they do not fit the file's line. */
export async function readContent(
  reader: ExportReader,
  line: JsonObject,
  { most, take }: { readonly most: number; readonly take: (piece: Uint8Array) => void },
): Promise<void> {
  const size = countOf(line, "bytes", { least: 0, most });
  const hash = new GrowingSha256();
  for (let rest = size; rest > 0;) {
    const piece = lineContent((await reader.next()).line);
    if (piece.length === 0 || piece.length > rest) {
      throw new BadExport("has no content, or more than its file has left");
    }
    hash.append(piece);
    take(piece);
    rest -= piece.length;
  }
  if (hash.hex() !== line.sha256) throw new BadExport("ends a file that does not fit its sha256");
}

/** The error about an export that cannot be used. */
export function badExport(
  does: "import" | "show",
  { name, line, cause }: { readonly name: string; readonly line: number; readonly cause: BadExport },
): RepriseError {
  return new RepriseError(
    "bad_export",
    `Cannot ${does} ${JSON.stringify(name)}: line ${line} ${cause.message}`,
    {
      hint: does === "import"
        ? "Export the session again; nothing of it was kept"
        : 'Name a file that "reprise export ID FILE" wrote',
      details: { line },
    },
  );
}
