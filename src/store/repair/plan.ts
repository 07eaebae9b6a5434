/**
 * What a repair would do, decided without changing anything.
 *
 * @module
 */
import { sha256Hex } from "../../domain/hash.ts";
import { advanceManifest, encodeManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobPath, blobsOf, inspectBlob, lostBlobsIn } from "../blobs.ts";
import {
  DIRECTORY_MODE,
  FILE_MODE,
  insideSession,
  isBlobName,
  isTemporaryName,
  type SessionPaths,
  turnPath,
} from "../layout.ts";
import { type ManifestFile, readManifest } from "../read/manifest.ts";
import { lookForDirectory, lookForFile } from "../read/safe_open.ts";
import { noTurns, requireSession } from "../read/session.ts";
import { QuarantineNames } from "../write/publish.ts";
import { rebuildHistory, type RebuiltHistory, UNKNOWN_INSTRUCTIONS, UNKNOWN_TOOLS } from "./history.ts";
import { filesInTurns, type Reason, type TurnFile, turnsInQuarantine } from "./input.ts";

/** A turn file to write. */
export interface TurnPlacement {
  readonly path: string;
  /** The bytes of a replacement, or the file of a turn that is restored. */
  readonly content: Uint8Array | { readonly from: string };
}

/** A repair, ready to be done. Without `actions` the files are as they should be. */
export interface RepairPlan {
  readonly actions: readonly RepairAction[];
  /** Files whose place is taken: they get the second path as another name first. */
  readonly keep: ReadonlyMap<string, string>;
  /** Files that only move. */
  readonly move: ReadonlyMap<string, string>;
  /** What replacements name and nobody has. */
  readonly blobs: readonly Uint8Array[];
  readonly places: readonly TurnPlacement[];
  /** The manifest's new bytes, or `null` where it stays. */
  readonly manifest: Uint8Array | null;
  readonly modes: ReadonlyMap<string, number>;
  /** Blobs that turns name and nobody has any more: for the writer to record. */
  readonly lostBlobs: readonly LostBlob[];
  /** The history as it is afterwards. */
  readonly turns: readonly Turn[];
  /** The run that was left open, for the writer to close; `null` when none was. */
  readonly openRun: number | null;
}

/**
 * Plans the repair of a session, reading everything and changing nothing.
 *
 * @throws {RepriseError} `no_such_session`; `session_damaged` when its directories are none of ours;
 * `format_too_new`. The runtime's errors.
 */
export function planRepair(ports: Ports, paths: SessionPaths): RepairPlan {
  requireSession(ports, paths);
  const manifest = readManifest(ports, paths);
  const files = filesInTurns(ports, paths);
  const mended = rebuildHistory({
    session: paths.id,
    files,
    quarantined: () => turnsInQuarantine(ports, paths),
    begun: files.length > 0 || manifest.status !== "missing",
    manifest: manifest.status === "ok" ? manifest.manifest : null,
    at: new Date(ports.clock.now()).toISOString(),
  });
  const turns = mended.places.map(({ turn }) => turn);
  if (turns.length === 0) throw noTurns(paths.id, paths.root);
  const draft = new PendingRepair(ports, paths);
  const places = planTurns(draft, files, mended);
  planStrays(draft, files, mended);
  planBlobs(draft);
  const blobs = pinnedByReplacements(mended);
  const { run, runEnded } = mended.validator.end;
  return {
    actions: draft.actions,
    keep: draft.keep,
    move: draft.move,
    blobs,
    places,
    manifest: planManifest(draft, turns, manifest),
    modes: planModes(draft, files),
    lostBlobs: lostBlobs(draft, turns, new Set(blobs.map((bytes) => sha256Hex(bytes)))),
    turns,
    openRun: runEnded === true ? null : run,
  };
}

function planTurns(
  draft: PendingRepair,
  files: readonly TurnFile[],
  mended: RebuiltHistory,
): TurnPlacement[] {
  const there = new Set(files.map(({ path }) => path));
  const placings: TurnPlacement[] = [];
  for (const { turn, file, made } of mended.places) {
    const path = turnPath(draft.paths, turn.turn);
    if (file?.path === path) continue;
    const { code, message } = mended.reasonOf(turn.turn);
    const kept = there.has(path) ? draft.keepFile(path) : {};
    const about = { path: draft.inside(path), reason: code, message, turn: turn.turn, ...kept };
    if (file !== null) {
      draft.actions.push({ action: "restore", ...about, from: draft.inside(file.path) });
      placings.push({ path, content: { from: file.path } });
    } else if (made !== null) {
      draft.actions.push({ action: "replace", ...about, seq: turn.seq });
      placings.push({ path, content: made.bytes });
    }
  }
  // What a file held whose own place is taken is read where it is kept.
  return placings.map(({ path, content }) => ({
    path,
    content: content instanceof Uint8Array ? content : { from: draft.keep.get(content.from) ?? content.from },
  }));
}

/** Files in `turns/` that no number of the history needs, and temporary files of killed writers. */
function planStrays(
  draft: PendingRepair,
  files: readonly TurnFile[],
  { places, reasonOf }: RebuiltHistory,
): void {
  for (const { path, place } of files) {
    if (place === null) draft.setAside(path, { code: "foreign_file", message: "is not the name of a turn" });
    else if (place > places.length) draft.setAside(path, reasonOf(place));
  }
  const { ports, paths } = draft;
  for (const name of ports.files.list(paths.root).filter(isTemporaryName).sort()) {
    const message = "was left by a killed writer";
    draft.setAside(`${paths.root}/${name}`, { code: "leftover", message });
  }
}

/** The contents that a replacement pins where no other run says better ones. */
function pinnedByReplacements({ places }: RebuiltHistory): Uint8Array[] {
  const pinned = new Set(
    places.flatMap(({ turn, made }) => made === null ? [] : blobsOf(turn)).map(({ sha256 }) => sha256),
  );
  return [UNKNOWN_INSTRUCTIONS, UNKNOWN_TOOLS].filter((bytes) => pinned.has(sha256Hex(bytes)));
}

/** Sets aside blobs with another content than their name says, and what is no file. Throws the runtime's errors. */
export function planBlobs(draft: PendingRepair): void {
  for (const path of blobFiles(draft)) {
    const found = inspectBlob(draft.ports, draft.paths, path.slice(path.lastIndexOf("/") + 1));
    if (found.status === "bad") draft.setAside(path, found);
  }
}

/** A blob that a turn names and that is gone. */
export interface LostBlob {
  readonly sha256: string;
  /** The first turn that names it, and with which member. */
  readonly turn: number;
  readonly by: string;
}

/** Blobs that turns name, that are not there, and of which no turn says so yet. */
export function lostBlobs(
  draft: PendingRepair,
  turns: readonly Turn[],
  made: ReadonlySet<string>,
): LostBlob[] {
  const recorded = lostBlobsIn(turns);
  const named = new Map<string, LostBlob>();
  for (const turn of turns) {
    for (const { sha256, by } of blobsOf(turn)) {
      if (!named.has(sha256)) named.set(sha256, { sha256, turn: turn.turn, by });
    }
  }
  return [...named.values()].filter(({ sha256 }) => {
    if (recorded.has(sha256) || made.has(sha256)) return false;
    const path = blobPath(draft.paths, sha256);
    return draft.leaves(path) || lookForFile(draft.ports, path).status !== "ok";
  });
}

/** The manifest's new bytes, or `null` where the file stays as it is. */
export function planManifest(
  draft: PendingRepair,
  turns: readonly Turn[],
  file: ManifestFile,
): Uint8Array | null {
  if (file.status === "newer") return null;
  const head = file.status === "ok" ? file.manifest.head.turn : 0;
  let manifest: Manifest | null = null;
  let atHead = "";
  for (const turn of turns) {
    manifest = advanceManifest(manifest, draft.paths.id, turn);
    if (turn.turn === head) atHead = JSON.stringify(manifest);
  }
  if (manifest === null) return null;
  const path = draft.paths.manifest;
  const rebuild = ({ code, message }: Reason, kept: { readonly kept?: string } = {}) => {
    const about = { path: draft.inside(path), reason: code, message };
    draft.actions.push({ action: "rebuild_manifest", ...about, ...kept });
  };
  switch (file.status) {
    case "ok":
      if (JSON.stringify(file.manifest) !== atHead) {
        const found = { code: "manifest_wrong", message: "does not say what the turns say" };
        rebuild(found, draft.keepFile(path));
      } else if (head < turns.length) {
        rebuild({ code: "manifest_lags", message: "ends before the newest turn" });
      } else return null;
      break;
    case "missing":
      rebuild({ code: "manifest_missing", message: "is missing" });
      break;
    case "garbled":
      rebuild({ code: "manifest_garbled", message: file.message }, draft.keepFile(path));
      break;
    case "refused":
      rebuild(file, draft.moveFile(path));
      break;
  }
  return encodeManifest(manifest).bytes;
}

/** Gives files and directories of ours their modes back. Returns the mode of each path. */
export function planModes(draft: PendingRepair, files: readonly TurnFile[]): Map<string, number> {
  const { root, turns, blobs, quarantine, manifest, lock } = draft.paths;
  const modes = new Map<string, number>();
  const want = (path: string, mode: number) => {
    const look = mode === DIRECTORY_MODE ? lookForDirectory : lookForFile;
    const looked = look(draft.ports, path);
    if (looked.status !== "ok" || draft.leaves(path)) return;
    const found = looked.facts.mode;
    if (found === null || (found & 0o777) === mode) return;
    modes.set(path, mode);
    draft.actions.push({
      action: "fix_mode",
      path: draft.inside(path),
      reason: "wrong_mode",
      message: `has mode ${(found & 0o777).toString(8).padStart(4, "0")}`,
    });
  };
  for (const path of [root, turns, blobs, quarantine]) want(path, DIRECTORY_MODE);
  for (const path of [manifest, lock, ...files.map(({ path }) => path), ...blobFiles(draft)]) {
    want(path, FILE_MODE);
  }
  return modes;
}

/** The paths of everything that is named like a blob. */
function blobFiles({ ports, paths }: PendingRepair): string[] {
  if (lookForDirectory(ports, paths.blobs).status !== "ok") return [];
  return ports.files.list(paths.blobs).filter(isBlobName).sort().map((name) => `${paths.blobs}/${name}`);
}

/** One thing that a repair does to the files of a session. */
export interface RepairAction {
  /**
   * `replace`: a turn that is lost gets a replacement. `restore`: a sound turn goes back to its own number.
   * `set_aside`: what does not belong where it lies moves to `quarantine/`. `rebuild_manifest` and `fix_mode`.
   */
  readonly action: "replace" | "restore" | "set_aside" | "rebuild_manifest" | "fix_mode";
  /** Inside the session; `.` is its directory. */
  readonly path: string;
  /** A code of `fsck`. */
  readonly reason: string;
  /** What was found, to be read after the path. */
  readonly message: string;
  /** Where what lay there is kept from then on, inside the session. */
  readonly kept?: string;
  /** Where a restored turn was found, inside the session. */
  readonly from?: string;
  readonly turn?: number;
  /** The events that a replacement stands for. */
  readonly seq?: readonly [number, number];
}

/** Gathers the actions of a repair. */
export class PendingRepair {
  readonly ports: Ports;
  readonly paths: SessionPaths;
  readonly actions: RepairAction[] = [];
  /** Files whose place is taken: they get the second path as another name first. */
  readonly keep = new Map<string, string>();
  /** Files that only move to the second path. */
  readonly move = new Map<string, string>();
  readonly #names: QuarantineNames;

  constructor(ports: Ports, paths: SessionPaths) {
    this.ports = ports;
    this.paths = paths;
    this.#names = new QuarantineNames(ports, paths);
  }

  /** A path as people read it. */
  inside(path: string): string {
    return path === this.paths.root ? "." : insideSession(this.paths, path);
  }

  /** Keeps what lies at `path`, whose place is taken. Returns what the action says of it. */
  keepFile(path: string): { readonly kept: string } {
    const kept = this.#names.choose(path);
    this.keep.set(path, kept);
    return { kept: this.inside(kept) };
  }

  /** Moves what lies at `path` to `quarantine/`. Returns what the action says of it. */
  moveFile(path: string): { readonly kept: string } {
    const kept = this.#names.choose(path);
    this.move.set(path, kept);
    return { kept: this.inside(kept) };
  }

  /** {@linkcode moveFile} as an action of its own. */
  setAside(path: string, { code, message }: Reason): void {
    const about = { path: this.inside(path), reason: code, message };
    this.actions.push({ action: "set_aside", ...about, ...this.moveFile(path) });
  }

  /** True when the file at `path` does not stay there. */
  leaves(path: string): boolean {
    return this.keep.has(path) || this.move.has(path);
  }
}
