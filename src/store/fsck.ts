/**
 * Checking a session: every file, every checksum, the numbering, the chain, the pairs, the blobs. Read-only.
 *
 * @module
 */
import { ReprError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { orStorageError } from "./fs_errors.ts";
import { checkBlobs } from "./fsck_blobs.ts";
import { checkDirectory, checkFile, type Finding, type Findings } from "./fsck_findings.ts";
import { checkManifest } from "./fsck_manifest.ts";
import { checkTurns, type Walk } from "./fsck_turns.ts";
import type { Home } from "./home.ts";
import { isTemporaryName, type SessionPaths, sessionPaths } from "./layout.ts";
import { inspectLock } from "./lock.ts";
import { readManifest } from "./manifest_file.ts";

export type { Finding } from "./fsck_findings.ts";

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
 * @throws {ReprError} `no_such_session`, `storage_*` when the disk refuses to be read.
 */
export function fsckSession(ports: Ports, home: Home, id: SessionId): Promise<FsckReport> {
  return fsckDirectory(ports, sessionPaths(home.sessions, id));
}

/** Like {@linkcode fsckSession}, for a session whose directory need not lie in a home, or have its name. */
export async function fsckDirectory(ports: Ports, paths: SessionPaths): Promise<FsckReport> {
  const { id } = paths;
  const tried = `check session "${id}"`;
  const findings: Finding[] = [];
  const add: Findings = (severity, code, finding) => findings.push({ severity, code, ...finding });
  const there = orStorageError(
    tried,
    paths.root,
    () => checkDirectory(ports, paths.root, { path: ".", add }),
  );
  if (there === "missing") {
    throw new ReprError("no_such_session", `Cannot ${tried}: nothing at "${paths.root}"`, {
      hint: 'List the sessions with "reprise ls"',
    });
  }
  if (there === "refused") return { id, findings, turns: 0, in_use: false };
  const { held } = await inspectLock(ports, paths);
  const turns = orStorageError(tried, paths.root, () => checkSession(ports, paths, { inUse: held, add }));
  return { id, findings, turns, in_use: held };
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
  checkManifest(manifest, walk, add);
  checkBlobs(ports, paths, { walk, inUse, add });
  if (!inUse && !walk.chain.incomplete) checkTail(walk, add);
  return walk.files;
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
    } else if (!isTemporaryName(name)) {
      add("warning", "foreign_file", { path: name, message: "is none of the names of a session" });
    } else if (!inUse) {
      add("info", "leftover", {
        path: name,
        message: "was left by a killed writer; the next writer removes it",
      });
    }
  }
}
