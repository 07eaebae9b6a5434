/** The only writer of a session: it appends turns and blobs, and everything that it returns is durable. */
import { RepriseError } from "../../domain/errors.ts";
import type { BlobRef } from "../../domain/event.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { SessionId } from "../../domain/ids.ts";
import { advanceManifest, isOnlyLonger, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { encodeTurn, type Turn, type TurnDraft } from "../../domain/turn.ts";
import { lostBlobsIn, MAX_BLOB_BYTES, publishBlob, usedBlobs } from "../blobs.ts";
import { type HistoryEnd, type OpenCall, parseCandidate } from "../read/validate.ts";
import { orStorageError, storageError } from "../fs_errors.ts";
import {
  type History,
  noTurnsError,
  readBlobOrLost,
  readHistory,
  readRecent,
  requireSession,
} from "../read/session.ts";
import {
  displacedError,
  HeldSession,
  makeSessionDirectory,
  prepareSession,
  requireUnused,
  sweep,
} from "./session_directory.ts";
import type { Home } from "../home.ts";
import { measureBytes, type SessionPaths, sessionPaths, turnPath } from "../layout.ts";
import type { LockOptions } from "./file_lock.ts";
import { lockSession } from "./lock.ts";
import { ensureDurableDirectory, orSyncFailed, replaceManifest, SyncFailed } from "./publish.ts";
import { resolvePending } from "./pending.ts";
import type { TurnRemote } from "./turn_remote.ts";
import {
  divergence,
  type NewTurn,
  NumberTaken,
  publishTurn,
  publishTurnWith,
  requireBlobs,
} from "./turn_publisher.ts";

/** The session to write to, and the wait for its lock. */
export interface WriterOptions extends LockOptions {
  readonly id: SessionId;
  /** Decides about the number of each turn. */
  readonly remote?: TurnRemote | undefined;
}

/** A turn that follows the history, to be published. */
interface PreparedTurn extends NewTurn {
  readonly tried: string;
}

/** Writes to one session, under its lock, until it is closed. */
export class SessionWriter {
  readonly id: SessionId;
  readonly path: string;
  readonly #ports: Ports;
  readonly #paths: SessionPaths;
  readonly #held: HeldSession;
  #history: History;
  readonly #blobs = new Set<string>();
  readonly #remote: TurnRemote | null;
  #manifest: Manifest | null;
  /** True if the manifest file lacks appended turns. */
  #manifestLags = false;
  #bytes: NonNullable<Manifest["bytes"]>;
  /** True if the blobs may be others than those that were counted. */
  #mayMiscount = false;
  /** The reason why nothing more can be written. */
  #dead: RepriseError | null = null;
  #closed = false;

  private constructor(
    ports: Ports,
    paths: SessionPaths,
    { held, history, remote }: {
      readonly held: HeldSession;
      readonly history: History;
      readonly remote: TurnRemote | null;
    },
  ) {
    this.id = paths.id;
    this.path = paths.root;
    this.#ports = ports;
    this.#paths = paths;
    this.#held = held;
    this.#history = history;
    this.#remote = remote;
    this.#manifest = history.manifest;
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
    const writer = await SessionWriter.#underLock(ports, paths, options, {
      prepare: () => {
        requireUnused(ports, paths);
        sweep(ports, paths);
        prepareSession(ports, home, paths);
      },
      read: () => readHistory(ports, paths),
    });
    return await writer.#resolved(() => requireUnused(ports, paths));
  }

  /**
   * Opens a session for its next turns: lock, leftovers, then the turns that the next request needs, validated.
   *
   * @throws {RepriseError} `no_such_session`, `session_locked`, `session_damaged`, `format_too_new`, `storage_*`.
   */
  static async open(ports: Ports, home: Home, options: WriterOptions): Promise<SessionWriter> {
    const paths = sessionPaths(home.sessions, options.id);
    orStorageError(`open session "${paths.id}"`, paths.root, () => requireSession(ports, paths));
    const writer = await SessionWriter.#underLock(ports, paths, options, {
      // A repair may have set aside every blob, or a user removed the directory.
      prepare: () => ensureDurableDirectory(ports, paths.blobs),
      read: () => {
        const history = readRecent(ports, paths);
        if (history.manifest === null) throw noTurnsError(paths);
        sweep(ports, paths);
        // A killed writer may have named the newest turn without making it durable.
        orSyncFailed(() => ports.files.syncDirectory(paths.turns));
        return history;
      },
    });
    return await writer.#resolved();
  }

  async #resolved(check: () => void = () => {}): Promise<this> {
    const [ports, paths, remote] = [this.#ports, this.#paths, this.#remote];
    try {
      if (await resolvePending(ports, paths, { end: this.end, remote }) > 0) {
        check();
        this.#history = readRecent(ports, paths);
        this.#manifest = this.#history.manifest;
      }
      return this;
    } catch (error) {
      this.close();
      throw storageError(error, `resolve the waiting turns of session "${this.id}"`, paths.pending);
    }
  }

  static async #underLock(
    ports: Ports,
    paths: SessionPaths,
    options: WriterOptions,
    { prepare, read }: { readonly prepare: () => void; readonly read: () => History },
  ): Promise<SessionWriter> {
    const lock = await lockSession(ports, paths, options);
    let held: HeldSession | null = null;
    try {
      return orStorageError(`open session "${paths.id}"`, paths.root, () => {
        prepare();
        // Before the turns are read: later turns must follow these.
        held = new HeldSession(ports, paths, lock);
        return new SessionWriter(ports, paths, { held, history: read(), remote: options.remote ?? null });
      });
    } catch (error) {
      if (held === null) lock.release();
      else (held as HeldSession).close();
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
    return readBlobOrLost(this.#ports, this.#paths, sha256);
  }

  get end(): HistoryEnd {
    return this.#history.validator.end;
  }

  /** Calls of completed responses without a result so far, oldest first. */
  openCalls(): OpenCall[] {
    return this.#history.validator.openCalls();
  }

  /**
   * Appends a turn: first to the remote, if there is one. It is durable when this returns, and it is the turn that readers
   * will get from the file. After a failed fsync, a divergence, or an answer of the remote that did not come, nothing
   * more is written.
   *
   * @throws {RepriseError} as {@linkcode append} and {@linkcode TurnRemote.store} do.
   * @throws {TypeError} when the draft breaks the format.
   */
  async save(draft: TurnDraft): Promise<Turn> {
    if (this.#remote === null) return this.append(draft);
    const next = this.#prepared(draft);
    try {
      await publishTurnWith(this.#remote, this.#ports, this.#paths, next);
    } catch (error) {
      throw this.#unpublished(error, next);
    }
    return this.#appended(next);
  }

  /**
   * Appends a turn to this directory alone, otherwise as {@linkcode save} does.
   *
   * @throws {RepriseError} `session_diverged` if another writer took the number (the turn is in `quarantine/`), or when
   * the session's directory was moved or replaced (the turn is nowhere); `storage_full`, `storage_denied`, `storage_failed`.
   * @throws {TypeError} when the draft breaks the format.
   */
  append(draft: TurnDraft): Turn {
    const next = this.#prepared(draft);
    try {
      publishTurn(this.#ports, this.#paths, next);
    } catch (error) {
      throw this.#unpublished(error, next);
    }
    return this.#appended(next);
  }

  #prepared(draft: TurnDraft): PreparedTurn {
    const tried = `append turn ${this.end.turn + 1} to session "${this.id}"`;
    this.#requireAlive(tried);
    const { turn, bytes } = this.#judged(draft, this.#ports.clock.now(), tried);
    requireBlobs(this.#ports, this.#paths, { turn, known: this.#blobs, tried });
    return { turn, bytes, tried, check: () => this.#requireInPlace(tried) };
  }

  #appended({ turn, bytes }: NewTurn): Turn {
    const { validator, turns } = this.#history;
    validator.advance(turn);
    turns.push(turn);
    this.#bytes = { ...this.#bytes, turns: this.#bytes.turns + bytes.length };
    this.#mayMiscount ||= lostBlobsIn([turn]).size > 0;
    const before = this.#manifest;
    this.#manifest = advanceManifest(before, this.id, turn);
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

  #judged(draft: TurnDraft, now: number, tried: string): Pick<NewTurn, "turn" | "bytes"> {
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
        } else if (!usedBlobs(this.turns).has(sha256)) {
          // A writer that was killed before its turn may have left it, uncounted.
          this.#mayMiscount = true;
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
    this.#held.close();
  }

  /** Returns the error to throw if a turn was not published. */
  #unpublished(error: unknown, { turn, tried }: PreparedTurn): RepriseError {
    if (error instanceof NumberTaken) {
      return this.#dead = divergence(this.#ports, this.#paths, { turn, temporary: error.path }, tried);
    }
    // If the remote gave no answer, it may have the turn. Only the next writer can tell.
    if (error instanceof RepriseError) return this.#dead ??= error;
    return this.#failed(error, tried, turnPath(this.#paths, turn.turn));
  }

  /** Returns the error to throw. After a failed fsync the content of the disk is unknown, so nothing more is written. */
  #failed(error: unknown, tried: string, path: string): RepriseError {
    if (error instanceof SyncFailed) return this.#dead = storageError(error, tried, path);
    return this.#dead ?? this.#displacement(tried) ?? storageError(error, tried, path);
  }

  /** Stops the writer if the session's path or its `blobs/` no longer names the directory that was opened. */
  #requireInPlace(tried: string): void {
    const moved = this.#held.moved();
    if (moved !== null) throw this.#displaced(tried, moved);
  }

  /** The error to report if something failed because the directory is gone. */
  #displacement(tried: string): RepriseError | null {
    try {
      const moved = this.#held.moved();
      return moved === null ? null : this.#displaced(tried, moved);
    } catch {
      // The first failure is more specific.
      return null;
    }
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

  /** Replaces the manifest. May fail: the turn is durable, and the next reader rebuilds a lagging manifest. */
  #cacheManifest(): void {
    if (this.#history.manifestIsNewer || this.#manifest === null) return;
    try {
      if (this.#mayMiscount) this.#bytes = measureBytes(this.#ports, this.#paths);
      replaceManifest(this.#ports, this.#paths, { ...this.#manifest, bytes: this.#bytes }, () => {
        if (this.#held.moved() === "directory") throw new Error("The next append says why");
      });
    } catch { /* The turn is durable. */ }
  }
}
