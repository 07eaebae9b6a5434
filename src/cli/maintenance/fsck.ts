/** The verb `fsck`: checks a session's files and changes none. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import { type FsckFinding, type FsckReport, fsckSession } from "../../store/check/fsck.ts";
import { strayNames } from "../../store/home.ts";
import type { FsckFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { Progress, reportingFiles } from "../progress.ts";
import { chosenSessions } from "../sessions.ts";

/** The JSON of `fsck`. */
export interface FsckResult {
  /** False if a session is damaged. */
  readonly ok: boolean;
  readonly exit_code: ExitCode;
  readonly sessions: readonly FsckReport[];
  /** With `--all`: entries beside the sessions that are none; paths begin at the directory of sessions. */
  readonly strays: readonly FsckFinding[];
  /** Sessions that another process removed meanwhile. */
  readonly skipped: readonly { readonly id: SessionId; readonly why: string }[];
  readonly totals: FsckTotals;
}

/** Numbers over all checked sessions. */
export interface FsckTotals {
  readonly sessions: number;
  readonly turns: number;
  /** Sessions with an error. */
  readonly damaged: number;
  /** Sessions that a process writes to: their open tail was not checked. */
  readonly in_use: number;
  /** Findings by severity. */
  readonly errors: number;
  readonly warnings: number;
  readonly infos: number;
}

/** Performs `fsck`. Only findings of severity `error` fail it. */
export async function fsckVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: FsckFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const all = flags.all === true;
  const { home, ids } = chosenSessions(context, selector, { all, verb: "fsck" });
  const reports: FsckReport[] = [];
  const skipped: { readonly id: SessionId; readonly why: string }[] = [];
  const progress = new Progress(output, ports);
  for (const [index, id] of ids.entries()) {
    const at = () => `checking ${id}, session ${index + 1} of ${ids.length}`;
    progress.step(at);
    try {
      const report = await fsckSession(reportingFiles(ports, progress, at), home, id);
      reports.push(report);
      if (!output.options.json) output.text(reportText(report));
    } catch (error) {
      // With --all, a session that another process removes meanwhile is no failure.
      if (!all || !(error instanceof RepriseError && error.code === "no_such_session")) throw error;
      skipped.push({ id, why: error.message });
    }
  }
  progress.end();
  const strays = all
    ? strayNames(ports, home).map(({ name, message }): FsckFinding => ({
      ...{ severity: "warning", code: "foreign_file", path: name, message },
    }))
    : [];
  const totals = totalsOf(reports, strays);
  const ok = totals.errors === 0;
  const exitCode: ExitCode = ok ? 0 : 12;
  if (output.options.json) {
    output.json<"fsck">(
      { ok, exit_code: exitCode, sessions: reports, strays, skipped, totals } satisfies FsckResult,
    );
    return exitCode;
  }
  for (const { id, why } of skipped) output.note(`skipped ${id}: ${why}`);
  output.text(findingLines(strays, "").join(""));
  if (all) output.text(`${totalsText(totals)}\n`);
  return exitCode;
}

function reportText({ id, findings, turns, in_use }: FsckReport): string {
  const bad = findings.filter(({ severity }) => severity !== "info").length;
  const verdict = bad === 0 ? "ok" : counted(bad, "finding");
  const head = `${id}: ${counted(turns, "turn")}, ${verdict}${in_use ? ", in use" : ""}\n`;
  return [head, ...findingLines(findings, "  ")].join("");
}

function findingLines(findings: readonly FsckFinding[], indent: string): string[] {
  return findings.map(({ severity, path, message }) => `${indent}${severity}: ${path}: ${message}\n`);
}

function totalsOf(reports: readonly FsckReport[], strays: readonly FsckFinding[]): FsckTotals {
  const found = (findings: readonly FsckFinding[], wanted: FsckFinding["severity"]) =>
    findings.filter(({ severity }) => severity === wanted).length;
  const findings = [...reports.flatMap((report) => report.findings), ...strays];
  return {
    sessions: reports.length,
    turns: reports.reduce((sum, { turns }) => sum + turns, 0),
    damaged: reports.filter((report) => found(report.findings, "error") > 0).length,
    in_use: reports.filter(({ in_use }) => in_use).length,
    errors: found(findings, "error"),
    warnings: found(findings, "warning"),
    infos: found(findings, "info"),
  };
}

function totalsText({ sessions, turns, damaged, in_use, errors, warnings }: FsckTotals): string {
  const busy = in_use === 0 ? "" : `, ${in_use} in use`;
  const found = `${counted(errors, "error")}, ${counted(warnings, "warning")}`;
  return `${counted(sessions, "session")}, ${counted(turns, "turn")}: ${damaged} damaged${busy}; ${found}`;
}
