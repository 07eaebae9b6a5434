/**
 * The errors about what is in a session's files, as opposed to what the disk refused.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import { insideSession, type SessionPaths } from "./layout.ts";

/** `session_damaged` (exit 12) for the file or directory at `path`. */
export function damaged(
  paths: SessionPaths,
  path: string,
  finding: { readonly code: string; readonly message: string },
): RepriseError {
  const where = path === paths.root ? "its directory" : insideSession(paths, path);
  return new RepriseError(
    "session_damaged",
    `Cannot read session "${paths.id}": ${where} ${finding.message}`,
    {
      hint:
        `See all findings with "reprise fsck ${paths.id}", and mend them with "reprise repair ${paths.id}"`,
      details: { session: paths.id, path, finding: finding.code },
    },
  );
}

/** `format_too_new` (exit 2) for the turn file `where`, a path inside the session. */
export function tooNew(paths: SessionPaths, where: string, found: string): RepriseError {
  return new RepriseError("format_too_new", `Cannot continue session "${paths.id}": ${where} ${found}`, {
    hint: `Use a newer version of reprise; "reprise show ${paths.id}" still prints the session`,
    details: { session: paths.id, path: where },
  });
}
