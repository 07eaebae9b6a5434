/** Opens sessions for verbs that add a single turn. */
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import type { Home } from "../../store/home.ts";
import { SessionWriter, type WriterOptions } from "../../store/write/writer.ts";
import type { Context } from "../context.ts";
import { remoteOf, type RemoteSources } from "./given_remote.ts";

/**
 * Opens a session, with the remote of the call if there is one: then what is missing here is fetched before. Throws as
 * `attachSession` and the writer do.
 */
export async function openWriter(
  ports: Ports,
  home: Home,
  options: WriterOptions,
  sources: RemoteSources,
): Promise<SessionWriter> {
  return await openWriterOn(ports, home, options, await remoteOf(ports, home, sources));
}

/** As {@linkcode openWriter}, with a store that is open; `null` without a remote. */
export async function openWriterOn(
  ports: Ports,
  home: Home,
  options: WriterOptions,
  store: ObjectStore | null,
): Promise<SessionWriter> {
  if (store === null) return await SessionWriter.open(ports, home, options);
  const { attachSession } = await import("../../remote/attach.ts");
  const remote = await attachSession(ports, home, store, { ...options, takeOver: false });
  return await SessionWriter.open(ports, home, { ...options, remote });
}

/** Opens a session as {@linkcode openWriter} does, changes it, and closes it. */
export async function changeSession<T>(
  { ports, config }: Context,
  { home, id }: { readonly home: Home; readonly id: SessionId },
  { wait, remote }: { readonly wait: number; readonly remote?: string | undefined },
  change: (writer: SessionWriter) => Promise<T>,
): Promise<T> {
  const sources = { flag: remote, config };
  return await changeAndClose(await openWriter(ports, home, { id, waitMs: wait * 1000 }, sources), change);
}

/** Changes an opened session, and closes it. */
export async function changeAndClose<T>(
  writer: SessionWriter,
  change: (writer: SessionWriter) => Promise<T>,
): Promise<T> {
  try {
    return await change(writer);
  } finally {
    writer.close();
  }
}

/** Puts a new session to the remote of the call, if there is one. Throws as `attachSession` does. */
export async function pushNew(
  ports: Ports,
  home: Home,
  id: SessionId,
  sources: RemoteSources,
): Promise<void> {
  const store = await remoteOf(ports, home, sources);
  if (store === null) return;
  const { attachSession } = await import("../../remote/attach.ts");
  await attachSession(ports, home, store, { id, takeOver: false });
}
