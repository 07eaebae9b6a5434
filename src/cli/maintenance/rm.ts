/** The verb `rm`: deletes a session. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { sessionOwner } from "../../store/write/lock.ts";
import { removeSession } from "../../store/lifecycle/remove.ts";
import { confirm } from "./confirm.ts";
import type { RmFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { sessionArgument } from "../session_argument.ts";

/** Performs `rm`. */
export async function rmVerb(ports: ProgramPorts, selector: string, flags: RmFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const { held, owner } = await sessionOwner(ports, home, id);
  if (held) {
    const by = owner === null ? "another process" : `process ${owner.pid} on host ${owner.host}`;
    throw new RepriseError("session_locked", `Cannot remove session "${id}": ${by} writes to it`, {
      hint: `Wait for it, or stop it with "reprise interrupt ${id}"`,
      details: { session: id },
    });
  }
  if (!dryRun) {
    if (flags.yes !== true) confirm(context, `remove session "${id}" for good`);
    await removeSession(ports, home, id);
  }
  if (output.options.json) {
    output.json({ removed: dryRun ? [] : [id], would_remove: dryRun ? [id] : [], dry_run: dryRun });
  } else output.text(dryRun ? `Would remove ${id}. Nothing was done.\n` : `${id}: removed\n`);
  return 0;
}
