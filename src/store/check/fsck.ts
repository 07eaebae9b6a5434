/**
 * Checks a session: every file, checksum, number, link, call and blob. Writes nothing.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { inspectBlob } from "../blobs.ts";
import { orStorageError, storageError } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { isBlobName, type SessionPaths, sessionPaths } from "../layout.ts";
import { type ManifestFile, readManifest } from "../read/manifest.ts";
import { isLeftover, lookForDirectory } from "../read/safe_open.ts";
import { inspectLock } from "../write/lock.ts";
import {
  type AddFinding,
  checkDirectory,
  checkFile,
  checkTurns,
  type FsckFinding,
  type NamedBlob,
  type Walk,
} from "./turns.ts";

export type { FsckFinding } from "./turns.ts";

/** Result of the check of one session. */
export interface FsckReport {
  readonly id: SessionId;
  /** In the order of the check: directory, turns, manifest, blobs. */
  readonly findings: readonly FsckFinding[];
  /** Number of turn files, sound or not. */
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
  const findings: FsckFinding[] = [];
  const add: AddFinding = (severity, code, finding) => findings.push({ severity, code, ...finding });
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
  options: { readonly inUse: boolean; readonly add: AddFinding },
): number {
  const { add, inUse } = options;
  // Before the turns: turns that a writer adds meanwhile make this manifest lag, and never lead.
  const manifest = readManifest(ports, paths);
  checkNames(ports, paths, options);
  const walk = checkTurns(ports, paths, { add, manifest });
  if (walk.files === 0 && !inUse) checkEmpty(manifest, walk, add);
  checkManifest(manifest, walk, add);
  checkBlobs(ports, paths, { walk, inUse, add });
  if (!inUse && !walk.validator.incomplete) checkTail(walk, add);
  return walk.files;
}

/** A session without a turn: a creation that was cut short, unless a manifest shows that there was one. */
function checkEmpty(manifest: ManifestFile, { pathOf }: Walk, add: AddFinding): void {
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

/** Reports calls and runs that an interrupted run left open. */
function checkTail({ validator, pathOf }: Walk, add: AddFinding): void {
  for (const { call_id, seq, turn } of validator.openCalls()) {
    const message = `holds the call ${
      JSON.stringify(call_id)
    } (seq ${seq}) without a result; the next run or "repair" records that`;
    add("warning", "orphan_call", { path: pathOf(turn), message, turn });
  }
  const { run, runEnded, turn } = validator.end;
  if (runEnded) return;
  add("info", "open_run", {
    path: pathOf(turn),
    message: `leaves run ${run} open; the next run ends it`,
    turn,
  });
}

/** Checks the files beside turns and blobs: kinds, owners, modes, leftovers, foreign names. */
function checkNames(
  ports: Ports,
  paths: SessionPaths,
  { add, inUse }: { readonly inUse: boolean; readonly add: AddFinding },
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

const PATH = "manifest.json";

/** Reports damage of the manifest: it may lag and be rebuilt, and must never lead. Refused files were reported already. */
function checkManifest(file: ManifestFile, walk: Walk, add: AddFinding): void {
  switch (file.status) {
    case "refused":
      return;
    case "missing":
      if (walk.files > 0) {
        add("warning", "manifest_missing", {
          path: PATH,
          message: "is missing; it is made anew from the turns",
        });
      }
      return;
    case "garbled":
      add("warning", "manifest_garbled", {
        path: PATH,
        message: `${file.message}; it is made anew from the turns`,
      });
      return;
    case "newer":
      add("info", "manifest_newer", { path: PATH, message: `${file.message}; it is left alone` });
      return;
    case "ok":
      checkHead(file, walk, add);
      return;
  }
}

function checkHead({ manifest }: Extract<ManifestFile, { status: "ok" }>, walk: Walk, add: AddFinding): void {
  const { turn } = manifest.head;
  if (turn > walk.last) {
    const message = `names turn ${turn} as the newest, but the newest file is turn ${walk.last}`;
    add("error", "manifest_leads", { path: PATH, message, turn });
    return;
  }
  if (walk.manifestAtHead !== null && JSON.stringify(walk.manifestAtHead) !== JSON.stringify(manifest)) {
    const message = `does not say what the turns up to ${turn} say; it is made anew from them`;
    add("warning", "manifest_wrong", { path: PATH, message, turn });
  }
  if (turn < walk.last) {
    add("info", "manifest_lags", {
      path: PATH,
      message: `ends at turn ${turn}, the turns at ${walk.last}`,
      turn,
    });
  }
}

/** Checks all blobs. Throws the runtime's errors. */
function checkBlobs(
  ports: Ports,
  paths: SessionPaths,
  options: { readonly walk: Walk; readonly inUse: boolean; readonly add: AddFinding },
): void {
  const { walk, inUse, add } = options;
  const users = usersOf(walk.blobs);
  const there = new Set<string>();
  const known = lookForDirectory(ports, paths.blobs).status === "ok";
  for (const name of known ? ports.files.list(paths.blobs).sort() : []) {
    const path = `blobs/${name}`;
    if (!isBlobName(name)) {
      add("warning", "foreign_file", { path, message: "is not the name of a blob" });
      continue;
    }
    there.add(name);
    const refused = checkFile(ports, `${paths.blobs}/${name}`, { path, add }).status === "refused";
    // A blob is there before the turn that names it, and a damaged turn may have named it.
    if (!users.has(name) && !refused && walk.sound && !inUse) {
      add("info", "unreferenced_blob", { path, message: "is named by no turn" });
    }
  }
  for (const [sha256, use] of users) {
    const lost = walk.lostBlobs.has(sha256);
    checkNamed(ports, paths, { sha256, use, lost, there: there.has(sha256), add });
  }
}

interface Use {
  /** The first turn that names it, for the finding. */
  readonly first: NamedBlob;
  needed: boolean;
  readonly sizes: Set<number>;
}

function usersOf(blobs: readonly NamedBlob[]): Map<string, Use> {
  const users = new Map<string, Use>();
  for (const blob of blobs) {
    const use = users.get(blob.sha256) ?? { first: blob, needed: false, sizes: new Set<number>() };
    use.needed ||= blob.needed;
    if (blob.bytes !== undefined) use.sizes.add(blob.bytes);
    users.set(blob.sha256, use);
  }
  return users;
}

function checkNamed(
  ports: Ports,
  paths: SessionPaths,
  options: {
    readonly sha256: string;
    readonly use: Use;
    /** Known to be lost, and recorded. */
    readonly lost: boolean;
    readonly there: boolean;
    readonly add: AddFinding;
  },
): void {
  const { sha256, use, lost, there, add } = options;
  const path = `blobs/${sha256}`;
  const { turn, by } = use.first;
  const severity = use.needed ? "error" : "warning";
  const found = there ? inspectBlob(ports, paths, sha256) : null;
  if (found === null) {
    const message = `is missing, but ${by} of turn ${turn} names it`;
    add(lost ? "warning" : severity, "missing_blob", { path, message, turn });
  } else if (found.status === "bad") {
    add(severity, found.code, { path, message: `${found.message}; ${by} of turn ${turn} names it`, turn });
  } else if ([...use.sizes].some((size) => size !== found.size)) {
    const message = `has ${counted(found.size, "byte")}, not the number that a turn gives`;
    add("error", "damaged_blob", { path, message, turn });
  }
}
