/**
 * What a repair would do, decided without changing anything.
 *
 * @module
 */
import { sha256Hex } from "../../domain/hash.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { blobsOf } from "../blobs.ts";
import { requireSession } from "../read/history.ts";
import { isTemporaryName, type SessionPaths, turnPath } from "../layout.ts";
import { readManifest } from "../read/manifest_file.ts";
import { noTurns } from "../read/session.ts";
import { type LostBlob, lostBlobs, planBlobs, planManifest, planModes } from "./files_beside_turns.ts";
import { type RepairAction, RepairDraft } from "./replacement_draft.ts";
import { filesInTurns, type TurnFile, turnsInQuarantine } from "./read_files.ts";
import { type Mended, mendHistory } from "./history.ts";
import { UNKNOWN_INSTRUCTIONS, UNKNOWN_TOOLS } from "./replacement.ts";

/** A turn file to write. */
export interface Placing {
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
  readonly places: readonly Placing[];
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
  const mended = mendHistory({
    session: paths.id,
    files,
    quarantined: () => turnsInQuarantine(ports, paths),
    begun: files.length > 0 || manifest.status !== "missing",
    manifest: manifest.status === "ok" ? manifest.manifest : null,
    at: new Date(ports.clock.now()).toISOString(),
  });
  const turns = mended.places.map(({ turn }) => turn);
  if (turns.length === 0) throw noTurns(paths.id, paths.root);
  const draft = new RepairDraft(ports, paths);
  const places = planTurns(draft, files, mended);
  planStrays(draft, files, mended);
  planBlobs(draft);
  const blobs = pinnedByReplacements(mended);
  const { run, runEnded } = mended.chain.end;
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

function planTurns(draft: RepairDraft, files: readonly TurnFile[], mended: Mended): Placing[] {
  const there = new Set(files.map(({ path }) => path));
  const placings: Placing[] = [];
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
function planStrays(draft: RepairDraft, files: readonly TurnFile[], { places, reasonOf }: Mended): void {
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
function pinnedByReplacements({ places }: Mended): Uint8Array[] {
  const pinned = new Set(
    places.flatMap(({ turn, made }) => made === null ? [] : blobsOf(turn)).map(({ sha256 }) => sha256),
  );
  return [UNKNOWN_INSTRUCTIONS, UNKNOWN_TOOLS].filter((bytes) => pinned.has(sha256Hex(bytes)));
}
