/**
 * Repairs the damage that `fsck` finds. Replaced files are kept in `quarantine/`, nothing is deleted, and a repair that
 * is killed at any point leaves a session that the next repair finishes.
 */
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { blobPath, publishBlob } from "../blobs.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { orStorageError } from "../fs_errors.ts";
import { lastTurnOf, requireSession } from "../read/session.ts";
import type { Home } from "../home.ts";
import { type SessionPaths, sessionPaths } from "../layout.ts";
import { inspectLock, lockedError, lockSession } from "../write/lock.ts";
import { forgetSaves } from "../write/pending.ts";
import {
  ensureDirectory,
  ensureDurableDirectory,
  keepAs,
  orSyncFailed,
  replaceManifest,
  unlinkQuietly,
  writeNew,
  writeTemporary,
} from "../write/publish.ts";
import { type IntactCopies, planRepair, type RepairPlan, type TurnPlacement } from "./plan.ts";

interface RepairOptions {
  readonly id: SessionId;
  readonly copies?: IntactCopies | undefined;
}

/**
 * Plans a repair without changing anything.
 *
 * @throws {RepriseError} `session_locked` while a writer is at work, whose open tail cannot be judged; the errors of
 * {@linkcode repairSession}.
 */
export async function previewRepair(
  ports: Ports,
  home: Home,
  { id, copies }: RepairOptions,
): Promise<RepairPlan> {
  const paths = sessionPaths(home.sessions, id);
  const tried = `repair session "${id}"`;
  orStorageError(tried, paths.root, () => requireSession(ports, paths));
  const { held, owner } = await inspectLock(ports, paths);
  if (held) throw lockedError(paths, owner);
  return orStorageError(tried, paths.root, () => planRepair(ports, paths, copies));
}

/**
 * Repairs a session's files under its lock. Runs and calls that a killed process left open, and lost blobs, are for
 * the writer to record afterwards: the plan names them.
 *
 * @throws {RepriseError} `no_such_session`, `session_locked`, `session_damaged` if its directories are not ours,
 * `format_too_new`, `storage_*`.
 */
export async function repairSession(
  ports: Ports,
  home: Home,
  { id, copies, waitMs }: RepairOptions & { readonly waitMs: number },
): Promise<RepairPlan> {
  const paths = sessionPaths(home.sessions, id);
  const tried = `repair session "${id}"`;
  orStorageError(tried, paths.root, () => requireSession(ports, paths));
  const lock = await lockSession(ports, paths, { waitMs });
  try {
    return orStorageError(tried, paths.root, () => {
      const plan = planRepair(ports, paths, copies);
      const last = lastTurnOf(ports, paths);
      if (copies?.turns.some(({ turn }) => turn.turn > last) === true) forgetSaves(ports, paths);
      applyRepair(ports, paths, plan);
      return plan;
    });
  } finally {
    lock.release();
  }
}

/**
 * Executes a plan, under the lock. In this order, each step durable before the next: replaced files are kept; then turns
 * get their numbers, oldest first, each in one step; then files that do not belong move away; the manifest comes last,
 * because it may lag and must not lead. Throws the runtime's errors.
 */
function applyRepair(ports: Ports, paths: SessionPaths, plan: RepairPlan): void {
  if (plan.actions.length === 0) return;
  const { files } = ports;
  ensureDurableDirectory(ports, paths.turns);
  if (plan.keep.size + plan.move.size > 0) ensureDurableDirectory(ports, paths.quarantine);
  for (const [path, kept] of plan.keep) keepAs(ports, path, kept);
  if (plan.keep.size > 0) orSyncFailed(() => files.syncDirectory(paths.quarantine));
  if (plan.blobs.length > 0) ensureDirectory(files, paths.blobs);
  const move = new Map(plan.move);
  for (const bytes of plan.blobs) {
    const sha256 = sha256Hex(bytes);
    // The name may have another content.
    const path = blobPath(paths, sha256);
    const kept = move.get(path);
    if (kept !== undefined) files.rename(path, kept);
    move.delete(path);
    publishBlob(ports, paths, { sha256, bytes });
  }
  for (const place of plan.places) placeTurn(ports, paths, place);
  for (const [path, kept] of move) files.rename(path, kept);
  if (plan.move.size > 0) {
    for (const directory of [paths.quarantine, paths.turns, paths.blobs, paths.pending, paths.root]) {
      if (files.facts(directory) !== null) orSyncFailed(() => files.syncDirectory(directory));
    }
  }
  for (const [path, mode] of plan.modes) files.setMode(path, mode);
  if (plan.manifest !== null) replaceManifest(ports, paths, plan.manifest);
}

/** Writes a turn file, over an existing one if there is one. */
function placeTurn(ports: Ports, paths: SessionPaths, { path, content }: TurnPlacement): void {
  const { files } = ports;
  const bytes = content instanceof Uint8Array ? content : files.read(content.from);
  if (files.facts(path) === null) return writeNew(ports, paths, { path, bytes });
  const temporary = writeTemporary(ports, paths.root, { bytes, sync: true });
  try {
    files.rename(temporary, path);
    orSyncFailed(() => files.syncDirectory(paths.turns));
  } catch (error) {
    unlinkQuietly(files, temporary);
    throw error;
  }
}
