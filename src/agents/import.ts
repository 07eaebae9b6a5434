/** Imports a session of another agent as sessions of ours, one for each branch. The source is only read. */
import { encodeUtf8 } from "../domain/bytes.ts";
import { parseSessionId, type SessionId } from "../domain/ids.ts";
import { NO_USAGE } from "../domain/usage.ts";
import { sha256Hex } from "../domain/hash.ts";
import { wholeManifest } from "../domain/manifest.ts";
import type { EndpointHashes } from "../domain/fingerprint.ts";
import type { Ports } from "../domain/ports.ts";
import type { Pins, Turn } from "../domain/turn.ts";
import { blobPath } from "../store/blobs.ts";
import { storageError } from "../store/fs_errors.ts";
import { type Home, openHome } from "../store/home.ts";
import { sessionPaths, turnPath } from "../store/layout.ts";
import { forkSession, planFork } from "../store/lifecycle/fork.ts";
import { Staging } from "../store/lifecycle/staging.ts";
import { ensureDurableDirectory, orSyncFailed } from "../store/write/publish.ts";
import type { AgentBranch, AgentSession } from "./agent_session.ts";
import type { SourceLines } from "./lines.ts";
import { buildTurns, type BuiltBranch, type BuiltTurn, type ImportCall } from "./turns.ts";

interface AgentImportOptions {
  readonly id: SessionId;
  readonly session: AgentSession;
  /** The incomplete last line of the source, which is kept in `quarantine/`. */
  readonly torn: SourceLines["torn"];
  readonly times: SourceLines["times"];
  /** Settings of the importing call; none comes from the source. */
  readonly pins: Pick<Pins, "permissions" | "workspace">;
  /** Instructions and tool schemas of the importing call. */
  readonly texts: { readonly instructions: string; readonly tools: string };
  /** Endpoint that the user names as the origin of the reasoning; `null` if reasoning is never sent. */
  readonly trusted: EndpointHashes | null;
  /** Build and validate everything, and write nothing. */
  readonly dryRun: boolean;
}

interface ImportedAgentSession {
  readonly id: SessionId;
  readonly path: string;
  readonly turns: number;
  /** Name of the branch that it holds; `null` for the main one. */
  readonly branch: string | null;
}

/** Sessions that an import created, or would create. */
interface AgentImport {
  /** Turns of the main session. */
  readonly turns: readonly Turn[];
  /** The main session, then the others. */
  readonly sessions: readonly ImportedAgentSession[];
}

/**
 * Creates the session of the main branch, then one for each other branch: a fork where they share a whole run, otherwise
 * one of its own. Each is durable and visible when it is whole; all branches are validated before the first is written.
 *
 * @throws {RepriseError} `bad_import` if the main branch has no message of the user; `session_exists`, `storage_*`.
 */
export async function importAgentSession(
  ports: Ports,
  home: Home,
  options: AgentImportOptions,
): Promise<AgentImport> {
  const { id, session, texts, trusted, times } = options;
  const [instructions, tools] = [texts.instructions, texts.tools].map(sha256Hex) as [string, string];
  const at = new Date(ports.clock.now()).toISOString();
  const callOf = (own: SessionId, branch?: Pick<AgentBranch, "times">): ImportCall => ({
    id: own,
    trusted,
    at,
    times: branch?.times ?? times,
    pins: { ...options.pins, instructions, tools },
  });
  const [first, ...others] = branchesIn(session);
  const main = buildTurns(first, callOf(id));
  // Only the main branch stays in memory, and is built once: branches at the end of a long session share most of it.
  const planned = others.map((branch, index) => {
    const own = parseSessionId(`${id}-b${index + 1}`);
    const turns = branch.runs === 0
      ? buildTurns(branch, callOf(own, branch)).length
      : forkTurns(branch, main, callOf(id));
    return { own, branch, turns };
  });
  if (!options.dryRun) {
    await importWhole(ports, home, { ...options, built: main });
    for (const { own, branch } of planned) {
      const call = callOf(own, branch);
      if (branch.runs > 0) await importFork(ports, home, branch, { main, parent: id, call });
      else await importWhole(ports, home, { id: own, texts, built: buildTurns(branch, call), torn: null });
    }
  }
  const pathOf = (own: SessionId) => sessionPaths(home.sessions, own).root;
  return {
    turns: main.map(({ turn }) => turn),
    sessions: [
      { id, path: pathOf(id), turns: main.length, branch: null },
      ...planned.map(({ own, turns, branch: { name } }) => {
        return { id: own, path: pathOf(own), turns, branch: name };
      }),
    ],
  };
}

/** A branch, with the number of runs of the main one that come before it. */
interface OwnBranch extends BuiltBranch, Pick<AgentBranch, "times"> {
  readonly name: string | null;
  readonly runs: number;
}

/** The main branch, then the others, each cut where the run begins in which it leaves the main one. */
function branchesIn({ agent, version, main, others }: AgentSession): [OwnBranch, ...OwnBranch[]] {
  const all = others.flatMap(({ name, shared, entries, times }): OwnBranch[] => {
    const isNewRun = entries[0]?.kind === "user" && (main[shared]?.kind === "user" || shared === main.length);
    const cut = isNewRun
      ? shared
      : Math.max(0, main.slice(0, shared).findLastIndex(({ kind }) => kind === "user"));
    const own = [...main.slice(cut, shared), ...entries];
    const runs = main.slice(0, cut).filter(({ kind }) => kind === "user").length;
    // A branch before any message of the user has nothing that a session could hold.
    return own[0]?.kind === "user" ? [{ agent, version, name, runs, entries: own, times }] : [];
  });
  return [{ agent, version, name: null, runs: 0, entries: main }, ...all];
}

/** The first runs of the main session, which a fork shares. */
function sharedHistory(main: readonly BuiltTurn[], runs: number) {
  const ends = main.filter(({ turn }) => turn.events.at(-1)?.type === "run_ended");
  const last = ends[runs - 1]?.turn;
  const before = main.filter(({ turn }) => turn.turn <= (last?.turn ?? 0));
  const checkpoint = before.flatMap(({ turn }) => turn.events)
    .findLast((event) => event.type === "history_compaction") ?? null;
  return { last, before, checkpoint };
}

/** Validates a fork; returns the number of its turns, with the one that names its parent. */
function forkTurns(branch: OwnBranch, main: readonly BuiltTurn[], call: ImportCall): number {
  const { before, checkpoint } = sharedHistory(main, branch.runs);
  return before.length + 1 + buildTurns(branch, call, { checkpoint, before }).length;
}

async function importWhole(
  ports: Ports,
  home: Home,
  { id, built, texts, torn }: Pick<AgentImportOptions, "id" | "texts" | "torn"> & {
    readonly built: readonly BuiltTurn[];
  },
): Promise<void> {
  const manifest = wholeManifest(id, built.map(({ turn }) => turn));
  if (manifest === null) return;
  const { root } = sessionPaths(home.sessions, id);
  let staging: Staging | null = null;
  try {
    staging = await Staging.open(ports, openHome(ports, home.path, { create: true }), id);
    const { paths } = staging;
    for (const text of new Set([texts.instructions, texts.tools])) {
      staging.write(blobPath(paths, sha256Hex(text)), encodeUtf8(text));
    }
    for (const { turn, bytes } of built) staging.write(turnPath(paths, turn.turn), bytes);
    if (torn !== null) {
      ensureDurableDirectory(ports, paths.quarantine);
      const name = `line-${String(torn.line).padStart(6, "0")}.torn`;
      staging.write(`${paths.quarantine}/${name}`, torn.bytes);
      orSyncFailed(() => ports.files.syncDirectory(paths.quarantine));
    }
    await staging.publish(manifest);
  } catch (error) {
    staging?.discard();
    throw storageError(error, `import session "${id}"`, root);
  }
}

/** Forks the main session after the runs that a branch shares, with the turns of the branch. */
async function importFork(
  ports: Ports,
  home: Home,
  branch: OwnBranch,
  { main, parent, call }: {
    readonly main: readonly BuiltTurn[];
    readonly parent: SessionId;
    readonly call: ImportCall;
  },
): Promise<void> {
  const { last, before, checkpoint } = sharedHistory(main, branch.runs);
  const plan = planFork(ports, home, { parent, toSeq: last?.seq[1] });
  await forkSession(ports, home, plan, {
    id: call.id,
    summary: null,
    usage: NO_USAGE,
    more: (turn) => buildTurns(branch, call, { checkpoint, before: [...before, { turn, line: null }] }),
  });
}
