/** The verb `input`: the exact request body that a run with the same flags would send. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { previewRequest } from "../../run/preview.ts";
import { isUnfinished, startWith } from "../../run/recover.ts";
import type { InputFlags } from "./command.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { readAttachments, requirePromptFor } from "../run/attach.ts";
import { calledSession, judgeReadablePrefix, keepAdvice } from "../run/preview.ts";
import { readCall, requestSettings, resolveRun } from "../run/resolve_run.ts";

/** Performs `input`. The body itself is JSON: it is printed the same with and without `--json`. */
export async function inputVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: InputFlags,
): Promise<ExitCode> {
  const call = readCall(ports, withSelector(flags, selector));
  const { output } = call.context;
  const session = calledSession(call);
  const { manifest } = session;
  if (manifest === null && flags.prompt === undefined) {
    throw new RepriseError("no_prompt", "Cannot preview a request: no session and no prompt are given", {
      hint: "Name a session (reprise input ID), or give a new one's prompt with --prompt",
    });
  }
  const resolved = resolveRun(call, manifest, { key: "if_set", endpoint: "any" });
  if (resolved.lost !== null) output.note(resolved.lost);
  // A finished session continues only with a prompt; without a prompt, its history is shown unchanged.
  const start = flags.prompt === undefined && !isUnfinished(manifest)
    ? null
    : startWith(flags.prompt?.toWellFormed() ?? null, readAttachments(call.ports, flags.attach));
  requirePromptFor(flags.attach, start);
  const { built } = await previewRequest(requestSettings(resolved, session), session, start);
  output.jsonText(`${built.body}\n`);
  const advice = keepAdvice(await judgeReadablePrefix(resolved, session, start));
  if (advice !== null) output.note(`notice: ${advice}`);
  return 0;
}

/** The flags with the session that an argument names. */
function withSelector(flags: InputFlags, selector: string | undefined): InputFlags {
  if (selector === undefined) return flags;
  const { session, continue: latest, new: isNew } = flags;
  if (session === undefined && latest === undefined && isNew === undefined) {
    return { ...flags, session: selector };
  }
  throw new RepriseError("usage", `Cannot preview session "${selector}": a flag names another`, {
    hint: "Give the session as the argument, or with -s, -c or --new",
  });
}
