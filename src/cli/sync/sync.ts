/** The verb `sync`: puts the turns that a remote lacks, and fetches those that this home lacks. */
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import { omittedCount, omittedItems } from "../../fold/omissions.ts";
import { exchangeTurns } from "../../remote/attach.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { usageOfRun } from "../../run/recover.ts";
import { type Home, openHome } from "../../store/home.ts";
import { listSessions } from "../../store/list.ts";
import { sessionPaths } from "../../store/layout.ts";
import { forkSession, planFork } from "../../store/lifecycle/fork.ts";
import { lastTurnOf, readSession } from "../../store/read/session.ts";
import { pendingNumbers } from "../../store/write/pending.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import { type Context, makeContext } from "../context.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { omittedNote } from "../omitted.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import { sessionArgument } from "../sessions.ts";
import type { SyncFlags } from "./command.ts";
import { givenRemote } from "../remote/given_remote.ts";
import { remoteSessions } from "../remote/remote_sessions.ts";
import { sessionOnEither } from "../remote/run_remote.ts";

/** Result for one session; with `--dry-run` what would be done. */
type Synced = JsonDocument<"sync">["sessions"][number];

/** Performs `sync`. Without an id, a session that fails does not keep back the others. */
export async function syncVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: SyncFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  if (selector === undefined && flags.keepMineAs !== undefined) {
    throw new RepriseError("usage", "Cannot keep turns without a session: --keep-mine-as names one fork", {
      hint: "reprise sync ID --keep-mine-as NEW-ID",
    });
  }
  const mine = flags.keepMineAs === undefined ? null : parseSessionId(flags.keepMineAs);
  const dryRun = flags.dryRun === true;
  const home = openHome(ports, context.home.value, { create: !dryRun });
  const store = await givenRemote(context, flags, dryRun ? null : home);
  const ids = selector === undefined ? await allSessions(context, home, store) : [
    await sessionOnEither(ports, home, store, {
      selector,
      here: () => sessionArgument(context, selector).id,
    }),
  ];
  const sessions: Synced[] = [];
  const failures: RepriseError[] = [];
  for (const id of ids) {
    try {
      const synced = await syncSession(ports, home, { store, id, mine, dryRun });
      sessions.push(synced);
      if (!output.options.json) output.text(`${id}: ${resultText(synced, dryRun)}\n`);
      if (synced.omitted > 0) output.note(omittedNote(synced.omitted));
      const become = dryRun ? "would become" : "are now";
      if (synced.mine !== null) output.note(`the turns of this home ${become} session ${synced.mine}`);
      else if (mine !== null) {
        output.note(`no fork ${mine}: this home and the remote did not go different ways`);
      }
    } catch (error) {
      const failure = asRepriseError(error);
      if (selector !== undefined || !isOfOneSession(failure)) throw failure;
      failures.push(failure);
      const cure = failure.hint === undefined ? "" : ` (${failure.hint})`;
      output.note(`skipped ${id}: ${failure.message}${cure}`);
    }
  }
  if (output.options.json) {
    const skipped = failures.map(({ code, message, details }) => ({ code, message, details }));
    const facts = { remote: store.name, sessions, skipped };
    const changes = sessions.flatMap(({ session, put, fetched, mine }) => [
      ...plannedChanges("create", "session", mine === null ? [] : [mine]),
      ...plannedChanges("append", "turn", fetched > 0 ? [session] : []),
      ...plannedChanges("send", "turn", put > 0 ? [session] : []),
    ]);
    output.json<"sync">(changeDocument({ verb: "sync", dryRun, changes }, facts));
  }
  return failures[0]?.exitCode ?? 0;
}

async function allSessions(context: Context, home: Home, store: ObjectStore): Promise<SessionId[]> {
  const both = [...listSessions(context.ports, home), ...await remoteSessions(context, store)];
  return [...new Set(both.map(({ id }) => id))].sort();
}

/** A remote that does not answer, or refuses the keys, does so for every session. */
function isOfOneSession({ code }: RepriseError): boolean {
  return code.startsWith("session_") || code === "no_such_session" || code === "format_too_new";
}

function resultText({ put, fetched }: Synced, dryRun: boolean): string {
  const would = dryRun ? "would be " : "";
  const lacking = ([[put, "put"], [fetched, "fetched"]] as const).filter(([count]) => count > 0);
  if (lacking.length === 0) return "nothing to put or fetch";
  return lacking.map(([count, what]) => `${counted(count, "turn")} ${would}${what}`).join(", ");
}

async function syncSession(
  ports: ProgramPorts,
  home: Home,
  { store, id, mine, dryRun }: {
    readonly store: ObjectStore;
    readonly id: SessionId;
    readonly mine: SessionId | null;
    readonly dryRun: boolean;
  },
): Promise<Synced> {
  const paths = sessionPaths(home.sessions, id);
  const { followed, remote, ...moved } = await exchangeTurns(ports, home, store, {
    id,
    takeOver: false,
    dryRun,
    keep: mine === null ? undefined : () => keepAsFork(ports, home, { id, fork: mine }),
  });
  let { put } = moved;
  if (!dryRun && pendingNumbers(ports, paths).length > 0) {
    const last = lastTurnOf(ports, paths);
    // Opening a writer decides about the turns that a killed one left.
    const writer = await SessionWriter.open(ports, home, { id, remote });
    put += writer.end.turn - last;
    writer.close();
  }
  const { fetched, blobs } = moved;
  const omitted = put === 0 ? 0 : omittedCount(omittedItems(readSession(ports, home, id).turns));
  return { session: id, put, fetched, blobs, omitted, mine: followed ? mine : null };
}

/** Makes all turns of this home a session of their own. An earlier call that failed may have made the same fork. */
async function keepAsFork(
  ports: ProgramPorts,
  home: Home,
  { id, fork }: { readonly id: SessionId; readonly fork: SessionId },
): Promise<void> {
  const plan = planFork(ports, home, { parent: id });
  if (lastTurnOf(ports, sessionPaths(home.sessions, fork)) > plan.kept.length) {
    const { turns } = readSession(ports, home, fork);
    const isOfThis = turns.some(({ events }) =>
      events.some((event) => event.type === "session_fork" && event.parent === id)
    );
    if (isOfThis && turns[plan.kept.length - 1]?.sum === plan.kept.at(-1)?.sum) return;
  }
  const usage = plan.closes === null ? NO_USAGE : usageOfRun(plan.kept, plan.closes);
  await forkSession(ports, home, plan, { id: fork, summary: null, usage });
}
