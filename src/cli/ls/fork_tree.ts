import type { SessionSummary } from "../../store/home.ts";

/** A session with its forks, in the order of the list. */
export interface ForkNode<Session> {
  readonly session: Session;
  readonly forks: readonly ForkNode<Session>[];
}

/**
 * Sessions as a forest: each fork under its parent, or at the root if `sessions` lacks the parent. Manifests are not
 * trusted: sessions that name each other in a circle are at the root too, once each.
 */
export function forkTree<Session extends SessionSummary>(sessions: readonly Session[]): ForkNode<Session>[] {
  const known = new Set<string>(sessions.map(({ id }) => id));
  const forksOf = new Map<string, Session[]>();
  const roots: Session[] = [];
  for (const session of sessions) {
    const parent = session.manifest?.parent;
    if (parent === undefined || !known.has(parent)) roots.push(session);
    else forksOf.set(parent, [...forksOf.get(parent) ?? [], session]);
  }
  const placed = new Set<string>();
  const place = (session: Session): ForkNode<Session>[] => {
    if (placed.has(session.id)) return [];
    placed.add(session.id);
    return [{ session, forks: (forksOf.get(session.id) ?? []).flatMap(place) }];
  };
  return [...roots, ...sessions].flatMap(place);
}
