/**
 * Lock of a fixture folder: one recorder or pruner at a time. The file is in the staging folder, which readers and sums
 * pass over, and the last act of its owner is to remove both.
 */
import { RepriseError } from "../domain/errors.ts";
import type { Files, Ports } from "../domain/ports.ts";
import { badFixture, KIND_NAMES, requireFolder } from "../fixture/files.ts";
import { LOCK_FILE, STAGING_FOLDER } from "../fixture/format.ts";
import { readHeader, unlistedExchanges } from "../fixture/read.ts";
import { makeDirectories } from "../fixture/seal.ts";
import { cleanUpFolder } from "../fixture/clean_up.ts";
import { fileError, isTaken, systemCode } from "../store/fs_errors.ts";
import { FileLock, inspectFileLock, type LockOwner, ownerName } from "../store/write/file_lock.ts";

export interface FixtureLock {
  /** True if another process created the staging folder, which was then killed. */
  readonly leftBehind: boolean;
  /**
   * Releases the lock and removes the staging folder with the lock file, unless something else is in it. Never throws.
   *
   * @param isWhole False keeps the staging folder, which shows that exchanges may be unlisted.
   */
  release(isWhole: boolean): void;
}

/**
 * Takes the lock of the folder at `path`, which is created if it is missing.
 *
 * @throws {RepriseError} `fixture_locked` naming the owner, `bad_fixture` if its lock is no plain file of ours; the
 * runtime's errors.
 */
export async function lockFixture(ports: Ports, path: string): Promise<FixtureLock> {
  const { files } = ports;
  const [staging, lockFile] = [`${path}/${STAGING_FOLDER}`, `${path}/${LOCK_FILE}`];
  for (;;) {
    const isNew = createStaging(ports, path);
    try {
      const lock = await FileLock.acquire(ports, lockFile, {
        waitMs: 0,
        // The recorder itself reports a full disk, and removes the lock.
        toFree: true,
        unusable: ({ message }) =>
          badFixture(lockFile, `it ${message}`, { hint: `Remove "${staging}" if no recorder runs` }),
        held: (owner) => locked(path, owner),
      });
      return {
        // Another process may have locked our new folder before us, and been killed.
        leftBehind: !(isNew && lock.isNew),
        release(isWhole) {
          try {
            // The lock goes first of the two: from then on another process may create its own in the same folder.
            if (isWhole && files.list(staging).every((name) => `${STAGING_FOLDER}/${name}` === LOCK_FILE)) {
              files.unlink(lockFile);
              files.unlink(staging);
            }
          } catch {
            // Another process took over the folder, or a later one clears it.
          } finally {
            lock.release();
          }
        },
      };
    } catch (error) {
      // The owner before us removed its lock or the folder after we saw it.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
}

/**
 * Changes the fixture at `path` while no other process writes into it. A folder without a fixture and without remains of a
 * killed process is left to `act`.
 *
 * @throws {RepriseError} `fixture_locked`, `bad_fixture`, `storage_…`; the errors of `act`.
 */
export async function changeFixture<T>(
  ports: Ports,
  path: string,
  { tried, dryRun = false, act }: {
    /** Description for errors of the file system, such as `seal the fixture`. */
    readonly tried: string;
    /** Calls `act` without the lock, because it writes nothing. @default {false} */
    readonly dryRun?: boolean;
    readonly act: () => T;
  },
): Promise<T> {
  const { files } = ports;
  try {
    requireFolder(files, path);
    const isOurs = ["fixture.json", STAGING_FOLDER].some((name) => files.facts(`${path}/${name}`) !== null);
    if (dryRun || !isOurs) return act();
    const lock = await lockFixture(ports, path);
    let [isClean, isDone] = [!lock.leftBehind, false];
    try {
      if (!isClean) cleanUpFolder(files, path);
      isClean = true;
      const result = act();
      isDone = true;
      return result;
    } finally {
      lock.release(isDone || (isClean && !hasUnlisted(files, path)));
    }
  } catch (error) {
    throw fileError(error, tried, path);
  }
}

/** True for exchanges of a removal that failed: the staging folder must stay to show that. */
function hasUnlisted(files: Files, path: string): boolean {
  try {
    const header = files.facts(`${path}/fixture.json`) === null ? null : readHeader(files, path);
    return unlistedExchanges(files, path, header).length > 0;
  } catch {
    // The earlier failure is reported.
    return false;
  }
}

/**
 * Refuses a folder whose lock is held, without writing anything.
 *
 * @throws {RepriseError} `fixture_locked`; the runtime's errors.
 */
export async function requireUnlocked(ports: Ports, path: string): Promise<void> {
  const isFolder = (folder: string) => ports.files.facts(folder)?.kind === "directory";
  if (!isFolder(path) || !isFolder(`${path}/${STAGING_FOLDER}`)) return;
  const { held, owner } = await inspectFileLock(ports, `${path}/${LOCK_FILE}`);
  if (held) throw locked(path, owner);
}

/** Creates the staging folder; returns false if it exists. */
function createStaging({ files }: Ports, path: string): boolean {
  const staging = `${path}/${STAGING_FOLDER}`;
  for (;;) {
    const facts = files.facts(staging);
    if (facts?.kind === "directory") return false;
    if (facts !== null) {
      throw badFixture(staging, `it is ${KIND_NAMES[facts.kind]}, not a folder`, { hint: "Remove it" });
    }
    try {
      makeDirectories(files, staging);
      return true;
    } catch (error) {
      // Another process created one of the directories at the same time.
      if (!isTaken(error)) throw error;
    }
  }
}

function locked(path: string, owner: LockOwner | null): RepriseError {
  return new RepriseError(
    "fixture_locked",
    `Cannot write to the fixture "${path}": locked by ${ownerName(owner)}`,
    {
      hint: "Wait until it has ended, or give another folder",
      details: { path, owner: owner === null ? null : { ...owner } },
    },
  );
}
