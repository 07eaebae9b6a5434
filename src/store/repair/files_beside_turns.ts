/**
 * The part of a repair that lies beside the turns: blobs, the manifest, modes.
 *
 * @module
 */
import { advanceManifest, encodeManifest, type Manifest } from "../../domain/manifest.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobPath, blobsOf, inspectBlob, lostBlobsIn } from "../blobs.ts";
import { DIRECTORY_MODE, FILE_MODE, isBlobName } from "../layout.ts";
import type { ManifestFile } from "../read/manifest_file.ts";
import type { RepairDraft } from "./replacement_draft.ts";
import type { Reason, TurnFile } from "./read_files.ts";
import { lookForDirectory, lookForFile } from "../read/safe_open.ts";

/** Sets aside blobs with another content than their name says, and what is no file. Throws the runtime's errors. */
export function planBlobs(draft: RepairDraft): void {
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
export function lostBlobs(draft: RepairDraft, turns: readonly Turn[], made: ReadonlySet<string>): LostBlob[] {
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
  draft: RepairDraft,
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
export function planModes(draft: RepairDraft, files: readonly TurnFile[]): Map<string, number> {
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
function blobFiles({ ports, paths }: RepairDraft): string[] {
  if (lookForDirectory(ports, paths.blobs).status !== "ok") return [];
  return ports.files.list(paths.blobs).filter(isBlobName).sort().map((name) => `${paths.blobs}/${name}`);
}
