/** Compares a session here with its copy on a remote. */
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import { type SessionPaths, turnPath } from "../store/layout.ts";
import { readTurn } from "../store/read/turn.ts";
import { remoteSum } from "./copies.ts";
import { parseKey, removedKey, turnKey, turnsPrefix } from "./keys.ts";
import { localTurn } from "./push.ts";
import type { ObjectStore } from "./object_store.ts";
import { removedError } from "./session_remote.ts";

/** Difference between a session and its copy. Each turn names the one before, so those before equal turns are equal. */
export type Standing =
  /** `turns` are equal and the last ones of both. */
  | { readonly state: "same"; readonly turns: number }
  /** The remote lacks the turns after `common`, up to `last`; all of them if `common` is 0. */
  | { readonly state: "longer_here"; readonly common: number; readonly last: number }
  /** This home lacks the turns after `common`, up to `last`. */
  | { readonly state: "longer_there"; readonly common: number; readonly last: number }
  /** Both have turn `parts`, and they differ; the turns before it are equal. */
  | { readonly state: "diverged"; readonly parts: number; readonly here: number; readonly there: number };

/** Numbers of the turns on the remote after turn `after`, ascending; those of replacements are left out. */
export async function remoteTurns(store: ObjectStore, id: SessionId, after = 0): Promise<number[]> {
  const numbers: number[] = [];
  const options = after === 0 ? {} : { after: turnKey(id, after) };
  for await (const { key } of store.list(turnsPrefix(id), options)) {
    const parts = parseKey(key);
    if (parts?.kind === "turn" && parts.replacement === 0 && parts.turn > after) numbers.push(parts.turn);
  }
  return numbers.sort((a, b) => a - b);
}

/**
 * Compares. `last` is the last turn here; 0 if the session is not here.
 *
 * @throws {RepriseError} `session_removed`; `session_damaged` if the last turn that both should have is damaged on a side, or turns are
 * missing on the remote before its last one; `format_too_new`; as {@linkcode ObjectStore} does; the runtime's errors.
 */
export async function standingOf(
  ports: Ports,
  store: ObjectStore,
  { paths, last }: { readonly paths: SessionPaths; readonly last: number },
): Promise<Standing> {
  const { id } = paths;
  if (await store.get(removedKey(id)) !== null) throw removedError(id, store.name);
  // One request is enough unless the remote lacks turns of this home.
  const from = Math.max(0, last - 1);
  const later = await lastThere(store, id, from);
  const there = later > from || from === 0 ? later : await lastThere(store, id, 0);
  const isEqual = async (turn: number) => {
    const read = readTurn(ports, turnPath(paths, turn));
    return read.status === "ok" && read.turn.sum === await remoteSum(store, id, turn);
  };
  const shared = Math.min(last, there);
  const sum = shared === 0 ? null : localTurn(ports, paths, shared).sum;
  const sumThere = shared === 0 ? null : await remoteSum(store, id, shared);
  if (shared > 0 && sumThere === null) {
    throw damagedThere(id, { remote: store.name, turn: shared, found: "is damaged there" });
  }
  if (sum === sumThere) {
    if (last === there) return { state: "same", turns: last };
    return last > there
      ? { state: "longer_here", common: shared, last }
      : { state: "longer_there", common: shared, last: there };
  }
  let [equal, parts] = [0, shared];
  while (parts - equal > 1) {
    const middle = Math.floor((equal + parts) / 2);
    if (await isEqual(middle)) equal = middle;
    else parts = middle;
  }
  return { state: "diverged", parts, here: last, there };
}

/** The last turn on the remote; `after` if it has none after that turn. */
async function lastThere(store: ObjectStore, id: SessionId, after: number): Promise<number> {
  const numbers = await remoteTurns(store, id, after);
  const gap = numbers.findIndex((number, index) => number !== after + 1 + index);
  if (gap === -1) return after + numbers.length;
  throw damagedThere(id, { remote: store.name, turn: after + 1 + gap, found: "is missing there" });
}

function damagedThere(
  id: SessionId,
  { remote, turn, found }: { readonly remote: string; readonly turn: number; readonly found: string },
): RepriseError {
  return new RepriseError(
    "session_damaged",
    `Cannot compare session "${id}" with ${remote}: turn ${turn} ${found}`,
    {
      hint: `Repair it in a home that has turn ${turn}: reprise repair ${id}`,
      details: { session: id, turn, remote },
    },
  );
}
