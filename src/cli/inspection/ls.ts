/** The verb `ls`: the sessions of the home, newest first. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { listSessions, openHome, type SessionSummary } from "../../store/home.ts";
import type { LsFlags } from "./viewing.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";

/** Performs `ls`. */
export function lsVerb(ports: ProgramPorts, flags: LsFlags): ExitCode {
  const context = makeContext(ports, flags);
  const { output } = context;
  const home = openHome(ports, context.home.value, { create: false });
  const since = flags.since === undefined ? null : parseSince(flags.since, ports.clock.now());
  const all = listSessions(ports, home);
  const sessions = all
    .filter(({ manifest }) => since === null || manifest === null || Date.parse(manifest.updated_at) >= since)
    .slice(0, flags.limit);
  const known = new Set(all.map(({ id }) => id));
  const tree = flags.tree === true ? forkTree(sessions) : null;
  if (output.options.json) {
    output.json({ sessions: tree?.map((node) => nodeRecord(node, known)) ?? sessions.map(sessionRecord) });
    return 0;
  }
  const rows = tree?.flatMap((node) => nodeRows(node, known)) ?? sessions.map(sessionRow);
  const width = Math.max(0, ...rows.map(([id]) => id.length));
  for (const [id, rest] of rows) output.text(`${id.padEnd(width)}  ${rest}\n`);
  if (rows.length === 0) output.note(`no sessions in ${home.sessions}`);
  return 0;
}

function sessionRecord({ id, path, manifest, problem }: SessionSummary) {
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
      state: manifest.state,
      model: manifest.pins.model,
      provider: manifest.pins.fingerprint.provider,
      workspace: manifest.pins.workspace,
      usage: manifest.usage,
    }),
    ...(problem === undefined ? {} : { problem }),
  };
}

function sessionRow({ id, manifest, problem }: SessionSummary): readonly [string, string] {
  if (manifest === null) return [id, `(${problem ?? "no manifest"})`];
  const { updated_at, head, state, pins, title } = manifest;
  const when = updated_at.slice(0, 16).replace("T", " ");
  // A title is one line by construction; output.text escapes the rest.
  return [
    id,
    `${when}  ${String(head.turn).padStart(5)} ${head.turn === 1 ? "turn " : "turns"}  ${
      state.padEnd(11)
    }  ${pins.model}  ${title}`,
  ];
}

function nodeRecord({ session, forks }: ForkNode, known: ReadonlySet<string>): unknown {
  const gone = isParentGone(session, known);
  return {
    ...sessionRecord(session),
    ...(gone ? { parent_gone: true } : {}),
    forks: forks.map((fork) => nodeRecord(fork, known)),
  };
}

function nodeRows(node: ForkNode, known: ReadonlySet<string>, depth = 0): (readonly [string, string])[] {
  const { session, forks } = node;
  const [id, rest] = sessionRow(session);
  const orphaned = depth === 0 && isParentGone(session, known);
  const note = orphaned ? `  (forked from ${session.manifest?.parent}, which is gone)` : "";
  return [
    [`${"  ".repeat(depth)}${id}`, `${rest}${note}`],
    ...forks.flatMap((fork) => nodeRows(fork, known, depth + 1)),
  ];
}

function isParentGone({ manifest }: SessionSummary, known: ReadonlySet<string>): boolean {
  return manifest?.parent !== undefined && !known.has(manifest.parent);
}

const AGE = /^(\d{1,6})([mhdw])$/;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60e3, h: 3600e3, d: 86400e3, w: 604800e3 };

/** `2026-11-21`, a full ISO time, or an age such as `90m`, `12h`, `7d`, `2w`. */
function parseSince(text: string, now: number): number {
  const age = AGE.exec(text);
  if (age !== null) return now - Number(age[1]) * (UNIT_MS[age[2] as string] as number);
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) {
    throw new RepriseError(
      "usage",
      `Cannot use --since ${JSON.stringify(text)}: it is neither a date nor an age`,
      {
        hint: "Give a date such as 2026-11-21, or an age such as 12h or 7d",
      },
    );
  }
  return time;
}

/** A session with its forks, in the order of the list. */
export interface ForkNode {
  readonly session: SessionSummary;
  readonly forks: readonly ForkNode[];
}

/**
 * Sessions as a forest: each fork under its parent, or at the root if `sessions` lacks the parent. Manifests are not
 * trusted: sessions that name each other in a circle are at the root too, once each.
 */
export function forkTree(sessions: readonly SessionSummary[]): ForkNode[] {
  const known = new Set<string>(sessions.map(({ id }) => id));
  const forksOf = new Map<string, SessionSummary[]>();
  const roots: SessionSummary[] = [];
  for (const session of sessions) {
    const parent = session.manifest?.parent;
    if (parent === undefined || !known.has(parent)) roots.push(session);
    else forksOf.set(parent, [...forksOf.get(parent) ?? [], session]);
  }
  const placed = new Set<string>();
  const place = (session: SessionSummary): ForkNode[] => {
    if (placed.has(session.id)) return [];
    placed.add(session.id);
    return [{ session, forks: (forksOf.get(session.id) ?? []).flatMap(place) }];
  };
  return [...roots, ...sessions].flatMap(place);
}
