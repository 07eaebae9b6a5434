/** The verb `pull`: fetches the turns that a remote has and this home lacks. */
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import { usageOfRun } from "../../run/recover.ts";
import { fetchTurns, followRemote } from "../../remote/fetch.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { diverged } from "../../remote/push.ts";
import { removed } from "../../remote/session_remote.ts";
import { remoteSessions } from "../../remote/sessions.ts";
import { standingOf } from "../../remote/standing.ts";
import { type Home, openHome } from "../../store/home.ts";
import { sessionPaths } from "../../store/layout.ts";
import { forkSession, planFork } from "../../store/lifecycle/fork.ts";
import { lastTurnOf, readSession } from "../../store/read/session.ts";
import { makeContext } from "../context.ts";
import { dryRunOf, each, type PlannedChange } from "../dry_run.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { PullFlags } from "./command.ts";
import { givenRemote } from "./given_remote.ts";

/** Result of `pull` for one session. */
interface Pulled {
  readonly session: SessionId;
  /** Fetched turns; with `--dry-run` those that are missing here. */
  readonly turns: number;
  /** Fetched blobs; with `--dry-run` 0. */
  readonly blobs: number;
  /** The fork that the turns of this home became; `null` without `--keep-mine-as`, and if both were equal so far. */
  readonly mine: string | null;
}

/** Performs `pull`. With `--all`, a session that cannot be fetched does not keep back the others. */
export async function pullVerb(
  ports: ProgramPorts,
  given: string | undefined,
  flags: PullFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  if ((given === undefined) !== (flags.all === true)) {
    throw new RepriseError("usage", "Cannot tell what to pull: give a session or --all", {
      hint: "reprise pull ID, or reprise pull --all",
    });
  }
  const mine = flags.keepMineAs === undefined ? null : parseSessionId(flags.keepMineAs);
  const store = await givenRemote(context, flags, null);
  const ids = given === undefined
    ? (await remoteSessions(store)).map(({ id }) => id)
    : [parseSessionId(given)];
  const dryRun = flags.dryRun === true;
  const home = openHome(ports, context.home.value, { create: !dryRun });
  const sessions: Pulled[] = [];
  const failures: RepriseError[] = [];
  for (const id of ids) {
    try {
      const pulled = await pullSession(ports, home, { store, id, mine, dryRun });
      sessions.push(pulled);
      const fetched = dryRun ? "would be fetched" : "fetched";
      if (!output.options.json) output.text(`${id}: ${counted(pulled.turns, "turn")} ${fetched}\n`);
      const become = dryRun ? "would become" : "are now";
      if (pulled.mine !== null) output.note(`the turns of this home ${become} session ${pulled.mine}`);
      else if (mine !== null) {
        output.note(`no fork ${mine}: this home and the remote did not go different ways`);
      }
    } catch (error) {
      const failure = asRepriseError(error);
      if (given !== undefined || !failure.code.startsWith("session_")) throw failure;
      failures.push(failure);
      output.note(`skipped ${id}: ${failure.message}`);
    }
  }
  const skipped = failures.map(({ code, message, details }) => ({ code, message, details }));
  if (output.options.json) {
    const facts = { remote: store.name, sessions, skipped };
    output.json<"pull">(dryRun ? dryRunOf("pull", changesOf(sessions), facts) : { ...facts, dry_run: false });
  }
  return failures[0]?.exitCode ?? 0;
}

function changesOf(sessions: readonly Pulled[]): PlannedChange[] {
  return sessions.filter(({ turns }) => turns > 0).flatMap(({ session, mine }) => [
    ...each("create", "session", mine === null ? [] : [mine]),
    ...each("append", "turn", [session]),
  ]);
}

async function pullSession(
  ports: ProgramPorts,
  home: Home,
  { store, id, mine, dryRun }: {
    readonly store: ObjectStore;
    readonly id: SessionId;
    readonly mine: SessionId | null;
    readonly dryRun: boolean;
  },
): Promise<Pulled> {
  const paths = sessionPaths(home.sessions, id);
  const standing = await standingOf(ports, store, { paths, last: lastTurnOf(ports, paths) });
  const nothing = { session: id, turns: 0, blobs: 0, mine: null };
  switch (standing.state) {
    case "removed":
      throw removed(id, store.name);
    case "same":
      if (standing.turns > 0) return nothing;
      throw new RepriseError(
        "no_such_session",
        `Cannot pull session "${id}": ${store.name} has no turn of it`,
        {
          hint: "Check the id and the remote",
          details: { session: id, remote: store.name },
        },
      );
    case "longer_here":
      return nothing;
    case "longer_there":
      if (dryRun) return { ...nothing, turns: standing.last - standing.common };
      return { ...nothing, ...await fetchTurns(ports, home, store, { id, last: standing.last }) };
    case "diverged":
      if (mine === null) throw diverged(id, { parts: standing.parts, remote: store.name });
      if (dryRun) return { ...nothing, turns: standing.there - standing.parts + 1, mine };
      // Whatever the fork could not take over stays in quarantine.
      return {
        ...nothing,
        ...await followRemote(ports, home, store, {
          ...{ id, last: standing.there, after: standing.parts - 1 },
          keep: () => keepAsFork(ports, home, { id, fork: mine }),
        }),
        mine,
      };
  }
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
