/**
 * Imports a session of another agent as a session of ours. The source is only read; the session is not visible before
 * it is whole.
 *
 * @module
 */
import type { SessionId } from "../domain/ids.ts";
import { sha256Hex } from "../domain/hash.ts";
import { wholeManifest } from "../domain/manifest.ts";
import type { EndpointHashes } from "../domain/fingerprint.ts";
import type { Ports } from "../domain/ports.ts";
import type { Pins } from "../domain/turn.ts";
import { blobPath } from "../store/blobs.ts";
import { storageError } from "../store/fs_errors.ts";
import { type Home, openHome } from "../store/home.ts";
import { sessionPaths, turnPath } from "../store/layout.ts";
import { Staging } from "../store/lifecycle/staging.ts";
import { openQuarantine, orSyncFailed, writeChunks } from "../store/write/publish.ts";
import type { AgentSession } from "./agent_session.ts";
import type { SourceLines } from "./lines.ts";
import { buildTurns, type BuiltTurn, pinnedBlobs } from "./turns.ts";

/** Options of {@linkcode importAgentSession}. */
export interface AgentImportOptions {
  readonly id: SessionId;
  readonly session: AgentSession;
  /** The incomplete last line of the source, which is kept in `quarantine/`. */
  readonly torn: SourceLines["torn"];
  /** Settings of the importing call; none comes from the source. */
  readonly pins: Pick<Pins, "permissions" | "workspace">;
  /** Instructions and tool schemas of the importing call. */
  readonly texts: { readonly instructions: string; readonly tools: string };
  /** Endpoint that the user names as the origin of the reasoning; `null` if reasoning is never sent. */
  readonly trusted: EndpointHashes | null;
  /** Build and validate everything, and write nothing. */
  readonly dryRun: boolean;
}

/** An imported session. */
export interface ImportedAgentSession {
  readonly path: string;
  readonly turns: BuiltTurn["turn"][];
}

/**
 * Creates the session. It is durable when this returns; a failure leaves nothing.
 *
 * @throws {RepriseError} `bad_import` if it has no message of the user; `session_exists`, `storage_*`.
 */
export async function importAgentSession(
  ports: Ports,
  home: Home,
  options: AgentImportOptions,
): Promise<ImportedAgentSession> {
  const { id, session, texts, trusted } = options;
  const [instructions, tools] = [texts.instructions, texts.tools].map(sha256Hex) as [string, string];
  const built = buildTurns(session, {
    id,
    trusted,
    at: new Date(ports.clock.now()).toISOString(),
    pins: { ...options.pins, instructions, tools },
  });
  const turns = built.map(({ turn }) => turn);
  const { root } = sessionPaths(home.sessions, id);
  const manifest = wholeManifest(id, turns);
  if (options.dryRun || manifest === null) return { path: root, turns };
  let staging: Staging | null = null;
  try {
    staging = await Staging.open(ports, openHome(ports, home.path, { create: true }), id);
    const { paths } = staging;
    for (const { sha256, bytes } of pinnedBlobs([texts.instructions, texts.tools])) {
      writeChunks(ports, blobPath(paths, sha256), [bytes]);
    }
    for (const { turn, bytes } of built) writeChunks(ports, turnPath(paths, turn.turn), [bytes]);
    if (options.torn !== null) {
      openQuarantine(ports, paths);
      const name = `line-${String(options.torn.line).padStart(6, "0")}.torn`;
      writeChunks(ports, `${paths.quarantine}/${name}`, [options.torn.bytes]);
      orSyncFailed(() => ports.files.syncDirectory(paths.quarantine));
    }
    return { path: staging.publish(manifest), turns };
  } catch (error) {
    staging?.discard();
    throw storageError(error, `import session "${id}"`, root);
  }
}
