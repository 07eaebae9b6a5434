/**
 * Opening a session: which turns there are, and whether each may be believed (docs/format.md "Opening").
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { CheckpointRef } from "../../domain/event.ts";
import { advanceManifest, type Manifest, refOf, wholeManifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { ANY_LINEAGE, Chain } from "./validate.ts";
import { damaged, tooNew } from "../damage.ts";
import { orStorageError } from "../fs_errors.ts";
import { insideSession, type SessionPaths, turnNumberOf, turnPath } from "../layout.ts";
import { findLineage } from "./lineage.ts";
import { type ManifestFile, readManifest } from "./manifest_file.ts";
import { lookForDirectory } from "./safe_open.ts";
import { readEnvelope } from "./turn_file.ts";
import { judgeTurn } from "./turn_schema.ts";

/** What a session's files say: all of them, or those that the next request needs. */
export interface History {
  /** `null` while there is no turn. */
  readonly manifest: Manifest | null;
  /** In order; where a checkpoint stands for the older ones, only what {@linkcode readRecent} says. */
  readonly turns: Turn[];
  readonly chain: Chain;
  /** True when a later version wrote the manifest file: it is left alone. */
  readonly manifestIsNewer: boolean;
}

/**
 * Reads all turns of a session, in order.
 *
 * @throws {RepriseError} `session_damaged` with the first finding, `format_too_new`, `no_such_session`, `storage_*`.
 */
export function readHistory(ports: Ports, paths: SessionPaths): History {
  return orStorageError(`read session "${paths.id}"`, paths.root, () => {
    requireSession(ports, paths);
    return readAll(ports, paths, requireManifest(ports, paths));
  });
}

/**
 * Reads what the next request needs: the turns behind the checkpoint in force and, where that cuts into a run, the
 * turn with its user message. Without a checkpoint, or a manifest that serves, that is everything.
 *
 * @throws {RepriseError} as {@linkcode readHistory}; damage before the checkpoint is not looked for.
 */
export function readRecent(ports: Ports, paths: SessionPaths): History {
  return orStorageError(`read session "${paths.id}"`, paths.root, () => {
    requireSession(ports, paths);
    const file = requireManifest(ports, paths);
    let from = file.status === "ok" ? file.manifest.checkpoint : null;
    while (file.status === "ok" && from !== null) {
      const recent = readBehind(ports, paths, { file, from });
      if (recent === null) break;
      // The manifest may lag: a later turn may have withdrawn this checkpoint, or cut before it.
      const inForce: CheckpointRef | null = recent.manifest?.checkpoint ?? null;
      if (inForce !== null && inForce.to_turn >= from.to_turn) return recent;
      from = inForce;
    }
    return readAll(ports, paths, file);
  });
}

function requireManifest(ports: Ports, paths: SessionPaths): ManifestFile {
  const file = readManifest(ports, paths);
  if (file.status === "refused") throw damaged(paths, paths.manifest, file);
  return file;
}

function readAll(ports: Ports, paths: SessionPaths, file: ManifestFile): History {
  const chain = new Chain(paths.id, { lineage: () => findLineage(ports, paths) });
  const turns = readOn(ports, paths, chain);
  refuseGap(ports, paths, turns.length, file);
  // The file is only a cache of the turns, which were all read.
  return { manifest: wholeManifest(paths.id, turns), turns, chain, manifestIsNewer: file.status === "newer" };
}

/** The turns behind a checkpoint, or `null` when they do not bear out what the manifest says about it. */
function readBehind(
  ports: Ports,
  paths: SessionPaths,
  { file, from }: { readonly file: ManifestFile & { status: "ok" }; readonly from: CheckpointRef },
): History | null {
  const chain = new Chain(paths.id, {
    after: { turn: from.to_turn, seq: from.to_seq },
    lineage: () => findLineage(ports, paths, { from: from.to_turn + 1 }),
  });
  const turns = readOn(ports, paths, chain);
  refuseGap(ports, paths, from.to_turn + turns.length, file);
  const { head } = file.manifest;
  const known = turns.find(({ turn }) => turn === from.turn)?.events.find(({ seq }) => seq === from.seq);
  const bornOut = turns[0]?.seq[0] === from.to_seq + 1 && known?.type === "history_compaction" &&
    JSON.stringify(refOf(known, from.turn)) === JSON.stringify(from) &&
    turns.find(({ turn }) => turn === head.turn)?.sum === head.sum;
  if (!bornOut || !agreesWith(file.manifest, turns.filter(({ turn }) => turn <= head.turn))) return null;
  const opening = from.opening_turn === null ? [] : readOpening(ports, paths, from.opening_turn);
  let manifest: Manifest = file.manifest;
  for (const turn of turns) if (turn.turn > head.turn) manifest = advanceManifest(manifest, paths.id, turn);
  return { manifest, turns: [...opening, ...turns], chain, manifestIsNewer: false };
}

/** True when a manifest agrees with the newest turns up to its head; sums over all turns cannot be compared. */
function agreesWith(manifest: Manifest, turns: readonly Turn[]): boolean {
  let again = manifest;
  for (const turn of turns) again = advanceManifest(again, manifest.session, turn);
  return JSON.stringify({ ...again, usage: manifest.usage }) === JSON.stringify(manifest);
}

/** The turn whose user message stays verbatim; its neighbours are not read, so its own seal and shape must do. */
function readOpening(ports: Ports, paths: SessionPaths, number: number): Turn[] {
  const chain = new Chain(paths.id, { after: { turn: number - 1, seq: 0 }, lineage: () => ANY_LINEAGE });
  const turn = readTurn(ports, paths, number, chain);
  if (turn !== null) return [turn];
  throw damaged(paths, turnPath(paths, number), {
    code: "missing_turn",
    message: "is missing, but the checkpoint in force names it",
  });
}

/** The turns from the end of `chain` on, up to the first number without a file. */
function readOn(ports: Ports, paths: SessionPaths, chain: Chain): Turn[] {
  const turns: Turn[] = [];
  for (;;) {
    const turn = readTurn(ports, paths, chain.end.turn + 1, chain);
    if (turn === null) return turns;
    turns.push(turn);
  }
}

/**
 * Refuses a session that is not there, and directories that are none of ours.
 *
 * @throws {RepriseError} `no_such_session`, `session_damaged`; the runtime's errors.
 */
export function requireSession(ports: Ports, paths: SessionPaths): void {
  const root = lookForDirectory(ports, paths.root);
  if (root.status === "missing") {
    throw new RepriseError(
      "no_such_session",
      `Cannot open session "${paths.id}": nothing at "${paths.root}"`,
      {
        hint: 'List the sessions with "reprise ls"',
      },
    );
  }
  if (root.status === "refused") throw damaged(paths, paths.root, root);
  for (const path of [paths.turns, paths.blobs, paths.quarantine]) {
    const looked = lookForDirectory(ports, path);
    if (looked.status === "refused") throw damaged(paths, path, looked);
  }
}

/** The turn with that number, or `null` when there is no such file. */
function readTurn(ports: Ports, paths: SessionPaths, number: number, chain: Chain): Turn | null {
  const path = turnPath(paths, number);
  const file = readEnvelope(ports, path);
  if (file.status === "missing") return null;
  if (file.status === "damaged") throw damaged(paths, path, file);
  const where = insideSession(paths, path);
  if (file.newer) throw tooNew(paths, where, `has the format ${JSON.stringify(file.value.format)}`);
  const judged = judgeTurn(file.value);
  if (judged.status === "newer") throw tooNew(paths, where, judged.message);
  if (judged.status === "damaged") throw damaged(paths, path, judged);
  const breach = chain.check(judged.turn).find(({ severity }) => severity === "error");
  if (breach !== undefined) throw damaged(paths, path, breach);
  chain.advance(judged.turn);
  return judged.turn;
}

/**
 * Refuses a number beyond the first free one. A manifest that fits says where the end is, so one probe does;
 * without one the names are listed.
 */
function refuseGap(ports: Ports, paths: SessionPaths, last: number, file: ManifestFile): void {
  const free = turnPath(paths, last + 1);
  const refuse = (found: number) => {
    // Numbers are taken in order, so one that is there now came while we looked: a writer is at work.
    if (ports.files.facts(free) !== null) return;
    throw damaged(paths, free, { code: "missing_turn", message: `is missing, but turn ${found} exists` });
  };
  if (file.status === "ok") {
    const { turn } = file.manifest.head;
    if (turn > last) {
      throw damaged(paths, free, {
        code: "missing_turn",
        message: `is missing, but the manifest names turn ${turn} as the newest`,
      });
    }
    if (ports.files.facts(turnPath(paths, last + 2)) !== null) refuse(last + 2);
    return;
  }
  if (lookForDirectory(ports, paths.turns).status === "missing") return;
  const beyond = ports.files.list(paths.turns).map(turnNumberOf).filter((turn) =>
    turn !== null && turn > last
  );
  if (beyond.length > 0) refuse(Math.min(...beyond as number[]));
}
