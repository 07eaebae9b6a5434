/**
 * Checking a session: every file, every checksum, the numbering, the chain, the pairs, the blobs. Read-only.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { orStorageError, storageError } from "../fs_errors.ts";
import { checkBlobs } from "./blobs.ts";
import { checkDirectory, checkFile, type Finding, type Findings } from "./findings.ts";
import { checkManifest } from "./manifest.ts";
import { checkTurns, type Walk } from "./turns.ts";
import type { Home } from "../home.ts";
import { type SessionPaths, sessionPaths } from "../layout.ts";
import { inspectLock } from "../write/lock.ts";
import { type ManifestFile, readManifest } from "../read/manifest_file.ts";
import { isLeftover } from "../read/safe_open.ts";

export type { Finding } from "./findings.ts";

/** What a check of one session found. */
export interface FsckReport {
  readonly id: SessionId;
  /** In the order of the check: directory, turns, manifest, blobs. */
  readonly findings: readonly Finding[];
  /** How many turn files were found, sound or not. */
  readonly turns: number;
  /** A writer holds the lock: the open tail of the session was not judged. */
  readonly in_use: boolean;
}

/**
 * Checks one session without writing anything.
 *
 * @throws {RepriseError} `no_such_session`, also when it was removed or replaced meanwhile; `storage_*` when the disk refuses to be read.
 */
export function fsckSession(ports: Ports, home: Home, id: SessionId): Promise<FsckReport> {
  return fsckDirectory(ports, sessionPaths(home.sessions, id));
}

/** Like {@linkcode fsckSession}, for a session whose directory need not lie in a home, or have its name. */
export async function fsckDirectory(ports: Ports, paths: SessionPaths): Promise<FsckReport> {
  const { id } = paths;
  const tried = `check session "${id}"`;
  const facts = () => orStorageError(tried, paths.root, () => ports.files.facts(paths.root));
  const before = facts();
  if (before === null) throw gone(tried, `nothing at "${paths.root}"`);
  const requireUnmoved = () => {
    const now = facts();
    if (now?.inode !== before.inode || now.device !== before.device) {
      throw gone(tried, "it was removed or replaced meanwhile");
    }
  };
  try {
    const report = await checkAll(ports, paths, tried);
    // Files that are missing because the session was removed are no damage.
    requireUnmoved();
    return report;
  } catch (error) {
    requireUnmoved();
    throw error;
  }
}

async function checkAll(ports: Ports, paths: SessionPaths, tried: string): Promise<FsckReport> {
  const { id } = paths;
  const findings: Finding[] = [];
  const add: Findings = (severity, code, finding) => findings.push({ severity, code, ...finding });
  const there = orStorageError(
    tried,
    paths.root,
    () => checkDirectory(ports, paths.root, { path: ".", add }),
  );
  if (there !== "ok") return { id, findings, turns: 0, in_use: false };
  const { held } = await inspectLock(ports, paths).catch((error) => {
    throw storageError(error, tried, paths.lock);
  });
  const turns = orStorageError(tried, paths.root, () => checkSession(ports, paths, { inUse: held, add }));
  return { id, findings, turns, in_use: held };
}

function gone(tried: string, found: string): RepriseError {
  return new RepriseError("no_such_session", `Cannot ${tried}: ${found}`, {
    hint: 'List the sessions with "reprise ls"',
  });
}

function checkSession(
  ports: Ports,
  paths: SessionPaths,
  options: { readonly inUse: boolean; readonly add: Findings },
): number {
  const { add, inUse } = options;
  // Before the turns: what a writer adds meanwhile makes this manifest lag, and never lead.
  const manifest = readManifest(ports, paths);
  checkNames(ports, paths, options);
  const walk = checkTurns(ports, paths, { add, manifest });
  if (walk.files === 0 && !inUse) checkEmpty(manifest, walk, add);
  checkManifest(manifest, walk, add);
  checkBlobs(ports, paths, { walk, inUse, add });
  if (!inUse && !walk.chain.incomplete) checkTail(walk, add);
  return walk.files;
}

/** A session without a turn: a creation that was cut short, unless a manifest shows that there was one. */
function checkEmpty(manifest: ManifestFile, { pathOf }: Walk, add: Findings): void {
  if (manifest.status === "missing") {
    add("warning", "no_turns", { path: ".", message: "holds no turn: its creation was cut short" });
  } else if (manifest.status !== "ok") {
    add("error", "missing_turn", {
      path: pathOf(1),
      message: "is missing, but there is a manifest",
      turn: 1,
    });
  }
}

/** What a run that was cut short left open. */
function checkTail({ chain, pathOf }: Walk, add: Findings): void {
  for (const { call_id, seq, turn } of chain.openCalls()) {
    const message = `holds the call ${
      JSON.stringify(call_id)
    } (seq ${seq}) without a result; the next run or "repair" records that`;
    add("warning", "orphan_call", { path: pathOf(turn), message, turn });
  }
  const { run, runEnded, turn } = chain.end;
  if (runEnded) return;
  add("info", "open_run", {
    path: pathOf(turn),
    message: `leaves run ${run} open; the next run ends it`,
    turn,
  });
}

/** Checks what lies beside the turns and blobs: kinds, owners, modes, leftovers, names that are not ours. */
function checkNames(
  ports: Ports,
  paths: SessionPaths,
  { add, inUse }: { readonly inUse: boolean; readonly add: Findings },
): void {
  for (const name of ports.files.list(paths.root).sort()) {
    const path = `${paths.root}/${name}`;
    if (name === "turns" || name === "blobs" || name === "quarantine") {
      checkDirectory(ports, path, { path: name, add });
    } else if (name === "lock" || name === "manifest.json") {
      checkFile(ports, path, { path: name, add });
    } else if (!isLeftover(ports, path)) {
      add("warning", "foreign_file", { path: name, message: "is none of the names of a session" });
    } else if (!inUse) {
      add("info", "leftover", {
        path: name,
        message: "was left by a killed writer; the next writer removes it",
      });
    }
  }
}
