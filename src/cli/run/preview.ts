import { encodeUtf8 } from "../../domain/bytes.ts";
import type { ExitCode } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { parseSessionId } from "../../domain/ids.ts";
import { modelFacts } from "../../domain/models.ts";
import { counted } from "../../domain/text.ts";
import { requestAccount } from "../../fold/fold.ts";
import { requireUnfinished } from "../../run/resume.ts";
import { openHome, resolveSession } from "../../store/home.ts";
import { sessionPaths } from "../../store/layout.ts";
import { requireUnused } from "../../store/write/session_directory.ts";
import { readSession, readSessionTail } from "../../store/read/session.ts";
import { DEFAULT_INSTRUCTIONS } from "./default_instructions.ts";
import { nextRequest } from "./next_request.ts";
import { textOrFile } from "./run_settings.ts";
import { sessionInstructions } from "./session_instructions.ts";
import { type RunPlan, runTarget } from "./run_plan.ts";

/** `run --dry-run`: says what would be sent and where; changes and sends nothing. */
export function previewRun(plan: RunPlan, words: string | null): ExitCode {
  const { context, ports, flags } = plan;
  const { output } = context;
  const session = plan.selector === null ? newSession(plan) : existingSession(plan, plan.selector);
  if (words === null && session !== null) requireUnfinished(session.view.id, session.view.manifest);
  if (session !== null) runTarget(plan, session.view.manifest);
  const instructions = flags.instructions !== undefined
    ? textOrFile(ports, flags.instructions, "--instructions")
    : session === null
    ? DEFAULT_INSTRUCTIONS
    : sessionInstructions(ports, session.home, session.view, (message) => output.note(message));
  const next = nextRequest({
    ports,
    flags,
    config: context.config,
    fixture: plan.fixture,
    manifest: session?.view.manifest ?? null,
    turns: session?.view.turns ?? [],
    ...(session === null ? {} : { allTurns: () => readSession(ports, session.home, session.view.id).turns }),
    instructions,
    family: flags.session ?? "new-session",
  }, words === null ? null : [{ type: "input_text", text: words }]);
  const { sent, left } = requestAccount(next.folded);
  const report = {
    type: "dry_run",
    session: session?.view.id ?? flags.session ?? null,
    new: session === null,
    run: (session?.view.manifest.run ?? 0) + 1,
    continues: words === null,
    url: next.url,
    provider: next.fingerprint.provider,
    model: next.model,
    context_tokens: modelFacts(next.model)?.contextTokens ?? null,
    fingerprint: next.fingerprintText,
    items: next.built.items,
    reasoning_sent: sent,
    reasoning_dropped: left,
    body_bytes: encodeUtf8(next.built.body).length,
    body_sha256: sha256Hex(next.built.body),
  };
  if (output.options.json) output.json(report);
  else {
    output.text(
      `Would send ${counted(report.items, "item")} (${
        counted(report.body_bytes, "byte")
      }, ${sent} of them reasoning) to ${report.url}\n` +
        `for run ${report.run} of ${session === null ? "a new session" : `session ${report.session}`}, ` +
        `fingerprint ${report.fingerprint}. Nothing was sent or written.\n`,
    );
  }
  return 0;
}

/** Refuses what a run would refuse: a home that cannot be used, a bad id, or one that is taken. */
function newSession({ ports, context, flags }: RunPlan): null {
  const home = openHome(ports, context.home.value, { create: false });
  if (flags.session !== undefined) {
    requireUnused(ports, sessionPaths(home.sessions, parseSessionId(flags.session)));
  }
  return null;
}

function existingSession(plan: RunPlan, selector: string) {
  const { ports, context } = plan;
  const home = openHome(ports, context.home.value, { create: false });
  const id = resolveSession(ports, home, { selector, workspace: ports.workspacePin(plan.root) });
  return { home, view: readSessionTail(ports, home, id) };
}
