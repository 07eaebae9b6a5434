/** Copies of turns on a remote: the turn itself and, if that is damaged, replacements that were put beside it. */
import type { SessionId } from "../domain/ids.ts";
import { checkSeal } from "../domain/seal.ts";
import type { Turn } from "../domain/turn.ts";
import { parseTurn } from "../store/read/turn.ts";
import { turnKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";

/** Number of objects that are fetched at the same time. */
const AT_A_TIME = 16;
/** Most copies of one turn that are looked at: the first, and replacements put beside it. */
export const MOST_COPIES = 10;

/** All copies of one turn that the remote has, the newest last. */
export interface Copies {
  readonly number: number;
  readonly bytes: readonly Uint8Array[];
}

/** Reads all copies of a turn; one request if the first is intact. */
export async function copiesOf(store: ObjectStore, id: SessionId, number: number): Promise<Copies> {
  const first = await store.get(turnKey(id, number));
  const bytes = first === null ? [] : [first.bytes];
  // A replacement exists only beside a damaged turn.
  if (first !== null && parseTurn(first.bytes).status === "ok") return { number, bytes };
  for (let replacement = 1; replacement < MOST_COPIES; replacement++) {
    const found = await store.get(turnKey(id, number, replacement));
    if (found === null) break;
    bytes.push(found.bytes);
  }
  return { number, bytes };
}

/**
 * Calls `load` for each number and yields the results in order. Loads one, then ever more at the same time, up to
 * {@linkcode AT_A_TIME}: a caller may need only the first.
 */
export async function* prefetched<T>(
  first: number,
  last: number,
  load: (number: number) => Promise<T>,
): AsyncGenerator<T> {
  const loading: Promise<T>[] = [];
  let most = 1;
  for (let number = first; number <= last || loading.length > 0;) {
    while (number <= last && loading.length < most) {
      const next = load(number++);
      // Reported when its turn comes.
      next.catch(() => {});
      loading.push(next);
    }
    const next = loading.shift();
    if (next !== undefined) yield await next;
    most = Math.min(AT_A_TIME, most * 2);
  }
}

/** The newest intact copy of a turn; `null` without one. */
export function newestIntactCopy({ bytes }: Copies): {
  readonly turn: Turn;
  readonly bytes: Uint8Array;
} | null {
  for (const file of bytes.toReversed()) {
    const parsed = parseTurn(file);
    if (parsed.status === "ok") return { turn: parsed.turn, bytes: file };
  }
  return null;
}

/** The sum of the newest copy that fits its own; `null` if there is no such turn, or all its copies are damaged. */
export async function remoteSum(store: ObjectStore, id: SessionId, number: number): Promise<string | null> {
  const { bytes } = await copiesOf(store, id, number);
  return bytes.map((file) => checkSeal(file)).findLast((sum) => sum !== null) ?? null;
}
