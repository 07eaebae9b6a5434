/**
 * The copy of one session on a remote: a writer adds turns to it, and a removal leaves a tombstone, so that a home that still
 * has the session cannot put it again.
 */
import { encodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { checkSeal } from "../domain/seal.ts";
import type { Turn } from "../domain/turn.ts";
import type { NamedBlob, PendingTurn, TurnRemote } from "../store/write/turn_remote.ts";
import { blobKey, parseKey, removedKey, sessionPrefix, turnKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";
import { requireNoOpenRun } from "./open_run.ts";

export class SessionRemote implements TurnRemote {
  readonly name: string;
  readonly #store: ObjectStore;
  readonly #id: SessionId;
  /** Blobs that are known to be on the remote. */
  readonly #blobs = new Set<string>();
  /** The last turn that is known to be on the remote. */
  #last = 0;
  /** True once the remote showed that it has no tombstone. */
  #wasThere = false;

  constructor(store: ObjectStore, id: SessionId) {
    this.name = `${store.name}/${id}`;
    this.#store = store;
    this.#id = id;
  }

  async store({ turn, bytes, blobs }: PendingTurn): Promise<"stored" | "lost"> {
    if (!this.#wasThere) await this.requireNotRemoved();
    await this.#requireBefore(turn);
    for (const blob of blobs) await this.#storeBlob(blob);
    const key = turnKey(this.#id, turn.turn);
    const deadline = this.#store.deadline();
    for (let attempt = 1;; attempt++) {
      if (await this.#store.putNew(key, bytes, deadline) === "stored") break;
      // The object may be ours, from an attempt whose answer was lost: its sum shows that. ETags are not compared.
      const there = await this.#store.get(key, deadline);
      if (there !== null && checkSeal(there.bytes) !== turn.sum) return "lost";
      if (there !== null) break;
      if (!await this.#store.waitAfter(attempt, deadline)) throw this.#unreachable(key);
    }
    this.#last = turn.turn;
    return "stored";
  }

  /** Leaves no gap: another writer of this home may have added turns after this one compared the session with the remote. */
  async #requireBefore({ turn, prev }: Turn): Promise<void> {
    if (turn === 1 || this.#last === turn - 1) return;
    const before = await this.#store.get(turnKey(this.#id, turn - 1));
    const sum = before === null ? null : checkSeal(before.bytes);
    // A damaged turn has its replacement beside it.
    if (before !== null && (sum === null || sum === prev)) return;
    const found = before === null ? `it has no turn ${turn - 1}` : `its turn ${turn - 1} is another one`;
    throw new RepriseError("session_diverged", `Cannot put turn ${turn} to ${this.name}: ${found}`, {
      hint: `Run again: reprise run -s ${this.#id}`,
      details: { session: this.#id, turn, remote: this.#store.name },
    });
  }

  async #storeBlob({ sha256, read }: NamedBlob): Promise<void> {
    if (this.#blobs.has(sha256)) return;
    const bytes = read();
    const key = blobKey(this.#id, sha256);
    const deadline = this.#store.deadline();
    for (let attempt = 1; bytes !== null; attempt++) {
      const answer = await this.#store.putNew(key, bytes, deadline);
      if (answer === "stored") break;
      // Its name proves its content to every reader, so it is not read again here.
      const there = await this.#store.size(key, deadline);
      if (there !== null) {
        if (there === bytes.length) break;
        throw new RepriseError(
          "session_damaged",
          `Cannot use ${this.name}: the blob ${sha256} has ${there} bytes there, not ${bytes.length}`,
          {
            hint: `Put it there again: reprise repair ${this.#id}`,
            details: { session: this.#id, sha256 },
          },
        );
      }
      if (!await this.#store.waitAfter(attempt, deadline)) throw this.#unreachable(key);
    }
    this.#blobs.add(sha256);
  }

  async requireNotRemoved(): Promise<void> {
    if (await this.#store.get(removedKey(this.#id)) !== null) {
      // The removal may have listed the objects before this writer put some.
      if (this.#last > 0) await removeObjects(this.#store, this.#id);
      throw removedError(this.#id, this.#store.name);
    }
    this.#wasThere = true;
  }

  #unreachable(key: string): RepriseError {
    return new RepriseError(
      "remote_unreachable",
      `Cannot put ${this.#store.name}/${key}: the remote does not keep it`,
      {
        hint: "Try again; nothing that was acknowledged is lost",
        details: { remote: this.#store.name },
      },
    );
  }
}

/** Creates the error for a session that was removed from the remote. */
export function removedError(id: SessionId, remote: string): RepriseError {
  return new RepriseError(
    "session_removed",
    `Cannot use session "${id}" on ${remote}: it was removed there`,
    {
      hint: `Continue it under another id: reprise fork ${id}`,
      details: { session: id, remote },
    },
  );
}

/** Most lists: each one may hold objects that a writer put after the one before. */
const MOST_LISTS = 20;

/**
 * Removes all objects of a session but its tombstone, until a list holds none: a writer that looked for the tombstone
 * before it was put may still add some. Returns the number of removed objects.
 *
 * @throws {RepriseError} `session_open_elsewhere` if a writer keeps adding objects; as {@linkcode ObjectStore} does.
 */
async function removeObjects(store: ObjectStore, id: SessionId): Promise<number> {
  let removed = 0;
  for (let list = 1; list <= MOST_LISTS; list++) {
    const keys: string[] = [];
    for await (const { key, isReachable } of store.list(sessionPrefix(id))) {
      if (isReachable && key !== removedKey(id)) keys.push(key);
    }
    if (keys.length === 0) return removed;
    // The first turns last: until then a list shows that something is left.
    for (const key of keys.reverse()) await store.remove(key);
    removed += keys.length;
  }
  throw new RepriseError(
    "session_open_elsewhere",
    `Cannot remove all of session "${id}" from ${store.name}: a writer keeps putting objects there`,
    {
      hint: `End the writer, then remove the session again: reprise rm ${id} --remote`,
      details: { session: id, remote: store.name },
    },
  );
}

/**
 * Puts the tombstone, then removes all other objects of the session. Interrupted, it leaves the tombstone; the next call
 * removes the rest. `at` is in ISO 8601 UTC. Returns the number of removed objects.
 *
 * @throws {RepriseError} `no_such_session` if the remote never had it, `session_removed` if nothing of it is left,
 * `session_open_elsewhere` while a run keeps it open, or a writer adds objects; as {@linkcode ObjectStore} does.
 */
export async function removeRemotely(store: ObjectStore, id: SessionId, at: string): Promise<number> {
  let isRemoved = false;
  let isEmpty = true;
  let newest = 0;
  for await (const { key, isReachable } of store.list(sessionPrefix(id))) {
    if (!isReachable) continue;
    const parts = parseKey(key);
    if (parts?.kind === "removed") isRemoved = true;
    else isEmpty = false;
    if (parts?.kind === "turn") newest = Math.max(newest, parts.turn);
  }
  if (isEmpty) throw isRemoved ? removedError(id, store.name) : noRemoteSession(id, store.name);
  if (!isRemoved) {
    await requireNoOpenRun(store, id, newest);
    await putTombstone(store, id, at);
  }
  return await removeObjects(store, id);
}

async function putTombstone(store: ObjectStore, id: SessionId, at: string): Promise<void> {
  const bytes = encodeUtf8(`${JSON.stringify({ removed_at: at })}\n`);
  const deadline = store.deadline();
  for (let attempt = 1;; attempt++) {
    const answer = await store.putNew(removedKey(id), bytes, deadline);
    // Another call may have put it: any tombstone will do.
    if (answer !== "unknown" || await store.get(removedKey(id), deadline) !== null) return;
    if (!await store.waitAfter(attempt, deadline)) break;
  }
  throw new RepriseError(
    "remote_unreachable",
    `Cannot remove session "${id}" from ${store.name}: no put is kept`,
    {
      hint: "Try again; nothing was removed",
      details: { session: id, remote: store.name },
    },
  );
}

/** Creates the error for a session that a remote does not have. */
export function noRemoteSession(id: SessionId, remote: string): RepriseError {
  return new RepriseError(
    "no_such_session",
    `Cannot find session "${id}" on ${remote}: it has no turn of it`,
    {
      hint: "List the sessions there: reprise ls --remote",
      details: { session: id, remote },
    },
  );
}
