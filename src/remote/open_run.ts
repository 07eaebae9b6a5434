/**
 * The object that an open run keeps young, so that another home does not close the run of a living process.
 *
 * @module
 */
import { decodeUtf8Leniently, encodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isJsonObject, type JsonValue, stringMember } from "../domain/json.ts";
import type { Clock, Ports } from "../domain/ports.ts";
import { isBetweenRuns } from "../domain/turn.ts";
import { isTaken } from "../store/fs_errors.ts";
import type { Home } from "../store/home.ts";
import type { SessionPaths } from "../store/layout.ts";
import { claimName, unlinkQuietly, writeTemporary } from "../store/write/publish.ts";
import { openKey, turnKey } from "./keys.ts";
import { localTurn } from "./local_turn.ts";
import type { ObjectStore } from "./object_store.ts";

/** Age from which an open run counts as killed, in milliseconds. */
export const ABANDONED_MS = 15 * 60 * 1000;
/** Interval in which a run keeps its object young, in milliseconds. */
const INTERVAL_MS = 4 * 60 * 1000;

/** A run that may be open in another home. */
export interface OpenRun {
  readonly id: SessionId;
  /** The last turn on the remote. */
  readonly lastTurn: number;
  /** True if this call puts turns of this home after `lastTurn`, so that no other home has added any. */
  readonly isOurs: boolean;
}

/**
 * Refuses to close a run that another home may be working on: one whose `open.json` names another home, or whose last
 * turn may be from another home, and that was active in the last 15 minutes by the store's clock.
 *
 * @throws {RepriseError} `session_open_elsewhere` with the age; as {@linkcode ObjectStore} does.
 */
export async function requireAbandoned(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { id, lastTurn, isOurs }: OpenRun,
): Promise<void> {
  const beat = await store.get(openKey(id));
  const owner = beat === null ? null : ownerIn(beat.bytes);
  if (owner === null ? isOurs : owner === homeId(ports, home)) return;
  const turn = await store.get(turnKey(id, lastTurn));
  const ageMs = Math.min(beat?.ageMs ?? Infinity, turn?.ageMs ?? Infinity);
  if (ageMs >= ABANDONED_MS) return;
  const seconds = Math.round(ageMs / 1000);
  throw new RepriseError(
    "session_open_elsewhere",
    `Cannot continue session "${id}": another home was working on its open run ${seconds} seconds ago`,
    {
      hint: `Wait for it, or end its run: reprise run -s ${id} --take-over "…"`,
      details: { session: id, age_seconds: seconds, remote: store.name },
    },
  );
}

/**
 * Refuses to put turns after the last one that the remote has, if they would close a run that another home may be working
 * on: they were added here without the remote.
 *
 * @throws {RepriseError} as {@linkcode requireAbandoned} does; `session_damaged`.
 */
export async function requireNothingClosed(
  ports: Ports,
  home: Home,
  store: ObjectStore,
  { paths, common }: { readonly paths: SessionPaths; readonly common: number },
): Promise<void> {
  if (!isOpenAfter(ports, paths, common)) return;
  await requireAbandoned(ports, home, store, { id: paths.id, lastTurn: common, isOurs: true });
}

/** True if a run is open after a turn. */
function isOpenAfter(ports: Ports, paths: SessionPaths, last: number): boolean {
  for (let number = last; number > 0; number--) {
    const turn = localTurn(ports, paths, number);
    if (turn.events.some(({ type }) => type === "run_ended")) return false;
    if (!isBetweenRuns(turn)) return true;
  }
  return false;
}

/**
 * Refuses to remove a session while a run of any home keeps it open.
 *
 * @throws {RepriseError} `session_open_elsewhere` with the age; as {@linkcode ObjectStore} does.
 */
export async function requireNoOpenRun(store: ObjectStore, id: SessionId): Promise<void> {
  const beat = await store.get(openKey(id));
  if (beat === null || beat.ageMs >= ABANDONED_MS) return;
  const seconds = Math.round(beat.ageMs / 1000);
  throw new RepriseError(
    "session_open_elsewhere",
    `Cannot remove session "${id}" from ${store.name}: a run kept it open ${seconds} seconds ago`,
    {
      hint: "Wait for the run; a killed one counts for 15 minutes",
      details: { session: id, age_seconds: seconds, remote: store.name },
    },
  );
}

/** Keeps the object of a run young until {@linkcode OpenRunBeat.end}. */
export class OpenRunBeat {
  readonly #store: ObjectStore;
  readonly #id: SessionId;
  readonly #owner: string;
  readonly #stopped = new AbortController();

  private constructor(store: ObjectStore, id: SessionId, owner: string) {
    this.#store = store;
    this.#id = id;
    this.#owner = owner;
  }

  /** Puts the object before the run's first turn. Throws as {@linkcode ObjectStore} does. */
  static async start(ports: Ports, home: Home, store: ObjectStore, id: SessionId): Promise<OpenRunBeat> {
    const beat = new OpenRunBeat(store, id, homeId(ports, home));
    await beat.#put();
    void beat.#repeat(ports.clock);
    return beat;
  }

  /** A put that fails is repeated by the next one; turns keep the run young as well. */
  async #repeat({ sleep }: Clock): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      await sleep(INTERVAL_MS, signal);
      if (signal.aborted) return;
      await this.#put().catch(() => {});
    }
  }

  async #put(): Promise<void> {
    await this.#store.put(openKey(this.#id), encodeUtf8(`${JSON.stringify({ home: this.#owner })}\n`));
  }

  /** Puts the object no more. A second call does nothing. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Removes the object, unless another home took the run over. Never throws: a later run finds the run ended. */
  async end(): Promise<void> {
    this.stop();
    try {
      const there = await this.#store.get(openKey(this.#id));
      if (there !== null && ownerIn(there.bytes) === this.#owner) await this.#store.remove(openKey(this.#id));
    } catch { /* The object only grows old. */ }
  }
}

function ownerIn(bytes: Uint8Array): string | null {
  try {
    const value: JsonValue = JSON.parse(decodeUtf8Leniently(bytes));
    return isJsonObject(value) ? stringMember(value, "home") ?? null : null;
  } catch {
    return null;
  }
}

/** The random name of this home, made when it first uses a remote. Throws the runtime's errors. */
function homeId(ports: Ports, home: Home): string {
  const path = `${home.path}/remote-home`;
  if (ports.files.facts(path) === null) {
    const words = Array.from(
      { length: 4 },
      () => Math.floor(ports.random() * 2 ** 32).toString(16).padStart(8, "0"),
    );
    const bytes = encodeUtf8(`${words.join("")}\n`);
    const temporary = writeTemporary(ports, home.path, { bytes, sync: true });
    try {
      claimName(ports, temporary, { path, directory: home.path });
    } catch (error) {
      unlinkQuietly(ports.files, temporary);
      // Another first run of this home named it.
      if (!isTaken(error)) throw error;
    }
  }
  return decodeUtf8Leniently(ports.files.read(path)).trim();
}
