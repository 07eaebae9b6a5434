/** Entries of a session's directories. `fsck` and `repair` judge the same entries by the same rules. */
import type { Ports } from "../../domain/ports.ts";
import { DIRECTORY_MODE, FILE_MODE, isBlobName, type SessionPaths, turnNumberOf } from "../layout.ts";
import { isLeftover, type Looked, lookForDirectory, lookForFile, namesIn } from "../read/safe_open.ts";

/** An entry of a session's directories. */
export interface SessionEntry {
  readonly path: string;
  /**
   * By its name. `waiting`: a turn that waits for a remote; `leftover`: a temporary file of a killed writer; `foreign`:
   * no name of ours.
   */
  readonly role: "directory" | "file" | "turn" | "waiting" | "blob" | "leftover" | "foreign";
  readonly turn?: number;
  /** Finding about a leftover or a foreign entry, to be read after the path. */
  readonly message?: string;
}

const DIRECTORIES: ReadonlySet<string> = new Set(["turns", "blobs", "quarantine", "pending"]);
const FILES: ReadonlySet<string> = new Set(["manifest.json", "lock"]);

/** Lists the session's own directory and all entries that are not in `quarantine/`. Throws the runtime's errors. */
export function sessionEntries(ports: Ports, paths: SessionPaths): SessionEntry[] {
  const within = (directory: string, read: (name: string) => Omit<SessionEntry, "path">) => {
    return namesIn(ports, directory).sort().map((name): SessionEntry => ({
      path: `${directory}/${name}`,
      ...read(name),
    }));
  };
  const turnsIn = (directory: string, role: "turn" | "waiting") =>
    within(directory, (name) => {
      const turn = turnNumberOf(name);
      return turn === null ? foreign("is not the name of a turn") : { role, turn };
    });
  return [
    { path: paths.root, role: "directory" },
    ...within(paths.root, (name) => {
      if (DIRECTORIES.has(name)) return { role: "directory" };
      if (FILES.has(name)) return { role: "file" };
      return isLeftover(ports, `${paths.root}/${name}`)
        ? { role: "leftover", message: "was left by a killed writer" }
        : foreign("is not the name of a file of a session");
    }),
    ...turnsIn(paths.pending, "waiting"),
    ...turnsIn(paths.turns, "turn"),
    ...within(
      paths.blobs,
      (name) => isBlobName(name) ? { role: "blob" } : foreign("is not the name of a blob"),
    ),
  ];
}

function foreign(message: string): Omit<SessionEntry, "path"> {
  return { role: "foreign", message };
}

/** Damage of an entry, or a fact about it. */
export interface EntryFlaw {
  readonly severity: "error" | "warning" | "info";
  /** A code of `fsck`. */
  readonly code: string;
  /** Finding, to be read after the path. */
  readonly message: string;
  /** Cure by `repair`: the file moves to `quarantine/`, or gets a mode. `null` if it does not, or needs no cure. */
  readonly cure: "set_aside" | { readonly mode: number } | null;
}

/** Inspects an entry: kind, owner and mode, and leftovers and names of no meaning. Throws the runtime's errors. */
export function inspectEntry(
  ports: Ports,
  { path, role, message = "" }: SessionEntry,
): { readonly looked: Looked; readonly flaws: readonly EntryFlaw[] } {
  if (role === "foreign" || role === "leftover") {
    const looked = { status: "missing" } as const;
    // A name that is no valid text cannot be used.
    const cure = role === "leftover" || ports.files.facts(path) !== null ? "set_aside" : null;
    const flaw = role === "leftover"
      ? { severity: "info", code: "leftover" } as const
      : { severity: "warning", code: "foreign_file" } as const;
    return { looked, flaws: [{ ...flaw, message, cure }] };
  }
  const [look, mode] = role === "directory"
    ? [lookForDirectory, DIRECTORY_MODE] as const
    : [lookForFile, FILE_MODE] as const;
  const looked = look(ports, path);
  if (looked.status === "refused") {
    // Turns and blobs are judged with their content, and directories of another kind are left alone.
    const cure = role === "waiting" ? "set_aside" : null;
    return { looked, flaws: [{ severity: "error", code: looked.code, message: looked.message, cure }] };
  }
  const found = looked.status === "ok" ? looked.facts.mode : null;
  if (found === null || (found & 0o777) === mode) return { looked, flaws: [] };
  const octal = (bits: number) => (bits & 0o777).toString(8).padStart(4, "0");
  const wrong = `has mode ${octal(found)} instead of ${octal(mode)}`;
  return { looked, flaws: [{ severity: "warning", code: "wrong_mode", message: wrong, cure: { mode } }] };
}
