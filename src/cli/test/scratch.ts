/**
 * The scratch directory in which one session test is played, with a home, a workspace and a working directory. It is
 * below the temporary directory and locked like a session, so that `rm --unused` can find directories that a killed `test` left.
 */
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { parsedObject, stringMember } from "../../domain/json.ts";
import type { Files, Ports } from "../../domain/ports.ts";
import { withoutSlash } from "../../domain/text.ts";
import { badFixture, readSealed } from "../../fixture/files.ts";
import { ATTACHMENTS } from "../../fixture/session/session_file.ts";
import { readHeader } from "../../fixture/read.ts";
import { orFileError, storageError } from "../../store/fs_errors.ts";
import type { GarbageReport } from "../../store/lifecycle/remove.ts";
import type { Garbage, SkippedDirectory } from "../../schemas/maintenance.ts";
import { pathsAt, type SessionPaths } from "../../store/layout.ts";
import { inspectLock, lockSession } from "../../store/write/lock.ts";
import { copyBelow, entries, exists, filesBelow, requirePlain, setModified } from "./files.ts";

const SCRATCH_PREFIX = "reprise-session-";
/** The process of a younger directory may be about to take its lock. */
const YOUNGEST_MS = 60_000;
/** A directory without a lock is from an older version, which may still be playing its test. */
const YOUNGEST_UNLOCKED_MS = 24 * 60 * 60 * 1000;

/** The scratch directory of a test, which no other process removes until it is disposed of. */
export interface TestScratch extends Disposable {
  /** Holds all other directories. */
  readonly root: string;
  readonly home: string;
  /** A copy of `workspace/`; empty if the test has none. */
  readonly workspace: string;
  /** Holds copies of the files beside `session.json`, and of `attachments/`, for relative arguments. */
  readonly cwd: string;
  /** `HOME` and `TMPDIR` of commands; empty. */
  readonly user: string;
  readonly temporary: string;
}

/**
 * Creates and locks it for the test in `directory`. Files of the workspace get `modified` as the time of their last change.
 *
 * @throws {RepriseError} `bad_fixture` if `start/` is no session, or it or `workspace/` holds a link; `storage_*`.
 */
export async function createScratch(ports: Ports, directory: string, modified?: Date): Promise<TestScratch> {
  for (const name of ["workspace", "start", ATTACHMENTS]) requirePlain(`${directory}/${name}`);
  const root = makeScratchDirectory(ports);
  const lock = await lockSession(ports, pathsOf(root));
  const scratch: TestScratch = {
    root,
    home: `${root}/home`,
    workspace: `${root}/workspace`,
    cwd: `${root}/cwd`,
    user: `${root}/user`,
    temporary: `${root}/tmp`,
    [Symbol.dispose]() {
      Deno.removeSync(root, { recursive: true });
      lock.release();
    },
  };
  try {
    copyBelow(`${directory}/workspace`, scratch.workspace);
    if (modified !== undefined) setModified(scratch.workspace, modified);
    for (const path of [scratch.cwd, scratch.user, scratch.temporary]) Deno.mkdirSync(path, { mode: 0o700 });
    for (const { name, isFile } of entries(directory)) {
      if (isFile) Deno.copyFileSync(`${directory}/${name}`, `${scratch.cwd}/${name}`);
    }
    copyBelow(`${directory}/${ATTACHMENTS}`, `${scratch.cwd}/${ATTACHMENTS}`);
    if (exists(`${directory}/start`)) {
      copyBelow(`${directory}/start`, `${scratch.home}/sessions/${startedSession(directory)}`);
    }
    return scratch;
  } catch (error) {
    scratch[Symbol.dispose]();
    throw error;
  }
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
  for (const name of names.filter((each) => each.startsWith(SCRATCH_PREFIX)).sort()) {
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
  // Real time: the clock of a played fixture says nothing about files.
  const isLocked = ports.files.facts(paths.lock) !== null;
  const age = Date.now() - (facts.modified ?? Date.now());
  if (age < (isLocked ? YOUNGEST_MS : YOUNGEST_UNLOCKED_MS)) return false;
  return !isLocked || !(await inspectLock(ports, paths)).held;
}

/** Makes a directory that `rm --unused` removes if this process is killed. Throws `storage_*`. */
export function makeScratchDirectory(ports: Ports): string {
  const parent = temporaryDirectory(ports);
  return orFileError(
    "create a scratch directory (TMPDIR names where)",
    parent,
    () => Deno.realPathSync(Deno.makeTempDirSync({ dir: parent, prefix: SCRATCH_PREFIX })),
  );
}

function temporaryDirectory(ports: Ports): string {
  const named = ports.env("TMPDIR") ?? "";
  return named === "" ? "/tmp" : withoutSlash(named);
}

/** An id for messages only: no session has it. */
function pathsOf(root: string): SessionPaths {
  return pathsAt(root, root.slice(root.lastIndexOf("/") + 1) as SessionId);
}

/** The id of the session in `start/`, which the first step finds. @throws {RepriseError} `bad_fixture` without an id in its manifest. */
export function startedSession(directory: string): SessionId {
  const path = `${directory}/start/manifest.json`;
  try {
    return parseSessionId(stringMember(parsedObject(Deno.readTextFileSync(path)) ?? {}, "session") ?? "");
  } catch (cause) {
    throw badFixture(path, "it does not name a session", { cause });
  }
}

/**
 * Checks `start/` against the sums of the fixture in the same folder; a test that is no fixture itself has none.
 *
 * @throws {RepriseError} `bad_fixture` for a file that is missing, not listed, or has another sum.
 */
export function requireSealedStart(files: Files, directory: string): void {
  if (!exists(`${directory}/fixture.json`)) return;
  const header = readHeader(files, directory);
  const listed = Object.keys(header.files).filter((name) => name.startsWith("start/"));
  const found = filesBelow(`${directory}/start`).map((name) => `start/${name}`);
  for (const name of new Set([...listed, ...found])) readSealed(files, directory, name, header);
}
