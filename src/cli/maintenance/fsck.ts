/** The verb `fsck`: checks a session's files and changes none. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import { type FsckReport, fsckSession } from "../../store/check/fsck.ts";
import type { FsckFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { chosenSessions } from "../sessions.ts";

/** Performs `fsck`. Only findings of severity `error` fail it. */
export async function fsckVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: FsckFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, ids } = chosenSessions(context, selector, { all: flags.all === true, verb: "fsck" });
  const reports: FsckReport[] = [];
  const skipped: { readonly id: SessionId; readonly why: string }[] = [];
  for (const id of ids) {
    try {
      reports.push(await fsckSession(ports, home, id));
    } catch (error) {
      // With --all, a session that another process removes meanwhile is no failure.
      if (flags.all !== true || !(error instanceof RepriseError && error.code === "no_such_session")) {
        throw error;
      }
      skipped.push({ id, why: error.message });
    }
  }
  const errors = reports.flatMap((report) => report.findings).filter(({ severity }) => severity === "error");
  const exitCode: ExitCode = errors.length > 0 ? 12 : 0;
  if (output.options.json) {
    output.json({ ok: errors.length === 0, exit_code: exitCode, sessions: reports, skipped });
    return exitCode;
  }
  for (const { id, findings, turns, in_use } of reports) {
    const bad = findings.filter(({ severity }) => severity !== "info").length;
    const verdict = bad === 0 ? "ok" : counted(bad, "finding");
    output.text(`${id}: ${counted(turns, "turn")}, ${verdict}${in_use ? ", in use" : ""}\n`);
    for (const { severity, path, message } of findings) output.text(`  ${severity}: ${path}: ${message}\n`);
  }
  for (const { id, why } of skipped) output.note(`skipped ${id}: ${why}`);
  return exitCode;
}
