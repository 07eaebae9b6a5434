/**
 * Errors about files that users meet: `storageError` about the home and its sessions and `fileError` about any other path
 * (exit 14), and the errors about the content of a session's files.
 */
import { type ErrorCode, RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { insideSession, type SessionPaths } from "./layout.ts";

const CODE_OF_CLASS: Record<string, string> = {
  AlreadyExists: "EEXIST",
  NotFound: "ENOENT",
  PermissionDenied: "EACCES",
  NotCapable: "EACCES",
};

/** Errors for which the runtime gives only the number, on Linux and macOS. */
const CODE_OF_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [/\(os error 27\)/, "EFBIG"],
  [/\(os error (?:36|63)\)/, "ENAMETOOLONG"],
];

/** The system's name of an error, such as `ENOSPC`; `null` for anything that is not a file system's error. */
export function systemCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ("code" in error && typeof error.code === "string") return error.code;
  const byMessage = CODE_OF_MESSAGE.find(([pattern]) => pattern.test(error.message));
  return CODE_OF_CLASS[error.name] ?? byMessage?.[1] ?? null;
}

/** True if a name was taken already. */
export function isTaken(error: unknown): boolean {
  return systemCode(error) === "EEXIST";
}

/** True if there is no room for another byte. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"]);

/** True if the file system has no hard links here, as on FAT and some network file systems. */
export function isWithoutLinks(error: unknown): boolean {
  return NO_LINKS.has(systemCode(error) ?? "");
}

/** Advice for each kind of refusal. */
type Hints = Readonly<Record<"full" | "denied" | "readOnly" | "tooLarge" | "failed", string>>;

const RAISE_LIMIT = 'Raise the limit on the size of files ("ulimit -f")';

const HOME_HINTS: Hints = {
  full: "Free some space",
  denied: "Check the owner and mode of that path, or choose another home with --home",
  readOnly: "Choose a home on a writable file system with --home",
  tooLarge: RAISE_LIMIT,
  failed: 'Check the disk and the path, then see what is there with "reprise fsck --all"',
};

const FILE_HINTS: Hints = {
  full: "Free some space",
  denied: "Check the owner and mode of that path, or name another one",
  readOnly: "Name a path on a writable file system",
  tooLarge: RAISE_LIMIT,
  failed: "Check the disk and that path, or name another one",
};

/** Code, finding and advice for the errors of which users know the cause. */
const REFUSALS: Readonly<Record<string, readonly [code: ErrorCode, found: string, hint: keyof Hints]>> = {
  ENOSPC: ["storage_full", "the disk or the quota is full", "full"],
  EDQUOT: ["storage_full", "the disk or the quota is full", "full"],
  EACCES: ["storage_denied", "permission denied", "denied"],
  EPERM: ["storage_denied", "permission denied", "denied"],
  EROFS: ["storage_denied", "the file system is read-only", "readOnly"],
  EFBIG: [
    "storage_failed",
    "the file would exceed the size limit of this process or of the file system",
    "tooLarge",
  ],
};

/**
 * A file system's error as `storage_full`, `storage_denied` or `storage_failed`. `tried` starts with a verb,
 * such as `append turn 3 to session "fix-ci"`. A {@linkcode RepriseError} is returned unchanged.
 */
export function storageError(error: unknown, tried: string, path: string): RepriseError {
  return refused(error, tried, path, HOME_HINTS);
}

/** Like {@linkcode storageError}, about a path outside of the home: a fixture, a file to write. */
export function fileError(error: unknown, tried: string, path: string): RepriseError {
  return refused(error, tried, path, FILE_HINTS);
}

function refused(error: unknown, tried: string, path: string, hints: Hints): RepriseError {
  if (error instanceof RepriseError) return error;
  const known = systemCode(error);
  const said = error instanceof Error ? error.message : String(error);
  const [code, found, hint] = REFUSALS[known ?? ""] ?? ["storage_failed", said, "failed"];
  return new RepriseError(code, `Cannot ${tried}: ${found}, at ${JSON.stringify(path)}`, {
    hint: hints[hint],
    details: { path, system_code: known },
    cause: error,
  });
}

/** Runs `operation`. Throws errors of the file system as {@linkcode storageError}, and our own bugs unchanged. */
export function orStorageError<T>(tried: string, path: string, operation: () => T): T {
  return orRefused(operation, (error) => storageError(error, tried, path));
}

/** Like {@linkcode orStorageError}, with {@linkcode fileError}. */
export function orFileError<T>(tried: string, path: string, operation: () => T): T {
  return orRefused(operation, (error) => fileError(error, tried, path));
}

function orRefused<T>(operation: () => T, wrap: (error: unknown) => RepriseError): T {
  try {
    return operation();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    throw wrap(error);
  }
}

/** `no_such_session` (exit 2) if there is no session where one was looked for. */
export function noSuchSession(id: SessionId, { tried, found }: {
  /** Verb and object, such as `open session "a"`. */
  readonly tried: string;
  readonly found: string;
}): RepriseError {
  return new RepriseError("no_such_session", `Cannot ${tried}: ${found}`, {
    hint: 'List the sessions with "reprise ls"',
    details: { session: id },
  });
}

/** `session_damaged` (exit 12) for the file or directory at `path`. */
export function sessionDamaged(
  paths: SessionPaths,
  path: string,
  finding: { readonly code: string; readonly message: string },
): RepriseError {
  const { id } = paths;
  const where = path === paths.root ? "its directory" : insideSession(paths, path);
  return new RepriseError("session_damaged", `Cannot read session "${id}": ${where} ${finding.message}`, {
    hint: `See all findings with "reprise fsck ${id}", and repair them with "reprise repair ${id}"`,
    details: { session: id, path, finding: finding.code },
  });
}

/** `format_too_new` (exit 2) for the turn file `where`, a path inside the session. */
export function sessionTooNew(paths: SessionPaths, where: string, found: string): RepriseError {
  return new RepriseError("format_too_new", `Cannot continue session "${paths.id}": ${where} ${found}`, {
    hint: `Use a newer version of reprise; "reprise show ${paths.id}" still prints the session`,
    details: { session: paths.id, path: where },
  });
}
