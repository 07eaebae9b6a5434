/** The verb `ls`: lists sessions; with `--tree`, forks under their parents. */
import type { ListedSession } from "../../schemas/inspection.ts";
import type { ExitCode } from "../../domain/errors.ts";
import { shownUsage } from "../../domain/usage.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Home } from "../../store/home.ts";
import { type JudgedSession, listSessions, type SessionSummary } from "../../store/list.ts";
import { measureBytes, sessionPaths } from "../../store/layout.ts";
import { homeOf, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { TimeZone } from "../local_time.ts";
import { countText, shortSize } from "../readable.ts";
import { type Column, printTable } from "../table.ts";
import { inStates, usedSince } from "../session_filter.ts";
import type { LsFlags } from "./command.ts";

/** A session to list, with its size in bytes; `null` if it cannot be measured. */
interface Entry extends JudgedSession {
  readonly bytes: number | null;
}

export async function lsVerb(ports: ProgramPorts, flags: LsFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  if (flags.remote !== undefined) {
    return await (await import("./remote_list.ts")).listRemote(context, flags);
  }
  const { output } = context;
  const home = homeOf(context);
  const all = listSessions(ports, home);
  const entries = inStates(ports, home, usedSince(ports, all, flags), flags)
    .map((session): Entry => ({ ...session, bytes: bytesOf(ports, home, session) }));
  const known = new Set(all.map(({ id }) => id));
  const tree = flags.tree === true ? forkTree(entries) : null;
  if (output.options.json) {
    output.json<"ls">({
      sessions: tree?.map((node) => nodeRecord(node, known)) ?? entries.map(sessionRecord),
    });
    return 0;
  }
  const rows = tree?.flatMap((node) => nodeRows(node, known)) ??
    entries.map((session) => ({ session, id: session.id, note: "" }));
  if (rows.length > 0) {
    await printTable(output, columnsIn(flags.tz), rows);
  } else if (all.length === 0) output.note(`no sessions in ${home.sessions}`);
  else output.note(`none of ${all.length} sessions in ${home.sessions} fits`);
  return 0;
}

/** The size of a session as its manifest counts it; measured for manifests of earlier versions. */
function bytesOf(ports: ProgramPorts, home: Home, { id, manifest }: SessionSummary): number | null {
  const counted = manifest?.bytes;
  if (counted !== undefined) return counted.turns + counted.blobs;
  try {
    const { turns, blobs } = measureBytes(ports, sessionPaths(home.sessions, id));
    return turns + blobs;
  } catch {
    // The session's problem says that it cannot be read.
    return null;
  }
}

/** The tokens of a session; with a plus if some answers were not counted. */
function tokensText({ usage }: Manifest): string {
  const { input_tokens: input, output_tokens: output, uncounted } = shownUsage(usage);
  if (input === null || output === null) return "unknown";
  return `${countText(input + output)}${uncounted === undefined ? "" : "+"}`;
}

function sessionRecord({ id, path, manifest, state, bytes, problem }: Entry): ListedSession {
  return {
    id,
    path,
    ...(manifest === null ? {} : {
      ...(manifest.parent === undefined ? {} : { parent: manifest.parent }),
      title: manifest.title,
      created_at: manifest.created_at,
      updated_at: manifest.updated_at,
      turns: manifest.head.turn,
      runs: manifest.run,
    }),
    state,
    ...(manifest === null ? {} : {
      model: manifest.pins.model,
      provider: manifest.pins.fingerprint.provider,
      workspace: manifest.pins.workspace,
      usage: shownUsage(manifest.usage),
      ...(bytes === null ? {} : { bytes }),
    }),
    ...(problem === undefined ? {} : { problem }),
  };
}

interface Row {
  readonly session: Entry;
  /** The id, indented below a parent. */
  readonly id: string;
  readonly note: string;
}

/** SGR codes: red, yellow, green. */
const STATE_CODES: Readonly<Record<string, number>> = { damaged: 31, failed: 31, killed: 33, running: 32 };

const columnsIn = (zone = TimeZone.local): readonly Column<Row>[] => [
  { header: "ID", cell: ({ id }) => id },
  { header: "UPDATED", cell: ({ session }) => zone.minute(session.manifest?.updated_at ?? ""), drop: 5 },
  { header: "TURNS", cell: ofManifest(({ head }) => String(head.turn)), right: true, drop: 2 },
  {
    header: "SIZE",
    cell: ({ session: { bytes } }) => bytes === null ? "" : shortSize(bytes),
    right: true,
    drop: 3,
  },
  { header: "TOKENS", cell: ofManifest(tokensText), right: true, drop: 4 },
  {
    header: "STATE",
    cell: ({ session }) => session.state,
    code: ({ session }) => STATE_CODES[session.state] ?? null,
  },
  { header: "MODEL", cell: ofManifest(({ pins }) => pins.model), drop: 1 },
  {
    header: "TITLE",
    cell: ({ session: { manifest, problem }, note }) =>
      `${manifest?.title ?? ""}${problem === undefined ? "" : ` (${problem})`}${note}`,
    least: 24,
    drop: 6,
  },
];

function ofManifest(cell: (manifest: Manifest) => string): Column<Row>["cell"] {
  return ({ session: { manifest } }) => manifest === null ? "" : cell(manifest);
}

function nodeRecord({ session, forks }: ForkNode, known: ReadonlySet<string>): ListedSession {
  const gone = isParentGone(session, known);
  return {
    ...sessionRecord(session),
    ...(gone ? { parent_gone: true } : {}),
    forks: forks.map((fork) => nodeRecord(fork, known)),
  };
}

function nodeRows(node: ForkNode, known: ReadonlySet<string>, depth = 0): Row[] {
  const { session, forks } = node;
  const orphaned = depth === 0 && isParentGone(session, known);
  const note = orphaned ? `  (forked from ${session.manifest?.parent}, which no longer exists)` : "";
  return [
    { session, id: `${"  ".repeat(depth)}${session.id}`, note },
    ...forks.flatMap((fork) => nodeRows(fork, known, depth + 1)),
  ];
}

function isParentGone({ manifest }: SessionSummary, known: ReadonlySet<string>): boolean {
  return manifest?.parent !== undefined && !known.has(manifest.parent);
}

/** A session with its forks, in the order of the list. */
interface ForkNode {
  readonly session: Entry;
  readonly forks: readonly ForkNode[];
}

/**
 * Sessions as a forest: each fork under its parent, or at the root if `sessions` lacks the parent. Manifests are not
 * trusted: sessions that name each other in a circle are at the root too, once each.
 */
function forkTree(sessions: readonly Entry[]): ForkNode[] {
  const known = new Set<string>(sessions.map(({ id }) => id));
  const forksOf = Map.groupBy(sessions, ({ manifest }) => {
    return manifest?.parent !== undefined && known.has(manifest.parent) ? manifest.parent : null;
  });
  const placed = new Set<string>();
  const place = (session: Entry): ForkNode[] => {
    if (placed.has(session.id)) return [];
    placed.add(session.id);
    return [{ session, forks: (forksOf.get(session.id) ?? []).flatMap(place) }];
  };
  return [...forksOf.get(null) ?? [], ...sessions].flatMap(place);
}
