/** Reads an export for people. Loads no schema, so nothing that is read here may become part of a request. */
import { concatBytes } from "../../domain/bytes.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { turnFileName } from "../../domain/turn.ts";
import { MAX_BLOB_BYTES } from "../blobs.ts";
import { advanceLoosely } from "../read/manifest.ts";
import { type ShownSession, type ShownTurn, shownTurn } from "../read/show.ts";
import type { ShowProblem } from "../../schemas/parts.ts";
import { openEnvelope } from "../read/turn_file.ts";
import { BadExport } from "./format.ts";
import {
  badExport,
  ExportReader,
  type ExportSource,
  nextBlob,
  readContent,
  readExportHeader,
  readTurnFile,
} from "./reader.ts";

/**
 * Reads the turns of an export up to the first line that does not fit; that line becomes a problem of the session.
 *
 * @throws {RepriseError} `bad_export` if it does not begin as an export; `format_too_new`; the errors of `source`.
 */
export async function readExportForShow(
  source: ExportSource,
  { name, blobsOf }: {
    /** Name of the export: the path of the session in the result. */
    readonly name: string;
    /** Chooses the blobs to keep in memory, when all turns are read. */
    readonly blobsOf: (turns: readonly ShownTurn[]) => ReadonlySet<string>;
  },
): Promise<{
  readonly session: ShownSession;
  /** The requested blobs, by name. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}> {
  const reader = new ExportReader(source);
  const turns: ShownTurn[] = [];
  const problems: ShowProblem[] = [];
  const blobs = new Map<string, Uint8Array>();
  let manifest: Manifest | null = null;
  try {
    const header = await readExportHeader(reader, "show").catch((error) => {
      throw error instanceof BadExport
        ? badExport("show", { name, line: reader.number, cause: error })
        : error;
    });
    try {
      for (let number = 1; number <= header.turns; number++) {
        const file = openEnvelope(await readTurnFile(reader, number));
        if (file.status === "damaged") {
          problems.push({ path: `turns/${turnFileName(number)}`, message: file.message });
        } else {
          turns.push(shownTurn(number, file.value, file.newer));
          manifest = advanceLoosely(manifest, header.id, file) ?? manifest;
        }
      }
      await readBlobs(reader, blobsOf(turns), blobs);
    } catch (error) {
      if (!(error instanceof BadExport)) throw error;
      problems.push({ path: name, message: `line ${reader.number} ${error.message}` });
    }
    return { session: { id: header.id, path: name, manifest, turns, problems }, blobs };
  } finally {
    await reader.close();
  }
}

/** Reads the blobs up to the end of the export, and keeps the `wanted` ones. */
async function readBlobs(
  reader: ExportReader,
  wanted: ReadonlySet<string>,
  kept: Map<string, Uint8Array>,
): Promise<void> {
  for (let blob = await nextBlob(reader, ""); blob !== null; blob = await nextBlob(reader, blob.name)) {
    const { line, name } = blob;
    const isWanted = wanted.has(name);
    const pieces: Uint8Array[] = [];
    await readContent(reader, line, {
      most: MAX_BLOB_BYTES,
      take: (piece) => isWanted && pieces.push(piece),
    });
    if (isWanted) kept.set(name, concatBytes(pieces));
  }
  await reader.requireEnd();
}
