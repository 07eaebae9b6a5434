/**
 * Scratch directories of session tests, below the temporary directory. Each is locked like a session, so that `gc` can
 * tell those that a killed `test` left.
 *
 * @module
 */
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { orFileError, storageError } from "../../store/fs_errors.ts";
import type { Garbage, GarbageReport, SkippedDirectory } from "../../store/lifecycle/remove.ts";
import { pathsAt, type SessionPaths } from "../../store/layout.ts";
import { inspectLock, SessionLock } from "../../store/write/lock.ts";

const PREFIX = "reprise-session-";
/** A younger directory may be one whose process takes its lock just now. */
const YOUNGEST_MS = 60_000;
/** A directory without a lock is one of an older version, which may still be playing its test. */
const YOUNGEST_UNLOCKED_MS = 24 * 60 * 60 * 1000;

/** A new scratch directory, which no other process removes until it is disposed of. */
export interface Scratch extends Disposable {
  readonly root: string;
}

/**
 * Creates a scratch directory and locks it.
 *
 * @throws {RepriseError} `storage_*`.
 */
export async function makeScratch(ports: Ports): Promise<Scratch> {
  const root = orFileError(
    "make a scratch directory (TMPDIR names where)",
    temporaryDirectory(ports),
    () => Deno.realPathSync(Deno.makeTempDirSync({ dir: temporaryDirectory(ports), prefix: PREFIX })),
  );
  const lock = await SessionLock.acquire(ports, pathsOf(root), { waitMs: 0 });
  return {
    root,
    [Symbol.dispose]() {
      Deno.removeSync(root, { recursive: true });
      lock.release();
    },
  };
}

/** Removes the scratch directories that killed processes of this user left; with `dryRun` it only finds them. */
export async function collectScratch(
  ports: Ports,
  { dryRun }: { readonly dryRun: boolean },
): Promise<GarbageReport> {
  const directory = temporaryDirectory(ports);
  const removed: Garbage[] = [];
  const skipped: SkippedDirectory[] = [];
  const names = orFileError("list the temporary directory", directory, () => ports.files.list(directory));
  for (const name of names.filter((each) => each.startsWith(PREFIX)).sort()) {
    const path = `${directory}/${name}`;
    try {
      if (!await isLeftOver(ports, path)) continue;
      if (!dryRun) Deno.removeSync(path, { recursive: true });
      removed.push({ kind: "scratch", path });
    } catch (error) {
      const { code, message } = storageError(error, "remove a scratch directory", path);
      skipped.push({ path, code, why: message });
    }
  }
  return { removed, skipped };
}

/** True if a directory is this user's and its process is gone. */
async function isLeftOver(ports: Ports, path: string): Promise<boolean> {
  const facts = ports.files.facts(path);
  if (facts?.kind !== "directory" || facts.owner !== ports.process.user) return false;
  const paths = pathsOf(path);
  // Real time: that of a played fixture says nothing of files.
  const isLocked = ports.files.facts(paths.lock) !== null;
  const age = Date.now() - (facts.modified ?? Date.now());
  if (age < (isLocked ? YOUNGEST_MS : YOUNGEST_UNLOCKED_MS)) return false;
  return !isLocked || !(await inspectLock(ports, paths)).held;
}

function temporaryDirectory(ports: Ports): string {
  const named = ports.env("TMPDIR") ?? "";
  return named === "" ? "/tmp" : named.replace(/(?<=.)\/+$/, "");
}

/** The name is no session's id: it only stands in messages. */
function pathsOf(root: string): SessionPaths {
  return pathsAt(root, root.slice(root.lastIndexOf("/") + 1) as SessionId);
}
