/** Exports a session as one checksummed stream of lines, or as files. A stream never holds a whole blob in memory. */
import { RepriseError } from "../../domain/errors.ts";
import { GrowingSha256, sha256Hex } from "../../domain/hash.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ValueRedactor } from "../../domain/redact.ts";
import { checkSeal } from "../../domain/seal.ts";
import { type Turn, turnFileName } from "../../domain/turn.ts";
import {
  blobPath,
  existingBlobs,
  foreignContent,
  inspectBlob,
  lostBlobsIn,
  MAX_BLOB_BYTES,
} from "../blobs.ts";
import { CHUNK_BYTES, chunksOf, readSafely } from "../read/safe_open.ts";
import { orStorageError, sessionDamaged } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { isBlobName, pathsAt, type SessionPaths, sessionPaths, turnNumbers } from "../layout.ts";
import { readSession } from "../read/session.ts";
import { readTurnBytes } from "../read/turn_file.ts";
import type { SessionWriter } from "../write/writer.ts";
import { contentLines, encodeLine, EXPORT_FORMAT } from "./format.ts";
import { redactedChunks, type RedactedSession, redactSession } from "./redaction.ts";
import type { RedactionReport } from "../../schemas/maintenance.ts";

/** An export that is ready to be written. */
export interface SessionExport {
  readonly turns: number;
  readonly blobs: number;
  /** `null` without `redact`. */
  readonly redacted: RedactionReport | null;
  /** Number of omitted items whose content it holds. */
  readonly omitted: number;
  /**
   * The bytes, in order. Reading on throws {@linkcode RepriseError}s: `session_diverged` if the session changed
   * meanwhile, `session_damaged`, `storage_*`. The part written until then has no end line, and `import` refuses it.
   */
  readonly chunks: Iterable<Uint8Array>;
}

/**
 * Prepares the export of a session. The whole session is read and verified before the first byte is written.
 *
 * @throws {RepriseError} the errors of reading a session; `session_damaged` if a blob is missing.
 */
export function exportSession(
  ports: Ports,
  home: Home,
  { id, redact, known = null, emptied = unchanged }: {
    readonly id: SessionId;
    readonly redact: boolean;
    /** Takes the content out of omitted items, for an export with `redact`. */
    readonly emptied?: (turns: readonly Turn[]) => EmptiedTurns;
    /** Secrets to redact in addition to those recognised by their shape. */
    readonly known?: ValueRedactor | null;
  },
): SessionExport {
  const { turns: whole } = readSession(ports, home, id);
  const { omitted, ...without } = emptied(whole);
  const { turns, blobs: made } = redact ? without : unchanged(whole);
  const paths = sessionPaths(home.sessions, id);
  return orStorageError(`export session "${id}"`, paths.root, () => {
    const there = blobsThere(ports, paths, turns, made);
    const redacted = redact ? redactSession(ports, paths, { turns, whole, there, known }) : null;
    const source = { ports, paths, turns, blobs: [...there].sort(), redacted, known, made };
    return {
      turns: turns.length,
      blobs: there.size + made.size,
      redacted: redacted?.report ?? null,
      omitted: redact ? 0 : omitted,
      chunks: withEnd(linesOf(source)),
    };
  });
}

/** Turns whose omitted items have no content, and the blobs that only they name. */
interface EmptiedTurns {
  readonly turns: readonly Turn[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** Number of omitted items. */
  readonly omitted: number;
}

function unchanged(turns: readonly Turn[]): EmptiedTurns {
  return { turns, blobs: new Map(), omitted: 0 };
}

interface Source {
  readonly ports: Ports;
  readonly paths: SessionPaths;
  readonly turns: readonly Turn[];
  /** The names of all blobs, sorted. */
  readonly blobs: readonly string[];
  readonly redacted: RedactedSession | null;
  readonly known: ValueRedactor | null;
  /** Blobs that are not in the session, by their name. */
  readonly made: EmptiedTurns["blobs"];
}

/**
 * Names of the existing blobs that turns name. Left out are blobs that a turn records as lost, and missing or damaged
 * blobs that only records about old requests name.
 */
function blobsThere(
  ports: Ports,
  paths: SessionPaths,
  turns: readonly Turn[],
  made: EmptiedTurns["blobs"],
): Set<string> {
  const there = new Set<string>();
  const lost = new Set([...lostBlobsIn(turns), ...made.keys()]);
  for (const { sha256, needed } of existingBlobs(ports, paths, { turns, lost })) {
    // The content of a needed blob is verified while it is written.
    if (needed || inspectBlob(ports, paths, sha256).status === "ok") there.add(sha256);
  }
  return there;
}

function* linesOf(source: Source): Generator<Uint8Array> {
  const { paths, turns, redacted } = source;
  yield encodeLine({
    format: EXPORT_FORMAT,
    session: paths.id,
    turns: turns.length,
    ...(redacted === null ? {} : { redacted: redacted.report }),
  });
  for (const [index, turn] of turns.entries()) {
    const bytes = redacted?.turns[index]?.bytes ?? turnBytes(source, turn);
    yield encodeLine({
      path: `turns/${turnFileName(turn.turn)}`,
      bytes: bytes.length,
      sha256: sha256Hex(bytes),
    });
    yield* contentLines(slices(bytes), "text");
  }
  for (const { from, sha256, bytes, changed } of blobsToWrite(source)) {
    const path = blobPath(paths, from);
    yield encodeLine({ path: `blobs/${sha256}`, bytes, sha256 });
    const content = source.made.get(sha256);
    const stored = content === undefined ? chunksOf(source.ports, path) : [content];
    const chunks = changed ? redactedChunks(stored, source.known) : stored;
    yield* contentLines(checked(chunks, sha256, () => foreignContent(paths, path)), "base64");
  }
}

/** The bytes of a turn's file. Refuses a file that was replaced meanwhile: it would not fit the turns after it. */
function turnBytes({ ports, paths }: Source, turn: Turn): Uint8Array {
  const bytes = readTurnBytes(ports, paths, turn.turn);
  if (checkSeal(bytes) === turn.sum) return bytes;
  throw new RepriseError(
    "session_diverged",
    `Cannot export session "${paths.id}": turn ${turn.turn} was replaced meanwhile`,
    { hint: "Export it again" },
  );
}

/** The blobs in the order of their names; blobs that are equal after redaction are written once. */
function blobsToWrite({ ports, paths, blobs, redacted, made }: Source) {
  const written = new Map<string, { from: string; sha256: string; bytes: number; changed: boolean }>();
  for (const name of blobs) {
    const now = redacted?.blobs.get(name);
    const bytes = now?.bytes ?? ports.files.facts(blobPath(paths, name))?.size ?? 0;
    const sha256 = now?.sha256 ?? name;
    written.set(sha256, { from: name, sha256, bytes, changed: now !== undefined });
  }
  for (const [sha256, { length: bytes }] of made) {
    written.set(sha256, { from: sha256, sha256, bytes, changed: false });
  }
  return [...written.values()].sort((a, b) => a.sha256 < b.sha256 ? -1 : 1);
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** Yields the chunks, and throws at their end if the content is wrong. */
function* checked(
  chunks: Iterable<Uint8Array>,
  sha256: string,
  wrong: () => RepriseError,
): Generator<Uint8Array> {
  const hash = new GrowingSha256();
  yield* hash.appending(chunks);
  if (hash.hex() !== sha256) throw wrong();
}

function* withEnd(lines: Iterable<Uint8Array>): Generator<Uint8Array> {
  const hash = new GrowingSha256();
  yield* hash.appending(lines);
  yield encodeLine({ end: true, sha256: hash.hex() });
}

/** A file of a session: its path inside the session's directory, such as `turns/000001.json`. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * The files of a session as they are now: manifest, turns, blobs. Turns and blobs never change, so that their content
 * can be read later, one file at a time, whatever was added meanwhile. The writer must be open until then.
 *
 * @throws {RepriseError} `session_damaged` for anything but files of ours; `storage_*`. Reading on throws the same.
 */
export function snapshotSession(ports: Ports, { id, path }: SessionWriter): Iterable<StoredFile> {
  const paths = pathsAt(path, id);
  const tried = `copy session "${id}"`;
  const read = (name: string): StoredFile[] => {
    const full = `${paths.root}/${name}`;
    const file = orStorageError(tried, full, () => readSafely(ports, full, { maxBytes: MAX_BLOB_BYTES }));
    if (file.status === "refused") throw sessionDamaged(paths, full, file);
    return file.status === "missing" ? [] : [{ path: name, bytes: file.bytes }];
  };
  const { files } = ports;
  const names = (directory: string) =>
    orStorageError(tried, directory, () => files.facts(directory) === null ? [] : files.list(directory));
  const manifest = read("manifest.json");
  const rest = [
    ...turnNumbers(names(paths.turns)).map((turn) => `turns/${turnFileName(turn)}`),
    ...names(paths.blobs).filter(isBlobName).sort().map((name) => `blobs/${name}`),
  ];
  return {
    *[Symbol.iterator]() {
      yield* manifest;
      for (const name of rest) yield* read(name);
    },
  };
}
