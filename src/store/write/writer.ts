/**
 * The only writer of a session: it appends turns and blobs, and everything that it returns is durable.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { BlobRef } from "../../domain/event.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { SessionId } from "../../domain/ids.ts";
import { advanceManifest, encodeManifest, isOnlyLonger, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { encodeTurn, type Turn, type TurnDraft } from "../../domain/turn.ts";
import { blobPath, blobsOf, lostBlobsIn, MAX_BLOB_BYTES, publishBlob } from "../blobs.ts";
import { measureBytes } from "../byte_totals.ts";
import { type HistoryEnd, type OpenCall, parseCandidate } from "../read/validate.ts";
import { isTaken, orStorageError, storageError } from "../fs_errors.ts";
import {
  type History,
  noTurns,
  readBlobAt,
  readHistory,
  readRecent,
  requireSession,
} from "../read/session.ts";
import {
  displacedError,
  HeldDirectory,
  makeMissingBlobs,
  makeSessionDirectory,
  prepareSession,
  requireUnused,
  sweep,
} from "./session_directory.ts";
import type { Home } from "../home.ts";
import { type SessionPaths, sessionPaths, turnPath } from "../layout.ts";
import type { LockOptions } from "./file_lock.ts";
import { SessionLock } from "./lock.ts";
import {
  claimName,
  orSyncFailed,
  quarantineTurn,
  replaceCache,
  SyncFailed,
  unlinkQuietly,
  writeTemporary,
} from "./publish.ts";
import { lookForFile } from "../read/safe_open.ts";

/** The session to write to, and the wait for its lock. */
export interface WriterOptions extends Partial<LockOptions> {
  readonly id: SessionId;
}

/** Writes to one session, under its lock, until {@linkcode SessionWriter.close}. */
export class SessionWriter {
  readonly id: SessionId;
  /** The session's directory. */
  readonly path: string;
  readonly #ports: Ports;
  readonly #paths: SessionPaths;
  readonly #lock: SessionLock;
  /** `turns/` as it was opened, to notice when the session is moved or replaced. */
  readonly #turns: HeldDirectory;
  /** `blobs/` as it was opened: turns name its files. */
  readonly #blobsHeld: HeldDirectory;
  #history: History;
  readonly #blobs = new Set<string>();
  #manifest: Manifest | null;
  /** True if the manifest file lacks appended turns. */
  #manifestLags = false;
  /** Sizes of the session's files so far. */
  #bytes: NonNullable<Manifest["bytes"]>;
  /** Set once the writer can write nothing more. */
  #dead: RepriseError | null = null;
  #closed = false;

  private constructor(
    ports: Ports,
    paths: SessionPaths,
    held: {
      readonly lock: SessionLock;
      readonly turns: HeldDirectory;
      readonly blobs: HeldDirectory;
      readonly history: History;
    },
  ) {
    this.id = paths.id;
    this.path = paths.root;
    this.#ports = ports;
    this.#paths = paths;
    this.#lock = held.lock;
    this.#turns = held.turns;
    this.#blobsHeld = held.blobs;
    this.#history = held.history;
    this.#manifest = held.history.manifest;
    this.#bytes = this.#manifest?.bytes ?? measureBytes(ports, paths);
  }

  /**
   * Starts a session. Takes over the leftovers of a killed creation.
   *
   * @throws {RepriseError} `session_exists` if it has a turn, `session_locked`, `session_damaged`, `storage_*`.
   */
  static async create(ports: Ports, home: Home, options: WriterOptions): Promise<SessionWriter> {
    const paths = sessionPaths(home.sessions, options.id);
    orStorageError(`create session "${paths.id}"`, paths.root, () => {
      requireUnused(ports, paths);
      makeSessionDirectory(ports, home, paths);
    });
    return await SessionWriter.#underLock(ports, paths, options, {
      prepare: () => {
        requireUnused(ports, paths);
        sweep(ports, paths);
        prepareSession(ports, home, paths);
      },
      read: () => readHistory(ports, paths),
    });
  }

  /**
   * Opens a session for its next turns: lock, leftovers, then the turns that the next request needs, validated.
   *
   * @throws {RepriseError} `no_such_session`, `session_locked`, `session_damaged`, `format_too_new`, `storage_*`.
   */
  static async open(ports: Ports, home: Home, options: WriterOptions): Promise<SessionWriter> {
    const paths = sessionPaths(home.sessions, options.id);
    orStorageError(`open session "${paths.id}"`, paths.root, () => requireSession(ports, paths));
    return await SessionWriter.#underLock(ports, paths, options, {
      // A repair may have set aside every blob, or a user removed the directory.
      prepare: () => makeMissingBlobs(ports, paths),
      read: () => {
        const history = readRecent(ports, paths);
        if (history.manifest === null) throw noTurns(paths.id, paths.root);
        sweep(ports, paths);
        // A killed writer may have named the newest turn without making it durable.
        orSyncFailed(() => ports.files.syncDirectory(paths.turns));
        return history;
      },
    });
  }

  static async #underLock(
    ports: Ports,
    paths: SessionPaths,
    options: WriterOptions,
    { prepare = () => {}, read }: { readonly prepare?: () => void; readonly read: () => History },
  ): Promise<SessionWriter> {
    const lock = await SessionLock.acquire(ports, paths, { waitMs: 0, ...options });
    const held: HeldDirectory[] = [];
    try {
      return orStorageError(`open session "${paths.id}"`, paths.root, () => {
        prepare();
        // Before the turns are read: later turns must follow these.
        const [turns, blobs] = [paths.turns, paths.blobs].map((path) => {
          const directory = new HeldDirectory(ports, path);
          held.push(directory);
          return directory;
        }) as [HeldDirectory, HeldDirectory];
        return new SessionWriter(ports, paths, { lock, turns, blobs, history: read() });
      });
    } catch (error) {
      for (const directory of held) directory.close();
      lock.release();
      throw error;
    }
  }

  /** The manifest of all turns so far, which is in the file at the latest after {@linkcode close}; `null` before turn 1. */
  get manifest(): Manifest | null {
    return this.#manifest;
  }

  /**
   * The turns that the next request needs, oldest first, appended turns included: all turns, or those from the
   * checkpoint on (see {@linkcode readRecent}).
   */
  get turns(): readonly Turn[] {
    return this.#history.turns;
  }

  /**
   * All turns. Reads the older ones if a checkpoint made opening skip them.
   *
   * @throws {RepriseError} `session_damaged` if one of them is; `storage_*`.
   */
  allTurns(): readonly Turn[] {
    const { turns } = this.#history;
    if (turns.length !== this.end.turn) this.#history = readHistory(this.#ports, this.#paths);
    return this.#history.turns;
  }

  /** Reads a blob; `null` if it is lost. @throws {RepriseError} `session_damaged`, `storage_*`. */
  readBlob(sha256: string): Uint8Array | null {
    return readBlobAt(this.#ports, this.#paths, { sha256 });
  }

  /** Number, seq, sum and run of the newest turn. */
  get end(): HistoryEnd {
    return this.#history.validator.end;
  }

  /** Calls of completed responses without a result so far, oldest first. */
  openCalls(): OpenCall[] {
    return this.#history.validator.openCalls();
  }

  /**
   * Appends a turn. It is durable when this returns, and it is the turn that readers will get from the file. After a
   * failed fsync or a divergence nothing more is written.
   *
   * @throws {RepriseError} `session_diverged` if another writer took the number (the turn is in `quarantine/`), or when
   * the session's directory was moved or replaced (the turn is nowhere); `storage_full`, `storage_denied`, `storage_failed`.
   * @throws {TypeError} when the draft breaks the format.
   */
  append(draft: TurnDraft): Turn {
    const { validator, turns } = this.#history;
    const tried = `append turn ${validator.end.turn + 1} to session "${this.id}"`;
    this.#requireAlive(tried);
    const { bytes, turn } = this.#judged(draft, this.#ports.clock.now(), tried);
    this.#requireBlobs(turn, tried);
    this.#publish(turn, bytes, tried);
    validator.advance(turn);
    turns.push(turn);
    this.#bytes = { ...this.#bytes, turns: this.#bytes.turns + bytes.length };
    const before = this.#manifest;
    this.#manifest = { ...advanceManifest(before, this.id, turn), bytes: this.#bytes };
    this.#manifestLags = isOnlyLonger(before, this.#manifest);
    if (!this.#manifestLags) this.#cacheManifest();
    return turn;
  }

  /**
   * The turn that {@linkcode append} would write now, except for its time: for a request that includes a turn which may
   * never be written.
   *
   * @throws {RepriseError} `storage_failed` if it would be too large.
   * @throws {TypeError} when the draft breaks the format.
   */
  preview(draft: TurnDraft): Turn {
    return this.#judged(draft, 0, `preview a turn of session "${this.id}"`).turn;
  }

  #judged(draft: TurnDraft, now: number, tried: string): { readonly bytes: Uint8Array; readonly turn: Turn } {
    const { validator } = this.#history;
    const { bytes } = encodeTurn(draft, {
      session: this.id,
      turn: validator.end.turn + 1,
      firstSeq: validator.end.seq + 1,
      prev: validator.end.sum,
      at: new Date(now).toISOString(),
    });
    return { bytes, turn: parseCandidate(validator, bytes, tried) };
  }

  /**
   * Stores a large content under its sha256: durable when this returns, so that a turn may name it. The same
   * content twice is one blob.
   *
   * @throws {RepriseError} `session_damaged` if another content has that name; `session_diverged` if the
   * session's directory was moved or replaced; `storage_*`.
   */
  putBlob(bytes: Uint8Array, options: { readonly lossy?: boolean } = {}): BlobRef {
    const tried = `put a blob of ${counted(bytes.length, "byte")} into session "${this.id}"`;
    this.#requireAlive(tried);
    if (bytes.length > MAX_BLOB_BYTES) {
      throw new RepriseError("storage_failed", `Cannot ${tried}: the cap is ${MAX_BLOB_BYTES} bytes`, {
        hint: "Cut the content before it is kept",
      });
    }
    const sha256 = sha256Hex(bytes);
    if (!this.#blobs.has(sha256)) {
      try {
        const blob = { sha256, bytes, check: () => this.#requireInPlace(tried) };
        if (publishBlob(this.#ports, this.#paths, blob)) {
          this.#bytes = { ...this.#bytes, blobs: this.#bytes.blobs + bytes.length };
        }
      } catch (error) {
        throw this.#failed(error, tried, this.#paths.blobs);
      }
      this.#blobs.add(sha256);
    }
    return { sha256, bytes: bytes.length, ...(options.lossy === true ? { lossy: true } : {}) };
  }

  /** Releases the session for other writers. A second call does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#manifestLags && this.#dead === null) this.#cacheManifest();
    this.#dead ??= new RepriseError("unexpected", "The session was closed");
    this.#turns.close();
    this.#blobsHeld.close();
    this.#lock.release();
  }

  #publish(turn: Turn, bytes: Uint8Array, tried: string): void {
    const path = turnPath(this.#paths, turn.turn);
    let temporary: string | null = null;
    try {
      temporary = writeTemporary(this.#ports, this.#paths.root, { bytes, sync: true });
      // Checked between the temporary file and its name: after a replacement the link finds no temporary file.
      const check = () => this.#requireInPlace(tried);
      claimName(this.#ports, temporary, { path, directory: this.#paths.turns, check });
    } catch (error) {
      if (temporary !== null && isTaken(error)) throw this.#diverged({ turn, temporary }, tried);
      if (temporary !== null) unlinkQuietly(this.#ports.files, temporary);
      throw this.#failed(error, tried, path);
    }
  }

  #diverged(late: { readonly turn: Turn; readonly temporary: string }, tried: string): RepriseError {
    let kept: string;
    try {
      kept = `this turn is kept in ${quarantineTurn(this.#ports, this.#paths, late)}`;
    } catch (error) {
      kept = storageError(error, "keep this turn in quarantine/", late.temporary).message;
    }
    this.#dead = new RepriseError(
      "session_diverged",
      `Cannot ${tried}: another writer has used that number; ${kept}`,
      {
        hint: `Look at both with "reprise show ${this.id}", then run again`,
        details: { session: this.id, turn: late.turn.turn },
      },
    );
    return this.#dead;
  }

  /** Returns the error to throw. After a failed fsync the content of the disk is unknown, so nothing more is written. */
  #failed(error: unknown, tried: string, path: string): RepriseError {
    if (error instanceof SyncFailed) return this.#dead = storageError(error, tried, path);
    return this.#dead ?? this.#displacement(tried) ?? storageError(error, tried, path);
  }

  /** Stops the writer if the session's path or its `blobs/` no longer names the directory that was opened. */
  #requireInPlace(tried: string): void {
    const moved = this.#moved();
    if (moved !== null) throw this.#displaced(tried, moved);
  }

  /** The error to report if something failed because the directory is gone. */
  #displacement(tried: string): RepriseError | null {
    try {
      const moved = this.#moved();
      return moved === null ? null : this.#displaced(tried, moved);
    } catch {
      // The first failure is more specific.
      return null;
    }
  }

  /** Names the directory that was moved or replaced since it was opened. Throws the runtime's errors. */
  #moved(): "directory" | "blobs/" | null {
    if (!this.#turns.isInPlace()) return "directory";
    return this.#blobsHeld.isInPlace() ? null : "blobs/";
  }

  #displaced(tried: string, what: "directory" | "blobs/"): RepriseError {
    return this.#dead = displacedError(this, tried, what);
  }

  #requireAlive(tried: string): void {
    if (this.#dead === null) return;
    throw new RepriseError(
      this.#dead.code,
      `Cannot ${tried}: this writer has stopped. ${this.#dead.message}`,
      { hint: this.#dead.hint ?? "Open the session again", cause: this.#dead },
    );
  }

  #requireBlobs(turn: Turn, tried: string): void {
    for (const { sha256, needed, by } of blobsOf(turn)) {
      if (!needed || this.#blobs.has(sha256)) continue;
      const path = blobPath(this.#paths, sha256);
      const looked = orStorageError(tried, path, () => lookForFile(this.#ports, path));
      // A checkpoint copies the pins of a run, which may name blobs that are known to be lost.
      if (looked.status !== "ok" && !lostBlobsIn(readHistory(this.#ports, this.#paths).turns).has(sha256)) {
        throw new TypeError(`Cannot ${tried}: ${by} names the blob ${sha256}, which is not there`);
      }
      this.#blobs.add(sha256);
    }
  }

  /** Replaces the manifest. May fail: the turn is durable, and the next reader rebuilds a lagging manifest. */
  #cacheManifest(): void {
    if (this.#history.manifestIsNewer || this.#manifest === null) return;
    const { bytes } = encodeManifest(this.#manifest);
    try {
      const check = () => {
        if (!this.#turns.isInPlace()) throw new Error("The next append says why");
      };
      replaceCache(this.#ports, this.#paths.manifest, { bytes, directory: this.#paths.root, check });
    } catch {
      return;
    }
  }
}
