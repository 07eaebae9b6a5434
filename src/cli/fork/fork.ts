/** The verb `fork`: a new session from the start of another. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import type { Turn } from "../../domain/turn.ts";
import { branchSummary } from "../../fold/branch_summary.ts";
import { withoutOmitted } from "../../fold/omissions.ts";
import { usageOfRun } from "../../run/recover.ts";
import {
  type ForkOptions,
  type ForkPlan,
  type ForkResult,
  forkSession,
  planFork,
} from "../../store/lifecycle/fork.ts";
import type { Home } from "../../store/home.ts";
import type { ForkFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { randomSuffix, sessionArgument } from "../sessions.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";
import { pushNew } from "../remote/open_writer.ts";

export async function forkVerb(ports: ProgramPorts, selector: string, flags: ForkFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id: parent } = sessionArgument(context, selector);
  const plan = planFork(ports, home, { parent, toSeq: flags.toSeq });
  const summary = flags.summarize === true ? branchSummary(parent, remainingOf(plan)) : null;
  const last = plan.kept.at(-1) as Turn;
  const usage = plan.closes === null ? NO_USAGE : usageOfRun(plan.kept, plan.closes);
  const facts = {
    parent,
    to_seq: last.seq[1],
    to_turn: last.turn,
    closed_run: plan.closes,
    notices: plan.notices.length,
    summary,
  };
  if (flags.dryRun === true) {
    if (output.options.json) {
      output.json<"fork">(dryRunOf("fork", plannedChanges("create", "session", [null]), facts));
    } else {
      output.text(
        `Would fork ${parent} after turn ${last.turn} (seq ${last.seq[1]}). Nothing was done.\n`,
      );
    }
    return 0;
  }
  const { id, path, turn } = await underFreeName(context, { home, plan, summary, usage });
  await pushNew(ports, home, id, { flag: flags.remote, config: context.config });
  if (output.options.json) output.json<"fork">({ session: id, path, turn: turn.turn, ...facts });
  else output.text(`${id}\n`);
  output.note(`forked from ${parent} after turn ${last.turn} (seq ${last.seq[1]}); continue it with`);
  output.note(`  reprise run -s ${id} "…"`);
  return 0;
}

/** The later turns of the parent without its omitted items. */
function remainingOf({ kept, later }: ForkPlan): readonly Turn[] {
  return withoutOmitted([...kept, ...later]).slice(kept.length);
}

/** Room for the longest suffix of a new id. */
const ID_START = 56;

type Making = Omit<ForkOptions, "id"> & { readonly home: Home; readonly plan: ForkPlan };

/** The fork under an unused id of its family. */
async function underFreeName(
  { ports }: Context,
  { home, plan, ...options }: Making,
): Promise<ForkResult & { readonly id: SessionId }> {
  const family = (plan.kept[0] as Turn).session.slice(0, ID_START);
  for (let attempt = 1;; attempt++) {
    const id = parseSessionId(`${family}-${randomSuffix(ports)}`);
    try {
      return { id, ...await forkSession(ports, home, plan, { id, ...options }) };
    } catch (error) {
      if (attempt > 8 || !(error instanceof RepriseError && error.code === "session_exists")) throw error;
    }
  }
}
