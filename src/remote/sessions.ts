/** Lists the sessions of a remote. */
import type { SessionId } from "../domain/ids.ts";
import { parseKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";

/** A session on a remote, as the names and sizes of its objects show it. */
export interface RemoteSession {
  readonly id: SessionId;
  /** The last turn. */
  readonly turns: number;
  /** Length of all turns and blobs. */
  readonly bytes: number;
  /** Time at which the newest turn was put, by the store's clock, in milliseconds since the epoch; `null` if unknown. */
  readonly updated: number | null;
}

/** Lists what a remote holds. Throws as {@linkcode ObjectStore} does. */
export async function remoteContent(store: ObjectStore): Promise<{
  /** Those with turns, in the order of their ids; those that were removed are left out. */
  readonly sessions: readonly RemoteSession[];
  /** Keys that no request can name, passed over. */
  readonly unreachable: readonly string[];
}> {
  const found = new Map<SessionId, RemoteSession>();
  const removed = new Set<SessionId>();
  const unreachable: string[] = [];
  for await (const { key, size, modified, isReachable } of store.list("")) {
    if (!isReachable) unreachable.push(key);
    const parts = isReachable ? parseKey(key) : null;
    if (parts === null) continue;
    const { id } = parts;
    const before = found.get(id) ?? { id, turns: 0, bytes: 0, updated: null };
    switch (parts.kind) {
      case "removed":
        removed.add(id);
        break;
      case "blob":
        found.set(id, { ...before, bytes: before.bytes + size });
        break;
      case "turn":
        found.set(id, {
          ...before,
          turns: Math.max(before.turns, parts.turn),
          bytes: before.bytes + size,
          updated: later(before.updated, modified),
        });
    }
  }
  const sessions = [...found.values()]
    .filter(({ id, turns }) => turns > 0 && !removed.has(id))
    .sort((a, b) => a.id < b.id ? -1 : 1);
  return { sessions, unreachable };
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.max(a, b);
}
