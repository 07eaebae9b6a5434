/** The verb `verify`: folds every recorded request again and compares it with what was sent. */
import type { ExitCode } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { type VerifiedRequest, verifySession } from "../../run/verify.ts";
import type { Home } from "../../store/home.ts";
import { readSession } from "../../store/read/session.ts";
import type { VerifyFlags } from "./command.ts";
import { type Context, makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { Progress, reportingFiles } from "../progress.ts";
import { blobReader } from "../run/preview.ts";
import { chosenSessions } from "../sessions.ts";

/** Performs `verify`. Only `differs` fails it. */
export async function verifyVerb(
  ports: ProgramPorts,
  selector: string | undefined,
  flags: VerifyFlags,
): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  if (flags.remote !== undefined) {
    return await (await import("../remote/verify.ts")).verifyRemote(context, selector, flags);
  }
  const { output } = context;
  const { home, ids } = chosenSessions(context, selector, { all: flags.all === true, verb: "verify" });
  const progress = new Progress(output, ports);
  const sessions = ids.map((id, index) => {
    const at = () => `verifying ${id}, session ${index + 1} of ${ids.length}`;
    progress.step(at);
    return verified(reportingFiles(ports, progress, at), home, id);
  });
  progress.end();
  const exitCode = exitCodeOf(sessions);
  if (output.options.json) output.json<"verify">({ ok: exitCode === 0, exit_code: exitCode, sessions });
  else for (const session of sessions) printVerified(context, session);
  return exitCode;
}

/** A session with the verdicts on its requests. */
export interface VerifiedSession {
  readonly id: SessionId;
  readonly requests: readonly VerifiedRequest[];
}

/** Verifies a session. Throws as `readSession` does. */
export function verified(ports: Ports, home: Home, id: SessionId): VerifiedSession {
  const { turns } = readSession(ports, home, id);
  return { id, requests: verifySession({ turns, readBlob: blobReader(ports, home, { id, turns }) }) };
}

/** 7 if a request differs. */
export function exitCodeOf(sessions: readonly VerifiedSession[]): ExitCode {
  return sessions.some(({ requests }) => requests.some(({ verdict }) => verdict === "differs")) ? 7 : 0;
}

/** Prints a session for people. */
export function printVerified({ output }: Context, { id, requests }: VerifiedSession): void {
  output.text(`${id}: ${counted(requests.length, "request")}\n`);
  for (const { turn, verdict } of requests) output.text(`  turn ${turn}: ${verdict}\n`);
}
