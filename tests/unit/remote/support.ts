/**
 * Two homes that share a remote.
 *
 * @module
 */
import type { SessionId } from "../../../src/domain/ids.ts";
import type { Files, Ports } from "../../../src/domain/ports.ts";
import { attachSession } from "../../../src/remote/attach.ts";
import { SessionRemote } from "../../../src/remote/session_remote.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import type { MemoryStore } from "../../support/memory_store.ts";
import { endDraft, ID, putPinned, testPorts, userDraft, withHome } from "../store/support.ts";

/** Runs `body` with two homes. */
export function withTwoHomes(body: (a: Home, b: Home) => Promise<void>): Promise<void> {
  return withHome((home, root) => body(home, openHome(testPorts(), `${root}/other`, { create: true })));
}

/** Creates a session on a remote. */
export async function createOn(
  store: MemoryStore,
  home: Home,
  { ports = testPorts(), id = ID }: { readonly ports?: Ports; readonly id?: SessionId } = {},
): Promise<SessionWriter> {
  const writer = await SessionWriter.create(ports, home, { id, remote: new SessionRemote(store, id) });
  putPinned(writer);
  return writer;
}

/** Opens a session as a run with a remote does. */
export async function openOn(
  store: MemoryStore,
  home: Home,
  { ports = testPorts(), takeOver = true }: { readonly ports?: Ports; readonly takeOver?: boolean } = {},
): Promise<SessionWriter> {
  const remote = await attachSession(ports, home, store, { id: ID, takeOver });
  return await SessionWriter.open(ports, home, { id: ID, remote });
}

/** Saves a whole run; returns the sums of its turns. */
export async function saveRun(writer: SessionWriter, run: number): Promise<string[]> {
  putPinned(writer);
  const first = await writer.save(userDraft(`run ${run}`, run));
  const last = await writer.save(endDraft(run));
  return [first.sum, last.sum];
}

/** Thrown by a file call in which the process dies. */
export class Killed extends Error {}

const CHANGES = ["createExclusive", "link", "rename", "unlink", "makeDirectory", "syncDirectory"] as const;

/** Real files until changing call number `at`: that one and all later ones throw {@linkcode Killed}. */
export function filesUntil(at: number): { readonly files: Files; readonly calls: () => number } {
  let calls = 0;
  const files = { ...denoFiles } as Record<string, unknown>;
  for (const name of CHANGES) {
    files[name] = (...args: readonly unknown[]) => {
      if (++calls >= at) throw new Killed(`killed at ${name}`);
      return (denoFiles[name] as (...args: readonly unknown[]) => unknown)(...args);
    };
  }
  return { files: files as unknown as Files, calls: () => calls };
}
