import type { ExitCode } from "../domain/errors.ts";
import { sha256Hex } from "../domain/hash.ts";
import { openHome, resolveSession } from "../store/home.ts";
import { readSession } from "../store/read.ts";
import { DEFAULT_INSTRUCTIONS } from "./default_instructions.ts";
import { nextRequest } from "./next_request.ts";
import { textOrFile } from "./run_settings.ts";
import { sessionInstructions } from "./session_instructions.ts";
import type { RunPlan } from "./verbs/run.ts";

/** `run --dry-run`: says what would be sent and where; changes and sends nothing. */
export function previewRun(plan: RunPlan, words: string | null): ExitCode {
  const { context, ports, flags } = plan;
  const { output } = context;
  const session = plan.selector === null ? null : existingSession(plan, plan.selector);
  const instructions = flags.instructions !== undefined
    ? textOrFile(ports, flags.instructions, "--instructions")
    : session === null
    ? DEFAULT_INSTRUCTIONS
    : sessionInstructions(ports, session.home, session.view);
  const next = nextRequest({
    ports,
    flags,
    config: context.config,
    fixture: plan.fixture,
    manifest: session?.view.manifest ?? null,
    turns: session?.view.turns ?? [],
    instructions,
    family: flags.session ?? "new-session",
  }, words === null ? null : [{ type: "input_text", text: words }]);
  const sent = next.folded.reasoning.filter((decision) => decision.reason === null).length;
  const report = {
    type: "dry_run",
    session: session?.view.id ?? flags.session ?? null,
    new: session === null,
    run: (session?.view.manifest.run ?? 0) + 1,
    continues: words === null,
    url: `${plan.endpoint.prefix}${next.built.path}`,
    model: next.model,
    fingerprint: next.fingerprintText,
    items: next.built.items,
    reasoning_sent: sent,
    reasoning_dropped: next.folded.reasoning.length - sent,
    body_bytes: new TextEncoder().encode(next.built.body).length,
    body_sha256: sha256Hex(next.built.body),
  };
  if (output.options.json) output.json(report);
  else {
    output.text(
      `Would send ${report.items} items (${report.body_bytes} bytes, ${sent} of them reasoning) to ${report.url}\n` +
        `for run ${report.run} of ${session === null ? "a new session" : `session ${report.session}`}, ` +
        `fingerprint ${report.fingerprint}. Nothing was sent or written.\n`,
    );
  }
  return 0;
}

function existingSession(plan: RunPlan, selector: string) {
  const { ports, context } = plan;
  const home = openHome(ports, context.home.value, { create: false });
  const id = resolveSession(ports, home, { selector, workspace: ports.workspacePin(plan.root) });
  return { home, view: readSession(ports, home, id) };
}
