import type { SessionSummary } from "../../store/home.ts";

/** A session with the forks that were made of it, in the order of the list. */
export interface ForkNode {
  readonly session: SessionSummary;
  readonly forks: readonly ForkNode[];
}

/**
 * Sessions as a forest: each fork under its parent, and at the root where that is not among `sessions`. Manifests
 * may say anything: sessions that name each other in a circle stand at the root too, once each.
 */
export function forkTree(sessions: readonly SessionSummary[]): ForkNode[] {
  const known = new Set<string>(sessions.map(({ id }) => id));
  const forksOf = new Map<string, SessionSummary[]>();
  const roots: SessionSummary[] = [];
  for (const session of sessions) {
    const parent = session.manifest?.parent;
    if (parent === undefined || !known.has(parent)) roots.push(session);
    else forksOf.set(parent, [...forksOf.get(parent) ?? [], session]);
  }
  const placed = new Set<string>();
  const place = (session: SessionSummary): ForkNode[] => {
    if (placed.has(session.id)) return [];
    placed.add(session.id);
    return [{ session, forks: (forksOf.get(session.id) ?? []).flatMap(place) }];
  };
  return [...roots, ...sessions].flatMap(place);
}
