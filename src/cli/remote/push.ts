/** The verb `push`: puts the turns that a remote lacks. */
import { omittedCount, omittedItems } from "../../fold/omissions.ts";
import { asRepriseError, type ExitCode, type RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import type { ObjectStore } from "../../remote/object_store.ts";
import { requireNothingClosed } from "../../remote/open_run.ts";
import { pushTurns } from "../../remote/push.ts";
import { SessionRemote } from "../../remote/session_remote.ts";
import { requireOneHistory } from "../../remote/standing.ts";
import type { Home } from "../../store/home.ts";
import { sessionPaths } from "../../store/layout.ts";
import { readSession } from "../../store/read/session.ts";
import { pendingNumbers } from "../../store/write/pending.ts";
import { SessionWriter } from "../../store/write/writer.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { chosenSessions } from "../sessions.ts";
import { omittedNote } from "../omitted.ts";
import { dryRunOf, each } from "../dry_run.ts";
import type { PushFlags } from "./command.ts";
import { givenRemote } from "./given_remote.ts";

/** Performs `push`. With `--all`, a session that cannot be put does not keep back the others. */
export async function pushVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: PushFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const { home, ids } = chosenSessions(context, selector, { all: flags.all === true, verb: "push" });
  const store = await givenRemote(context, flags, dryRun ? null : home);
  const sessions: ({ readonly session: SessionId } & Pushed)[] = [];
  const failures: RepriseError[] = [];
  for (const session of ids) {
    try {
      const pushed = { session, ...await pushSession(ports, home, { store, id: session, dryRun }) };
      sessions.push(pushed);
      if (pushed.omitted > 0) output.note(omittedNote(pushed.omitted));
      const put = dryRun ? "would be put" : "put";
      if (!output.options.json) output.text(`${session}: ${counted(pushed.put, "turn")} ${put}\n`);
    } catch (error) {
      const failure = asRepriseError(error);
      // A remote that does not answer, or refuses the keys, does so for every session.
      if (selector !== undefined || !OF_ONE_SESSION.has(failure.code)) throw failure;
      failures.push(failure);
      output.note(`skipped ${session}: ${failure.message}`);
    }
  }
  const skipped = failures.map(({ code, message, details }) => ({ code, message, details }));
  if (output.options.json) {
    const changes = each("send", "turn", sessions.filter(({ put }) => put > 0).map(({ session }) => session));
    const facts = { remote: store.name, sessions, skipped };
    output.json<"push">(dryRun ? dryRunOf("push", changes, facts) : { ...facts, dry_run: false });
  }
  return failures[0]?.exitCode ?? 0;
}

const OF_ONE_SESSION: ReadonlySet<string> = new Set([
  "session_diverged",
  "session_open_elsewhere",
  "session_removed",
  "session_damaged",
  "session_locked",
  "no_such_session",
]);

/** Turns that were put, those that the remote has now, and the omitted items among them. */
interface Pushed {
  readonly put: number;
  readonly turns: number;
  readonly omitted: number;
}

/** Puts what is missing, after the turns that a killed writer left were resolved. */
async function pushSession(
  ports: ProgramPorts,
  home: Home,
  { store, id, dryRun }: { readonly store: ObjectStore; readonly id: SessionId; readonly dryRun: boolean },
): Promise<Pushed> {
  const paths = sessionPaths(home.sessions, id);
  const remote = new SessionRemote(store, id);
  const { turns: all } = readSession(ports, home, id);
  const [last, omitted] = [all.length, omittedCount(omittedItems(all))];
  const standing = await requireOneHistory(ports, store, { paths, last });
  let put = 0;
  if (standing.state === "longer_here") {
    await requireNothingClosed(ports, home, store, { paths, common: standing.common });
    if (dryRun) return { put: last - standing.common, turns: last, omitted };
    await pushTurns(ports, remote, { paths, ...standing, onTurn: () => put++ });
  }
  if (dryRun || standing.state === "longer_there" || pendingNumbers(ports, paths).length === 0) {
    return { put, turns: last, omitted };
  }
  // Opening a writer resolves them.
  const writer = await SessionWriter.open(ports, home, { id, remote });
  const turns = writer.end.turn;
  writer.close();
  return { put: put + turns - last, turns, omitted };
}
