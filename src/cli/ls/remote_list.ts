/** `ls --remote`: lists the sessions of a remote. */
import type { ExitCode } from "../../domain/errors.ts";
import type { RemoteSession } from "../../remote/sessions.ts";
import { sessionPaths } from "../../store/layout.ts";
import { lastTurnOf } from "../../store/read/session.ts";
import { type Context, homeOf } from "../context.ts";
import { startOf } from "../session_filter.ts";
import type { LsFlags } from "./command.ts";
import { TimeZone } from "../local_time.ts";
import { shortSize } from "../readable.ts";
import { type Column, printTable } from "../table.ts";
import { givenRemote } from "../remote/given_remote.ts";
import { remoteSessions } from "../remote/remote_sessions.ts";

interface Listed extends RemoteSession {
  /** The last turn in this home; 0 if it has none. */
  readonly here: number;
}

export async function listRemote(context: Context, flags: LsFlags): Promise<ExitCode> {
  const { ports, output } = context;
  const store = await givenRemote(context, flags, null);
  const home = homeOf(context);
  const all = await remoteSessions(context, store);
  const { limit = Infinity } = flags;
  const from = startOf(flags, ports.clock.now()) ?? -Infinity;
  const sessions = all
    .filter(({ updated }) => (updated ?? 0) >= from)
    .sort((a, b) => (b.updated ?? 0) - (a.updated ?? 0))
    .slice(0, limit)
    .map((session): Listed => ({
      ...session,
      here: lastTurnOf(ports, sessionPaths(home.sessions, session.id)),
    }));
  if (output.options.json) {
    output.json<"ls-remote">({
      remote: store.name,
      sessions: sessions.map(({ id, turns, here, bytes, updated }) => ({
        id,
        turns,
        here,
        bytes,
        updated_at: updated === null ? null : new Date(updated).toISOString(),
      })),
    });
    return 0;
  }
  if (sessions.length > 0) {
    await printTable(output, columnsIn(flags.tz), sessions);
  } else if (all.length === 0) output.note(`no sessions on ${store.name}`);
  else output.note(`none of ${all.length} sessions on ${store.name} fits`);
  return 0;
}

const columnsIn = (zone = TimeZone.local): readonly Column<Listed>[] => [
  { header: "ID", cell: ({ id }) => id },
  {
    header: "UPDATED",
    cell: ({ updated }) => updated === null ? "" : zone.minute(new Date(updated).toISOString()),
    drop: 3,
  },
  { header: "TURNS", cell: ({ turns }) => String(turns), right: true },
  { header: "HERE", cell: ({ here }) => String(here), right: true, drop: 2 },
  { header: "SIZE", cell: ({ bytes }) => shortSize(bytes), right: true, drop: 1 },
];
