/** The verb `interrupt`: stops the process that writes to a session, and waits; closes a killed run. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { closeKilledRun, unansweredCalls } from "../../run/recover.ts";
import type { Home } from "../../store/home.ts";
import { sessionOwner, signalledPid } from "../../store/write/lock.ts";
import { readSessionTail } from "../../store/read/session.ts";
import type { SessionWriter } from "../../store/write/writer.ts";
import type { InterruptFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { changeAndClose, openWriter } from "../remote/open_writer.ts";
import type { RemoteSources } from "../remote/given_remote.ts";
import { sessionArgument } from "../sessions.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";

/** Milliseconds between looks at the lock while its owner stops. */
const POLL_MS = 50;

export async function interruptVerb(
  ports: ProgramPorts,
  selector: string,
  flags: InterruptFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const { held, owner } = await sessionOwner(ports, home, id);
  const pid = held ? signalledPid(ports, { home, id, owner }) : null;
  if (flags.dryRun === true) {
    const plan = pid === null ? closingPlan(openParts(ports, home, id)) : `send SIGINT to process ${pid}`;
    if (output.options.json) {
      const changes = pid === null
        ? plannedChanges("end", "run", [id])
        : plannedChanges("stop", "process", [String(pid)]);
      output.json<"interrupt">(dryRunOf("interrupt", changes, { session: id, pid, plan }));
    } else output.text(`Would ${plan}. Nothing was done.\n`);
    return 0;
  }
  if (pid !== null) await stopOwner(context, { home, id, pid, waitMs: flags.wait * 1000 });
  const remote = { flag: flags.remote, config: context.config };
  const { run, answered } = await closeOpenRun(context, { home, id, stopped: pid !== null, remote });
  if (output.options.json) {
    output.json<"interrupt">({ session: id, interrupted: pid, closed_run: run, answered_calls: answered });
  } else if (pid !== null) output.text(`${id}: process ${pid} has stopped\n`);
  else if (run !== null) output.text(`${id}: run ${run} was killed, and is closed now\n`);
  else if (answered.length === 0) output.text(`${id}: nothing is running\n`);
  else {
    const calls = counted(answered.length, "open call");
    output.text(`${id}: nothing is running; a result was recorded for ${calls}\n`);
  }
  return 0;
}

/** Returns whether a run is open here, and the number of calls without a result. */
function openParts(ports: Ports, home: Home, id: SessionId) {
  const { manifest, turns } = readSessionTail(ports, home, id);
  return { isOpen: manifest.state === "open", calls: unansweredCalls(turns).length };
}

/** The plan for a session that no process writes, as text for people. */
function closingPlan({ isOpen, calls }: ReturnType<typeof openParts>): string {
  return isOpen || calls === 0
    ? "close the newest run if it is open"
    : `record a result for ${counted(calls, "open call")}`;
}

function elsewhere(id: SessionId, { code, details }: RepriseError): RepriseError {
  return new RepriseError(
    code,
    `Cannot interrupt session "${id}": interrupt reaches processes of this machine only, and another home was ` +
      `working on its open run ${details.age_seconds} seconds ago`,
    { hint: `End that run from here: reprise run -s ${id} --take-over "…"`, details },
  );
}

async function stopOwner(
  { ports }: Context,
  { home, id, pid, waitMs }: Pick<Closing, "home" | "id"> & { readonly pid: number; readonly waitMs: number },
): Promise<void> {
  try {
    Deno.kill(pid, "SIGINT");
  } catch (error) {
    // The process has just ended by itself: the lock shows it.
    if (!(error instanceof Deno.errors.NotFound)) throw cannotSignal(id, pid, error);
  }
  const deadline = ports.clock.monotonic() + waitMs;
  for (;;) {
    const { held, owner } = await sessionOwner(ports, home, id);
    if (!held || (owner !== null && owner.pid !== pid)) return;
    if (ports.clock.monotonic() >= deadline) {
      throw new RepriseError(
        "session_locked",
        `Cannot interrupt session "${id}": process ${pid} has not stopped within ${waitMs / 1000} s`,
        { hint: "Wait longer with --wait SECONDS, or interrupt again: a second signal ends it at once" },
      );
    }
    await ports.clock.sleep(POLL_MS);
  }
}

function cannotSignal(id: SessionId, pid: number, cause: unknown): RepriseError {
  return new RepriseError(
    "session_locked",
    `Cannot interrupt session "${id}": process ${pid} takes no signal from us`,
    {
      hint: "It belongs to another user: ask them",
      cause,
    },
  );
}

interface Closing {
  readonly home: Home;
  readonly id: SessionId;
  /** True if the previous writer was stopped: a later writer has then closed the run. */
  readonly stopped: boolean;
  /** Sources of the remote that gets the end of the run. */
  readonly remote: RemoteSources;
}

/** Returns the number of the run that was closed, `null` for none, and the `seq` of each call that got a result. */
async function closeOpenRun({ ports }: Context, { home, id, stopped, remote }: Closing) {
  const nothing = { run: null, answered: [] };
  const here = stopped ? openParts(ports, home, id) : null;
  // The stopped process has ended its run, and has put that to the remote.
  if (here?.isOpen === false && here.calls === 0) return nothing;
  let writer: SessionWriter;
  try {
    writer = await openWriter(ports, home, { id, waitMs: 0 }, remote);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    if (stopped && error.code === "session_locked") return nothing;
    throw error.code === "session_open_elsewhere" ? elsewhere(id, error) : error;
  }
  return await changeAndClose(writer, async () => {
    const run = writer.manifest?.state === "open" ? writer.manifest.run : null;
    const answered = (await closeKilledRun(writer)).map(({ seq }) => seq);
    return { run, answered };
  });
}
