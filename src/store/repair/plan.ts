/** Plans a repair without changing anything. */
import type { RepairAction } from "../../schemas/maintenance.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobPath, countsBlobs, inspectBlob, lostBlobsIn, usedBlobs } from "../blobs.ts";
import { type EntryFlaw, inspectEntry, sessionEntries, type SessionEntry } from "../check/entries.ts";
import { insideSession, type SessionPaths, turnPath } from "../layout.ts";
import { type ManifestFile, readManifest } from "../read/manifest.ts";
import { lookForFile } from "../read/safe_open.ts";
import { noTurnsError, requireSession } from "../read/session.ts";
import { quarantineNames } from "../write/publish.ts";
import { filesInTurns, type Reason, type TurnFile, turnsInQuarantine } from "./turn_files.ts";
import { rebuildHistory, type RebuiltHistory, UNKNOWN_INSTRUCTIONS, UNKNOWN_TOOLS } from "./history.ts";

export interface TurnPlacement {
  readonly path: string;
  /** The bytes of a replacement, or the file of a turn that is restored. */
  readonly content: Uint8Array | { readonly from: string };
}

/** A missing blob that a turn names. */
export interface LostBlob {
  readonly sha256: string;
  /** The first turn that names it, and the member with the name. */
  readonly turn: number;
  readonly by: string;
}

/** Intact copies from elsewhere of files that are damaged or missing here. */
export interface IntactCopies {
  readonly turns: readonly {
    readonly turn: Turn;
    readonly bytes: Uint8Array;
    /** Address for messages. */
    readonly from: string;
  }[];
  /** By their names. */
  readonly blobs: ReadonlyMap<string, { readonly bytes: Uint8Array; readonly from: string }>;
}

const NO_COPIES: IntactCopies = { turns: [], blobs: new Map() };

/** A planned repair. Without `actions` nothing has to change. */
export interface RepairPlan {
  readonly actions: readonly RepairAction[];
  /** Files that are replaced, each with the path at which it is kept. */
  readonly keep: ReadonlyMap<string, string>;
  /** Files that are only moved, each with its new path. */
  readonly move: ReadonlyMap<string, string>;
  /** Contents of new blobs: those that only replacements name, and copies from elsewhere. */
  readonly blobs: readonly Uint8Array[];
  readonly places: readonly TurnPlacement[];
  /** The new manifest, without `bytes`, or `null` if the file stays. */
  readonly manifest: Manifest | null;
  readonly modes: ReadonlyMap<string, number>;
  /** Lost blobs for the writer to record. */
  readonly lostBlobs: readonly LostBlob[];
  /** The history after the repair. */
  readonly turns: readonly Turn[];
  /** The open run, for the writer to close; `null` if no run is open. */
  readonly openRun: number | null;
}

/**
 * Plans the repair of a session: reads everything and changes nothing.
 *
 * @throws {RepriseError} `no_such_session`; `session_damaged` if its directories are not ours; `format_too_new`. The
 * runtime's errors.
 */
export function planRepair(ports: Ports, paths: SessionPaths, copies = NO_COPIES): RepairPlan {
  requireSession(ports, paths);
  const manifest = readManifest(ports, paths);
  const files = filesInTurns(ports, paths);
  const rebuilt = rebuildHistory({
    session: paths.id,
    files,
    copies: copies.turns.map(({ turn, bytes, from }) => ({
      path: from,
      place: null,
      turn,
      reason: null,
      bytes,
    })),
    quarantined: () => turnsInQuarantine(ports, paths),
    begun: files.length > 0 || manifest.status !== "missing",
    manifest: manifest.status === "ok" ? manifest.manifest : null,
    at: new Date(ports.clock.now()).toISOString(),
  });
  const turns = rebuilt.turns.map(({ turn }) => turn);
  if (turns.length === 0) throw noTurnsError(paths);
  const planner = new Planner(ports, paths, sessionEntries(ports, paths));
  const places = planner.placeTurns(files, rebuilt);
  planner.setAsideStrays(files, rebuilt);
  planner.setAsideBlobs();
  const blobs = [...pinnedByReplacements(rebuilt), ...planner.restoreBlobs(copies)];
  const { run, runEnded } = rebuilt.validator.end;
  return {
    actions: planner.actions,
    keep: planner.keep,
    move: planner.move,
    blobs,
    places,
    manifest: planner.rebuildManifest(turns, manifest, places.length + blobs.length > 0),
    modes: planner.fixModes(),
    lostBlobs: planner.lostBlobs(turns, new Set(blobs.map((bytes) => sha256Hex(bytes)))),
    turns,
    openRun: runEnded === true ? null : run,
  };
}

/** The contents that replacements pin if no other run's pins are known. */
function pinnedByReplacements({ turns }: RebuiltHistory): Uint8Array[] {
  const pinned = usedBlobs(turns.flatMap(({ turn, made }) => made === null ? [] : [turn]));
  return [UNKNOWN_INSTRUCTIONS, UNKNOWN_TOOLS].filter((bytes) => pinned.has(sha256Hex(bytes)));
}

/** Gathers the actions of a repair, in order, and the places in quarantine. */
class Planner {
  readonly actions: RepairAction[] = [];
  readonly keep = new Map<string, string>();
  readonly move = new Map<string, string>();
  readonly #ports: Ports;
  readonly #paths: SessionPaths;
  readonly #nameInQuarantine: (path: string) => string;
  readonly #entries: readonly SessionEntry[];
  readonly #flaws: readonly { readonly path: string; readonly flaw: EntryFlaw }[];

  constructor(ports: Ports, paths: SessionPaths, entries: readonly SessionEntry[]) {
    this.#ports = ports;
    this.#paths = paths;
    this.#entries = entries;
    this.#flaws = entries.flatMap((entry) =>
      inspectEntry(ports, entry).flaws.map((flaw) => ({ path: entry.path, flaw }))
    );
    this.#nameInQuarantine = quarantineNames(ports, paths);
  }

  /** Puts each turn of the history into the file of its number. */
  placeTurns(files: readonly TurnFile[], { turns, reasonOf }: RebuiltHistory): TurnPlacement[] {
    const there = new Set(files.map(({ path }) => path));
    const places: TurnPlacement[] = [];
    for (const { turn, file, made } of turns) {
      const path = turnPath(this.#paths, turn.turn);
      if (file?.path === path) continue;
      const about = {
        ...this.#about(path, reasonOf(turn.turn)),
        turn: turn.turn,
        ...(there.has(path) ? this.#quarantine(path, this.keep) : {}),
      };
      if (file !== null) {
        this.actions.push({ action: "restore", ...about, from: this.#inside(file.path) });
        places.push({ path, content: file.bytes ?? { from: file.path } });
      } else if (made !== null) {
        this.actions.push({ action: "replace", ...about, seq: turn.seq });
        places.push({ path, content: made.bytes });
      }
    }
    // If the file of a restored turn is replaced too, the turn is read from the kept copy.
    return places.map(({ path, content }) => ({
      path,
      content: content instanceof Uint8Array
        ? content
        : { from: this.keep.get(content.from) ?? content.from },
    }));
  }

  /** Sets aside turns that no number of the history needs, foreign entries, and temporary files of killed writers. */
  setAsideStrays(files: readonly TurnFile[], { turns, reasonOf }: RebuiltHistory): void {
    for (const { path, place } of files) {
      if (place !== null && place > turns.length) this.#setAside(path, reasonOf(place));
    }
    for (const { path, flaw } of this.#flaws) if (flaw.cure === "set_aside") this.#setAside(path, flaw);
  }

  /** Sets aside blobs whose content does not fit their name. Throws the runtime's errors. */
  setAsideBlobs(): void {
    for (const { path, role } of this.#entries) {
      if (role !== "blob") continue;
      const found = inspectBlob(this.#ports, this.#paths, path.slice(path.lastIndexOf("/") + 1));
      if (found.status === "bad") this.#setAside(path, found);
    }
  }

  /** Restores blobs from copies; returns their contents. */
  restoreBlobs({ blobs }: IntactCopies): Uint8Array[] {
    return [...blobs].flatMap(([sha256, { bytes, from }]) => {
      const path = blobPath(this.#paths, sha256);
      const found = inspectBlob(this.#ports, this.#paths, sha256);
      if (found.status === "ok") return [];
      this.actions.push({ action: "restore", ...this.#about(path, found), from });
      return [bytes];
    });
  }

  /** Missing blobs that turns name and that no turn records as lost yet. */
  lostBlobs(turns: readonly Turn[], made: ReadonlySet<string>): LostBlob[] {
    const recorded = lostBlobsIn(turns);
    const named = Array.from(usedBlobs(turns), ([sha256, { turn, by }]) => ({ sha256, turn, by }));
    return named.filter(({ sha256 }) => {
      if (recorded.has(sha256) || made.has(sha256)) return false;
      const path = blobPath(this.#paths, sha256);
      return this.#leaves(path) || lookForFile(this.#ports, path).status !== "ok";
    });
  }

  /** Returns the new manifest, without `bytes`, or `null` if the file stays. `changes`: turns or blobs get new contents. */
  rebuildManifest(turns: readonly Turn[], file: ManifestFile, changes: boolean): Manifest | null {
    if (file.status === "newer") return null;
    const head = file.status === "ok" ? file.manifest.head.turn : 0;
    let manifest: Manifest | null = null;
    let atHead = "";
    for (const turn of turns) {
      manifest = advanceManifest(manifest, this.#paths.id, turn);
      if (turn.turn === head) atHead = JSON.stringify(manifest);
    }
    if (manifest === null) return null;
    const path = this.#paths.manifest;
    const rebuild = (reason: Reason, previous?: Map<string, string>) => {
      const kept = previous === undefined ? {} : this.#quarantine(path, previous);
      this.actions.push({ action: "rebuild_manifest", ...this.#about(path, reason), ...kept });
    };
    switch (file.status) {
      case "ok":
        if (JSON.stringify({ ...file.manifest, bytes: undefined }) !== atHead) {
          rebuild({ code: "manifest_wrong", message: "does not say what the turns say" }, this.keep);
        } else if (head < turns.length) {
          rebuild({ code: "manifest_lags", message: "ends before the newest turn" });
          // Files with new contents have another size, which is no damage of the manifest.
        } else if (!changes && !this.#movesBlobs()) {
          if (this.#countsBytes(turns, file.manifest)) return null;
          rebuild({ code: "manifest_wrong", message: "does not have the size of the files" }, this.keep);
        }
        break;
      case "missing":
        rebuild({ code: "manifest_missing", message: "is missing" });
        break;
      case "garbled":
        rebuild({ code: "manifest_garbled", message: file.message }, this.keep);
        break;
      case "refused":
        rebuild(file, this.move);
        break;
    }
    return manifest;
  }

  #countsBytes(turns: readonly Turn[], { bytes }: Manifest): boolean {
    if (bytes === undefined) return true;
    const sizes = turns.map(({ turn }) => this.#ports.files.facts(turnPath(this.#paths, turn))?.size ?? 0);
    const blobs = { named: usedBlobs(turns).keys(), lost: lostBlobsIn(turns) };
    return bytes.turns === sizes.reduce((sum, size) => sum + size, 0) &&
      countsBlobs(this.#ports, this.#paths, bytes, blobs);
  }

  /** True if a blob moves to quarantine. */
  #movesBlobs(): boolean {
    return this.#entries.some(({ path, role }) => role === "blob" && this.#leaves(path));
  }

  /** Restores the modes of files and directories of ours. Returns the new mode of each path. */
  fixModes(): Map<string, number> {
    const modes = new Map<string, number>();
    for (const { path, flaw } of this.#flaws) {
      const { cure } = flaw;
      if (cure === null || cure === "set_aside" || this.#leaves(path)) continue;
      modes.set(path, cure.mode);
      this.actions.push({ action: "fix_mode", ...this.#about(path, flaw) });
    }
    return modes;
  }

  #setAside(path: string, reason: Reason): void {
    this.actions.push({
      action: "set_aside",
      ...this.#about(path, reason),
      ...this.#quarantine(path, this.move),
    });
  }

  /** Chooses a name in quarantine for `path` and notes it in `among`: the files to keep, or those to move. */
  #quarantine(path: string, among: Map<string, string>): { readonly kept: string } {
    const kept = this.#nameInQuarantine(path);
    among.set(path, kept);
    return { kept: this.#inside(kept) };
  }

  #about(path: string, { code, message }: Reason) {
    return { path: this.#inside(path), reason: code, message };
  }

  #inside(path: string): string {
    return path === this.#paths.root ? "." : insideSession(this.#paths, path);
  }

  #leaves(path: string): boolean {
    return this.keep.has(path) || this.move.has(path);
  }
}
