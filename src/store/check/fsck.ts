/** Checks a session: every file, checksum, number, link, call and blob. Writes nothing. */
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ByteTotals } from "../../domain/manifest.ts";
import { counted } from "../../domain/text.ts";
import { countsBlobs, inspectBlob, MISSING_BLOB } from "../blobs.ts";
import { noSuchSession, orStorageError } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { insideSession, type SessionPaths, sessionPaths } from "../layout.ts";
import { type ManifestFile, readManifest } from "../read/manifest.ts";
import { lookForDirectory } from "../read/safe_open.ts";
import { inspectLock } from "../write/lock.ts";
import { sessionEntries, type SessionEntry } from "./entries.ts";
import { checkEntry, checkTurns, type FsckCheck, turnName, type Walk } from "./turns.ts";
import type { FsckFinding } from "../../schemas/maintenance.ts";

/** Result of the check of one session. */
export interface FsckReport {
  readonly id: SessionId;
  /** In the order of the check: directory, turns, manifest, blobs. */
  readonly findings: readonly FsckFinding[];
  /** Number of turn files, sound or not. */
  readonly turns: number;
  /** True if a writer holds the lock: the open tail of the session was not checked. */
  readonly in_use: boolean;
}

/**
 * Checks one session without writing anything.
 *
 * @throws {RepriseError} `no_such_session`, also when it was removed or replaced meanwhile; `storage_*` when the disk
 * refuses to be read.
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
  if (before === null) throw noSuchSession(id, { tried, found: `nothing at "${paths.root}"` });
  const requireUnmoved = () => {
    const now = facts();
    if (now?.inode !== before.inode || now.device !== before.device) {
      throw noSuchSession(id, { tried, found: "it was removed or replaced meanwhile" });
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
  const check: FsckCheck = {
    ports,
    paths,
    add: (severity, code, path, message, turn) => {
      findings.push({ severity, code, path, message, ...(turn === undefined ? {} : { turn }) });
    },
  };
  const root = orStorageError(
    tried,
    paths.root,
    () => checkEntry(check, { path: paths.root, role: "directory" }),
  );
  if (root.status !== "ok") return { id, findings, turns: 0, in_use: false };
  const { held } = await inspectLock(ports, paths);
  const turns = orStorageError(tried, paths.root, () => checkSession(check, held));
  return { id, findings, turns, in_use: held };
}

function checkSession(check: FsckCheck, inUse: boolean): number {
  // Read before the turns: if a writer adds turns meanwhile, this manifest lags and never leads.
  const manifest = readManifest(check.ports, check.paths);
  const entries = sessionEntries(check.ports, check.paths);
  checkNames(check, entries, inUse);
  const walk = checkTurns(check, manifest, entries);
  if (walk.files === 0 && !inUse) checkEmpty(check, manifest);
  const ofBlobs: Parameters<FsckCheck["add"]>[] = [];
  checkBlobs({ ...check, add: (...finding) => ofBlobs.push(finding) }, entries, { walk, inUse });
  const knowsBlobs = !inUse && ofBlobs.every(([, code]) => code !== "damaged_blob");
  checkManifest(check, manifest, { walk, inUse, knowsBlobs });
  for (const finding of ofBlobs) check.add(...finding);
  if (!inUse && !walk.validator.incomplete) checkTail(check, walk);
  return walk.files;
}

/** Reports a session without a turn: an interrupted creation, unless a manifest shows that there was a turn. */
function checkEmpty({ add }: FsckCheck, manifest: ManifestFile): void {
  if (manifest.status === "missing") {
    add("warning", "no_turns", ".", "holds no turn: its creation was cut short");
  } else if (manifest.status !== "ok") {
    add("error", "missing_turn", turnName(1), "is missing, but there is a manifest", 1);
  }
}

/** Reports calls and runs that an interrupted run left open. */
function checkTail({ add }: FsckCheck, { validator }: Walk): void {
  for (const { call_id, seq, turn } of validator.openCalls()) {
    const message = `holds the call ${
      JSON.stringify(call_id)
    } (seq ${seq}) without a result; the next run or "repair" records that`;
    add("warning", "orphan_call", turnName(turn), message, turn);
  }
  const { run, runEnded, turn } = validator.end;
  if (!runEnded) {
    add("info", "open_run", turnName(turn), `leaves run ${run} open; the next run ends it`, turn);
  }
}

/** Checks the entries but turns and blobs: kinds, owners, modes, leftovers, foreign names, waiting turns. */
function checkNames(check: FsckCheck, entries: readonly SessionEntry[], inUse: boolean): void {
  const { paths, add } = check;
  for (const entry of entries) {
    const { path, role } = entry;
    // The session's own directory was checked first of all.
    if (path === paths.root || role === "turn" || role === "blob" || role === "leftover" && inUse) continue;
    const note = role === "leftover" ? "; the next writer removes it" : "";
    const { status } = checkEntry(
      { ...check, add: (severity, code, name, message) => add(severity, code, name, message + note) },
      entry,
    );
    if (role !== "waiting" || status === "refused") continue;
    const message = "was not acknowledged; the next run with its remote decides about it";
    add("info", "waiting_turn", insideSession(paths, path), message);
  }
}

/** Reports damage of the manifest: it may lag and be rebuilt, and must never lead. Refused files were reported already. */
function checkManifest(
  { ports, paths, add }: FsckCheck,
  file: ManifestFile,
  { walk, inUse, knowsBlobs }: {
    readonly walk: Walk;
    readonly inUse: boolean;
    /** False if the sizes of the blobs may differ from those that were written. */
    readonly knowsBlobs: boolean;
  },
): void {
  const path = "manifest.json";
  if (file.status === "missing" && walk.files > 0) {
    add("warning", "manifest_missing", path, "is missing; it is rebuilt from the turns");
  } else if (file.status === "garbled") {
    add("warning", "manifest_garbled", path, `${file.message}; it is rebuilt from the turns`);
  } else if (file.status === "newer") {
    add("info", "manifest_newer", path, `${file.message}; it is left alone`);
  }
  if (file.status !== "ok") return;
  const { bytes, ...manifest } = file.manifest;
  const { turn } = manifest.head;
  if (turn > walk.last) {
    const message = `names turn ${turn} as the newest, but the newest file is turn ${walk.last}`;
    return add("error", "manifest_leads", path, message, turn);
  }
  const atHead = walk.manifestAtHead;
  const countsFiles = ({ turns, blobs }: ByteTotals) =>
    turns === walk.bytesAtHead && (!knowsBlobs || turn < walk.last ||
      countsBlobs(ports, paths, { turns, blobs }, { named: walk.blobs.keys(), lost: walk.lostBlobs }));
  const fits = atHead === null || JSON.stringify(atHead) === JSON.stringify(manifest) &&
      (bytes === undefined || countsFiles(bytes));
  if (!fits) {
    const message = `does not say what the turns up to ${turn} say; it is rebuilt from them`;
    add("warning", "manifest_wrong", path, message, turn);
  }
  // In the middle of a run, its writer does not update the manifest.
  if (turn < walk.last && !inUse) {
    add("info", "manifest_lags", path, `ends at turn ${turn}, the turns at ${walk.last}`, turn);
  }
}

/** Checks all blobs. Throws the runtime's errors. */
function checkBlobs(
  check: FsckCheck,
  entries: readonly SessionEntry[],
  { walk, inUse }: { readonly walk: Walk; readonly inUse: boolean },
): void {
  const { ports, paths, add } = check;
  for (const entry of entries) {
    if (entry.role !== "blob") continue;
    const name = insideSession(paths, entry.path);
    const sha256 = name.slice("blobs/".length);
    if (checkEntry(check, entry).status === "refused" || walk.blobs.has(sha256)) continue;
    const found = inspectBlob(ports, paths, sha256);
    if (found.status === "bad") {
      add("warning", found.code, name, `${found.message}; no turn names it`);
      // A blob is written before the turn that names it, and a damaged turn may have named it.
    } else if (walk.sound && !inUse) {
      add("info", "unreferenced_blob", name, "is named by no turn");
    }
  }
  const isThere = lookForDirectory(ports, paths.blobs).status === "ok";
  for (const [sha256, { turn, by, needed, sizes }] of walk.blobs) {
    const path = `blobs/${sha256}`;
    const severity = needed ? "error" : "warning";
    const found = isThere ? inspectBlob(ports, paths, sha256) : MISSING_BLOB;
    if (found.status === "bad" && found.code === "missing_blob") {
      const message = `${found.message}, but ${by} of turn ${turn} names it`;
      add(walk.lostBlobs.has(sha256) ? "warning" : severity, found.code, path, message, turn);
    } else if (found.status === "bad") {
      add(severity, found.code, path, `${found.message}; ${by} of turn ${turn} names it`, turn);
    } else if ([...sizes].some((size) => size !== found.size)) {
      const message = `has ${counted(found.size, "byte")}, not the number that a turn gives`;
      add("error", "damaged_blob", path, message, turn);
    }
  }
}
