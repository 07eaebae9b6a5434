/**
 * Imports a session: only if every hash, every turn and all their links are valid. No text of the file becomes part of
 * a path, and the session is not visible before the end.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { addUsedBlobs, blobPath, lostBlobsIn, MAX_BLOB_BYTES, type UsedBlob } from "../blobs.ts";
import { storageError } from "../fs_errors.ts";
import { type Home, openHome } from "../home.ts";
import { sessionPaths, turnPath } from "../layout.ts";
import { Staging } from "../lifecycle/staging.ts";
import { ANY_LINEAGE, type Lineage, LineageSearch, mayHold } from "../read/lineage.ts";
import { parseTurn } from "../read/turn.ts";
import { HistoryValidator } from "../read/validate.ts";
import { BadExport } from "./format.ts";
import {
  badExport,
  countOf,
  type ExportHeader,
  ExportReader,
  type ExportSource,
  nextBlob,
  readContent,
  readExportHeader,
  readTurnFile,
} from "./reader.ts";

/**
 * Restores a session from an export. It is durable when this returns; a failure leaves nothing.
 *
 * @throws {RepriseError} `bad_export` with the line, `format_too_new`, `session_exists`, `storage_*`.
 */
export async function importSession(ports: Ports, home: Home, { source, name, dryRun }: {
  readonly source: ExportSource;
  /** Name of the export, for messages. */
  readonly name: string;
  /** Check everything and write nothing. */
  readonly dryRun: boolean;
}): Promise<{
  readonly id: SessionId;
  readonly path: string;
  readonly turns: number;
  readonly blobs: number;
  /** The header's report of the redaction; absent without one. */
  readonly redacted?: JsonObject;
}> {
  const reader = new ExportReader(source);
  let staging: Staging | null = null;
  try {
    const header = await readExportHeader(reader, "import");
    const { root } = sessionPaths(home.sessions, header.id);
    if (ports.files.facts(root) !== null) throw exists(header.id, root);
    if (!dryRun) {
      openHome(ports, home.path, { create: true });
      staging = await Staging.open(ports, home, header.id);
    }
    const { manifest, blobs } = await readFiles(reader, header, staging);
    const path = await staging?.publish(manifest) ?? root;
    const { id, turns, line } = header;
    const redacted = line.redacted as JsonObject | undefined;
    return { id, path, turns, blobs, ...(redacted === undefined ? {} : { redacted }) };
  } catch (error) {
    staging?.discard();
    if (error instanceof BadExport) throw badExport("import", { name, line: reader.number, cause: error });
    if (error instanceof TypeError) throw error;
    throw storageError(error, `import "${name}"`, home.sessions);
  } finally {
    await reader.close();
  }
}

function exists(id: SessionId, root: string): RepriseError {
  return new RepriseError("session_exists", `Cannot import session "${id}": "${root}" is there already`, {
    hint:
      `An import never overwrites: look at it with "reprise show ${id}", or remove it with "reprise rm ${id}"`,
    details: { session: id, path: root },
  });
}

/** Reads all files up to the end line. They must be in order: turns by number, then blobs by name. */
async function readFiles(
  reader: ExportReader,
  header: ExportHeader,
  staging: Staging | null,
): Promise<{ readonly manifest: Manifest; readonly blobs: number }> {
  const turns = new ImportedTurns(header.id);
  let blobs = 0;
  for (let number = 1; number <= header.turns; number++) {
    const bytes = await readTurnFile(reader, number);
    turns.add(bytes);
    staging?.write(turnPath(staging.paths, number), bytes);
  }
  for (let blob = await nextBlob(reader, ""); blob !== null; blob = await nextBlob(reader, blob.name)) {
    const { line, name } = blob;
    turns.requireNamed(name, countOf(line, "bytes", { least: 0, most: MAX_BLOB_BYTES }));
    const file = staging?.newFile(blobPath(staging.paths, name)) ?? null;
    const take = (piece: Uint8Array) => file?.write(piece);
    await filling(file, () => readContent(reader, line, { most: MAX_BLOB_BYTES, take }));
    blobs++;
  }
  const manifest = turns.finish();
  await reader.requireEnd();
  return { manifest, blobs };
}

/** Fills a file, or abandons it. */
async function filling(file: ReturnType<Staging["newFile"]> | null, fill: () => unknown): Promise<void> {
  try {
    await fill();
    file?.close();
  } catch (error) {
    file?.abandon();
    throw error;
  }
}

/** Collects the turns in order, and keeps only the facts that the end of the import needs. */
class ImportedTurns {
  readonly #id: SessionId;
  /** Writers are checked at the end: the lineage is known only after the fork turn. */
  readonly #validator: HistoryValidator;
  readonly #search: LineageSearch;
  #lineage: Lineage | null = null;
  readonly #foreign: { readonly number: number; readonly writer: string }[] = [];
  readonly #blobs = new Map<string, UsedBlob>();
  /** Blobs that the export holds. */
  readonly #there = new Set<string>();
  readonly #lost = new Set<string>();
  #manifest: Manifest | null = null;

  constructor(id: SessionId) {
    this.#id = id;
    this.#validator = new HistoryValidator(id, { lineage: () => ANY_LINEAGE });
    this.#search = new LineageSearch(id);
  }

  /**
   * Validates the bytes of the next turn's file.
   *
   * @throws {BadExport}; {@linkcode RepriseError} `format_too_new`.
   */
  add(bytes: Uint8Array): void {
    const number = this.#validator.end.turn + 1;
    const parsed = parseTurn(bytes);
    if (parsed.status === "newer") {
      throw new RepriseError("format_too_new", `Cannot import: turn ${number} ${parsed.message}`, {
        hint: "Use a newer version of reprise",
      });
    }
    if (parsed.status === "damaged") throw bad(number, parsed.message);
    const { turn } = parsed;
    const breach = this.#validator.check(turn).find(({ severity }) => severity === "error");
    if (breach !== undefined) throw bad(number, breach.message);
    if (number === 1 && !("pins" in turn && turn.pins !== undefined)) throw bad(number, "opens no run");
    this.#validator.advance(turn);
    this.#lineage ??= this.#search.look(number, turn as unknown as JsonObject);
    if (turn.session !== this.#id) this.#foreign.push({ number, writer: turn.session });
    this.#manifest = advanceManifest(this.#manifest, this.#id, turn);
    for (const sha256 of lostBlobsIn([turn])) this.#lost.add(sha256);
    addUsedBlobs(this.#blobs, turn);
  }

  /** Refuses a blob that no turn names, or whose size differs from a turn's record. */
  requireNamed(name: string, bytes: number): void {
    const blob = this.#blobs.get(name);
    if (blob === undefined) throw new BadExport("is a blob that no turn names");
    if ([...blob.sizes].some((size) => size !== bytes)) {
      throw new BadExport("gives its blob another size than a turn does");
    }
    this.#there.add(name);
  }

  /** Returns the manifest if nothing is missing and every turn is of this session or its lineage. */
  finish(): Manifest {
    const lineage = this.#lineage ?? this.#search.end();
    const foreign = this.#foreign.find((turn) => !mayHold(this.#id, turn, () => lineage));
    if (foreign !== undefined) {
      throw bad(foreign.number, `was written by session ${JSON.stringify(foreign.writer)}`);
    }
    for (const [name, { needed }] of this.#blobs) {
      if (needed && !this.#there.has(name) && !this.#lost.has(name)) {
        throw new BadExport(`comes before the blob ${name}, which a turn names`);
      }
    }
    return this.#manifest as Manifest;
  }
}

function bad(number: number, message: string): BadExport {
  return new BadExport(`ends turn ${number}, which ${message}`);
}
