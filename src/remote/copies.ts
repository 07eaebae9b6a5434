/** Copies of turns: here, and on a remote the turn itself and, if that is damaged, replacements that were put beside it. */
import type { SessionId } from "../domain/ids.ts";
import { checkSeal } from "../domain/seal.ts";
import type { Ports } from "../domain/ports.ts";
import type { Turn } from "../domain/turn.ts";
import { sessionDamaged, sessionTooNew } from "../store/fs_errors.ts";
import { insideSession, type SessionPaths, turnPath } from "../store/layout.ts";
import { parseTurn, readTurn, type TurnVerdict } from "../store/read/turn.ts";
import { turnKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";

/** Number of objects that are fetched at the same time. */
const AT_A_TIME = 16;
/** Most copies of one turn that are looked at: the first, and replacements put beside it. */
export const MOST_COPIES = 10;

/** All copies of one turn that the remote has, the newest last. */
export interface Copies {
  readonly number: number;
  readonly files: readonly { readonly bytes: Uint8Array; readonly read: TurnVerdict }[];
  /** The newest intact one; `null` without one. */
  readonly intact: { readonly turn: Turn; readonly bytes: Uint8Array } | null;
}

/** Reads all copies of a turn; one request if the first is intact. */
export async function copiesOf(store: ObjectStore, id: SessionId, number: number): Promise<Copies> {
  const files: Copies["files"][number][] = [];
  for (let replacement = 0; replacement < MOST_COPIES; replacement++) {
    const found = await store.get(turnKey(id, number, replacement));
    if (found !== null) files.push({ bytes: found.bytes, read: parseTurn(found.bytes) });
    // A replacement exists only beside a damaged turn.
    if (replacement === 0 ? files[0]?.read.status === "ok" : found === null) break;
  }
  const intact = files.flatMap(({ bytes, read }) => read.status === "ok" ? [{ turn: read.turn, bytes }] : []);
  return { number, files, intact: intact.at(-1) ?? null };
}

/**
 * Calls `load` for each of `numbers` and yields the results in order. Loads one, then ever more at the same time, up to
 * {@linkcode AT_A_TIME}: a caller may need only the first.
 */
export async function* prefetched<T>(
  numbers: Iterable<number>,
  load: (number: number) => Promise<T>,
): AsyncGenerator<T> {
  const waiting = Iterator.from(numbers);
  const loading: Promise<T>[] = [];
  let most = 1;
  for (;;) {
    while (loading.length < most) {
      const { done, value } = waiting.next();
      if (done) break;
      const next = load(value);
      // Reported when its turn comes.
      next.catch(() => {});
      loading.push(next);
    }
    const next = loading.shift();
    if (next === undefined) return;
    yield await next;
    most = Math.min(AT_A_TIME, most * 2);
  }
}

/** The sum of the newest copy that fits its own; `null` if there is no such turn, or all its copies are damaged. */
export async function remoteSum(store: ObjectStore, id: SessionId, number: number): Promise<string | null> {
  const { files } = await copiesOf(store, id, number);
  return files.map(({ bytes }) => checkSeal(bytes)).findLast((sum) => sum !== null) ?? null;
}

/**
 * Reads a turn that must be here. Throws the runtime's errors.
 *
 * @throws {RepriseError} `session_damaged` if it is missing or damaged, `format_too_new`.
 */
export function localTurn(ports: Ports, paths: SessionPaths, number: number): Turn {
  const path = turnPath(paths, number);
  const read = readTurn(ports, path);
  if (read.status === "ok") return read.turn;
  if (read.status === "newer") throw sessionTooNew(paths, insideSession(paths, path), read.message);
  const message = read.status === "missing" ? "is missing" : read.message;
  throw sessionDamaged(paths, path, { code: "damaged_turn", message });
}
