/** Repairs each copy of a session from the other one: files here from the remote, objects there from this home. */
import { sha256Hex } from "../domain/hash.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Ports } from "../domain/ports.ts";
import type { Turn } from "../domain/turn.ts";
import { blobsOf, inspectBlob, loadBlob, lostBlobsIn } from "../store/blobs.ts";
import { type SessionPaths, turnPath } from "../store/layout.ts";
import { readTurn } from "../store/read/turn.ts";
import type { IntactCopies } from "../store/repair/plan.ts";
import { filesInTurns } from "../store/repair/turn_files.ts";
import { type Copies, copiesOf, MOST_COPIES, prefetched } from "./copies.ts";
import { blobKey, removedKey, turnKey } from "./keys.ts";
import type { ObjectStore } from "./object_store.ts";
import { diverged, remoteTurns } from "./attach.ts";

interface Both {
  readonly paths: SessionPaths;
  /** Intact turns of this home by their numbers. */
  readonly here: ReadonlyMap<number, Turn>;
  /** Numbers of the turns on the remote; none if the session was removed there. */
  readonly there: readonly number[];
}

/**
 * Reads the turns and blobs that are intact on the remote, and damaged or missing here.
 *
 * @throws {RepriseError} `session_diverged` if the remote has another history; `format_too_new`; as
 * {@linkcode ObjectStore} does; the runtime's errors.
 */
export async function intactCopies(
  ports: Ports,
  store: ObjectStore,
  paths: SessionPaths,
): Promise<IntactCopies> {
  const both = await bothOf(ports, store, paths);
  const { here, there } = both;
  const last = there.findLast((number) => here.has(number));
  if (last !== undefined) requireEqual(both, store, await copiesOf(store, paths.id, last));
  const lacking = there.filter((number) => !here.has(number));
  const turns: IntactCopies["turns"][number][] = [];
  for await (const copies of prefetched(lacking, (number) => copiesOf(store, paths.id, number))) {
    const { number, intact } = copies;
    if (intact !== null) turns.push({ ...intact, from: `${store.name}/${turnKey(paths.id, number)}` });
  }
  const blobs = new Map<string, { readonly bytes: Uint8Array; readonly from: string }>();
  for (const sha256 of namedIn([...here.values(), ...turns.map(({ turn }) => turn)])) {
    if (inspectBlob(ports, paths, sha256).status === "ok") continue;
    const found = await store.get(blobKey(paths.id, sha256));
    if (found === null || sha256Hex(found.bytes) !== sha256) continue;
    blobs.set(sha256, { bytes: found.bytes, from: `${store.name}/${blobKey(paths.id, sha256)}` });
  }
  return { turns, blobs };
}

/**
 * Puts turns of this home beside those that are damaged on the remote, and turns and blobs that are missing there before
 * its last turn. A turn on the remote is never replaced; a blob is, because its name proves its content. With `dryRun`
 * nothing is put. Returns the addresses of the objects.
 *
 * @throws {RepriseError} as {@linkcode intactCopies} does.
 */
export async function repairRemote(
  ports: Ports,
  store: ObjectStore,
  { paths, dryRun }: { readonly paths: SessionPaths; readonly dryRun: boolean },
): Promise<string[]> {
  const { id } = paths;
  const both = await bothOf(ports, store, paths);
  const last = both.there.at(-1) ?? 0;
  const damaged: Copies[] = [];
  let newest: Copies | null = null;
  // The other turns cannot be put from here. A list may name a last turn far above the others.
  const numbers = [...both.here.keys()].filter((number) => number <= last).sort((a, b) => a - b);
  for await (const copies of prefetched(numbers, (number) => copiesOf(store, id, number))) {
    if (copies.intact === null) damaged.push(copies);
    else newest = copies;
  }
  if (newest !== null) requireEqual(both, store, newest);
  const put: string[] = [];
  const shared = [...both.here.values()].filter(({ turn }) => turn <= last);
  // One at a time: a blob may be large.
  for (const sha256 of namedIn(shared)) {
    const found = await store.get(blobKey(id, sha256));
    if (found !== null && sha256Hex(found.bytes) === sha256) continue;
    const loaded = loadBlob(ports, paths, sha256);
    if (loaded.status !== "ok") continue;
    if (!dryRun) await store.put(blobKey(id, sha256), loaded.bytes);
    put.push(`${store.name}/${blobKey(id, sha256)}`);
  }
  for (const copies of damaged) {
    const path = turnPath(paths, copies.number);
    const read = readTurn(ports, path);
    if (read.status !== "ok") continue;
    const key = dryRun
      ? turnKey(id, copies.number, copies.files.length)
      : await putCopy(store, id, { copies, turn: read.turn, bytes: ports.files.read(path) });
    if (key !== null) put.push(`${store.name}/${key}`);
  }
  return put;
}

/** Puts a turn under its first free name; returns the key, or `null` if another home has put an intact copy meanwhile. */
async function putCopy(
  store: ObjectStore,
  id: SessionId,
  { copies, turn, bytes }: { readonly copies: Copies; readonly turn: Turn; readonly bytes: Uint8Array },
): Promise<string | null> {
  for (let replacement = copies.files.length; replacement < MOST_COPIES; replacement++) {
    const key = turnKey(id, copies.number, replacement);
    if (await store.putNew(key, bytes) === "stored") return key;
    // The answer of an earlier attempt may be lost, or another home may repair the same turn.
    const { intact } = await copiesOf(store, id, copies.number);
    if (intact !== null) return intact.turn.sum === turn.sum ? key : null;
  }
  return null;
}

async function bothOf(ports: Ports, store: ObjectStore, paths: SessionPaths): Promise<Both> {
  const here = new Map(
    filesInTurns(ports, paths).flatMap(({ place, turn }): [number, Turn][] =>
      turn !== null && turn.turn === place ? [[place, turn]] : []
    ),
  );
  const isRemoved = await store.get(removedKey(paths.id)) !== null;
  return { paths, here, there: isRemoved ? [] : await remoteTurns(store, paths.id) };
}

/** Requires that an intact turn that both have is the same one: then those before it are the same too. */
function requireEqual({ paths, here }: Both, { name }: ObjectStore, { number, intact }: Copies): void {
  if (intact === null || intact.turn.sum === here.get(number)?.sum) return;
  throw diverged(paths.id, { parts: number, remote: name });
}

/** Names of the blobs that turns need and that none of them records as lost. */
function namedIn(turns: readonly Turn[]): Set<string> {
  const lost = lostBlobsIn(turns);
  return new Set(turns.flatMap(blobsOf).map(({ sha256 }) => sha256).filter((sha256) => !lost.has(sha256)));
}
