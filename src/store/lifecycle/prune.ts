/**
 * Which sessions are too old, too many or too large.
 *
 * @module
 */
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { orStorageError } from "../fs_errors.ts";
import { type Home, listSessions, type SessionSummary } from "../home.ts";

/** Which sessions `prune` deletes: those that any of these names. */
export interface PruneRules {
  /** Older than so many milliseconds. */
  readonly olderThanMs?: number | undefined;
  /** All but so many of the newest. */
  readonly keep?: number | undefined;
  /** The oldest, until what is left has at most so many bytes; what sessions share counts once. */
  readonly maxBytes?: number | undefined;
}

/** A session that `prune` would delete. */
export interface Doomed {
  readonly id: SessionId;
  readonly updated_at: string;
  /** Of all its files, those included that it shares with a fork. */
  readonly bytes: number;
  readonly why: "age" | "number" | "size";
}

/**
 * The sessions that the rules name, oldest first. One whose age cannot be told is kept.
 *
 * @throws {RepriseError} `storage_*`.
 */
export function planPrune(ports: Ports, home: Home, rules: PruneRules): Doomed[] {
  const now = ports.clock.now();
  const dated = listSessions(ports, home).filter(({ manifest }) => manifest !== null);
  const seen = new Set<string>();
  let kept = 0;
  let size = 0;
  const doomed = dated.flatMap((session: SessionSummary): Doomed[] => {
    const updated_at = session.manifest?.updated_at ?? "";
    const { bytes, fresh } = orStorageError(
      "measure the sessions",
      session.path,
      () => sizeOf(ports, session.path, seen),
    );
    const tooOld = rules.olderThanMs !== undefined && now - Date.parse(updated_at) > rules.olderThanMs;
    const why = tooOld
      ? "age"
      : rules.keep !== undefined && kept >= rules.keep
      ? "number"
      : rules.maxBytes !== undefined && size + sum(fresh) > rules.maxBytes
      ? "size"
      : null;
    if (why !== null) return [{ id: session.id, updated_at, bytes, why }];
    kept++;
    size += sum(fresh);
    for (const file of fresh.keys()) seen.add(file);
    return [];
  });
  return doomed.reverse();
}

function sum(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
}

/** The bytes of a directory, and its files that are not in `seen`, each by what it is and not by its names. */
function sizeOf(ports: Ports, root: string, seen: ReadonlySet<string>) {
  const fresh = new Map<string, number>();
  let bytes = 0;
  const visit = (path: string) => {
    const facts = ports.files.facts(path);
    if (facts === null) return;
    if (facts.kind === "directory") {
      for (const name of ports.files.list(path)) visit(`${path}/${name}`);
      return;
    }
    bytes += facts.size;
    const file = facts.inode === null ? path : `${facts.device}:${facts.inode}`;
    if (!seen.has(file)) fresh.set(file, facts.size);
  };
  visit(root);
  return { bytes, fresh };
}
