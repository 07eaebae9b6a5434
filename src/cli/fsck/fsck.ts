/** The verb `fsck`: checks sessions, and with `--requests` folds every recorded request again; changes nothing. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { verifySession } from "../../run/verify.ts";
import type { FsckFinding, VerifiedRequest } from "../../schemas/maintenance.ts";
import { type FsckReport, fsckSession } from "../../store/check/fsck.ts";
import { type Home, strayNames } from "../../store/home.ts";
import { blobReader, readSession } from "../../store/read/session.ts";
import type { FsckFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { Progress, reportingFiles } from "../progress.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import { chosenSessions, requireOneOrAll } from "../sessions.ts";

type Totals = JsonDocument<"fsck">["totals"];

/** A session that was checked; `requests` with `--requests`, unless its files are damaged. */
type CheckedReport = FsckReport & { readonly requests?: readonly VerifiedRequest[] };

/** A place of sessions: this home, or a remote. */
export interface CheckedPlace {
  readonly ids: readonly SessionId[];
  /** Entries beside the sessions that are none. */
  readonly strays: readonly FsckFinding[];
  readonly remote?: string;
  /** Calls `check` with a home that holds the session. */
  check(id: SessionId, check: (home: Home) => Promise<CheckedReport>): Promise<CheckedReport>;
}

/** Performs `fsck`. Findings of severity `error`, and requests that differ, fail it. */
export async function fsckVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: FsckFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const all = flags.all === true;
  requireOneOrAll(selector, { all, verb: "fsck" });
  const place = flags.remote === undefined
    ? placeOfHome(context, selector)
    : await (await import("./remote_fsck.ts")).checkedOnRemote(context, selector, flags);
  const reports: CheckedReport[] = [];
  const skipped: { readonly id: SessionId; readonly why: string }[] = [];
  const progress = new Progress(output, ports);
  for (const [index, id] of place.ids.entries()) {
    const at = () => `checking ${id}, session ${index + 1} of ${place.ids.length}`;
    progress.step(at);
    const reporting = reportingFiles(ports, progress, at);
    try {
      const report = await place.check(id, async (home) => {
        const report = await fsckSession(reporting, home, id);
        return flags.requests === true && report.findings.every(({ severity }) => severity !== "error")
          ? { ...report, requests: requestsOf(reporting, home, id) }
          : report;
      });
      reports.push(report);
      if (!output.options.json) output.text(reportText(report));
    } catch (error) {
      // With --all, a session that another process removes meanwhile is no failure.
      if (!all || !(error instanceof RepriseError && error.code === "no_such_session")) throw error;
      skipped.push({ id, why: error.message });
    }
  }
  progress.end();
  const { strays, remote } = place;
  const totals = totalsOf(reports, strays);
  const exitCode: ExitCode = totals.errors > 0 ? 12 : totals.differing > 0 ? 7 : 0;
  if (output.options.json) {
    output.json<"fsck">(
      {
        ok: exitCode === 0,
        exit_code: exitCode,
        sessions: reports,
        strays,
        skipped,
        totals,
        ...(remote === undefined ? {} : { remote }),
      },
    );
    return exitCode;
  }
  for (const { id, why } of skipped) output.note(`skipped ${id}: ${why}`);
  output.text(findingLines(strays, "").join(""));
  if (all) output.text(`${totalsText(totals)}\n`);
  return exitCode;
}

function placeOfHome(context: Context, selector: string | undefined): CheckedPlace {
  const { home, ids } = chosenSessions(context, selector);
  const strays = selector === undefined
    ? strayNames(context.ports, home).map(({ name, message }): FsckFinding => ({
      severity: "warning",
      code: "foreign_file",
      path: name,
      message,
    }))
    : [];
  return { ids, strays, check: (_, check) => check(home) };
}

/** Folds every recorded request of a session again. Throws as `readSession` does. */
function requestsOf(ports: Ports, home: Home, id: SessionId): VerifiedRequest[] {
  const { turns } = readSession(ports, home, id);
  return verifySession({ turns, readBlob: blobReader(ports, home, { id, turns }) });
}

function reportText({ id, findings, turns, in_use, requests }: CheckedReport): string {
  const bad = findings.filter(({ severity }) => severity !== "info").length;
  const verdict = bad === 0 ? "ok" : counted(bad, "finding");
  const folded = requests === undefined ? "" : `, ${counted(requests.length, "request")}`;
  const head = `${id}: ${counted(turns, "turn")}, ${verdict}${in_use ? ", in use" : ""}${folded}\n`;
  const verdicts = (requests ?? []).map(({ turn, verdict }) => `  request of turn ${turn}: ${verdict}\n`);
  return [head, ...findingLines(findings, "  "), ...verdicts].join("");
}

function findingLines(findings: readonly FsckFinding[], indent: string): string[] {
  return findings.map(({ severity, path, message }) => `${indent}${severity}: ${path}: ${message}\n`);
}

function totalsOf(reports: readonly CheckedReport[], strays: readonly FsckFinding[]): Totals {
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
    differing: reports.flatMap(({ requests = [] }) => requests).filter(({ verdict }) => verdict === "differs")
      .length,
  };
}

function totalsText({ sessions, turns, damaged, in_use, errors, warnings, differing }: Totals): string {
  const busy = in_use === 0 ? "" : `, ${in_use} in use`;
  const differ = differing === 0
    ? ""
    : `, ${counted(differing, "request")} that ${differing === 1 ? "differs" : "differ"}`;
  const found = `${counted(errors, "error")}, ${counted(warnings, "warning")}${differ}`;
  return `${counted(sessions, "session")}, ${counted(turns, "turn")}: ${damaged} damaged${busy}; ${found}`;
}
