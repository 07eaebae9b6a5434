/** The verb `verify`: folds every recorded request again and compares it with what was sent. */
import type { ExitCode } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { verifySession } from "../../run/verify.ts";
import { readSession } from "../../store/read/session.ts";
import type { VerifyFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { Progress, reportingFiles } from "../progress.ts";
import { blobReader } from "../run/preview.ts";
import { chosenSessions } from "../sessions.ts";

/** Performs `verify`. Only `differs` fails it. */
export function verifyVerb(ports: ProgramPorts, selector: string | undefined, flags: VerifyFlags): ExitCode {
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, ids } = chosenSessions(context, selector, { all: flags.all === true, verb: "verify" });
  const progress = new Progress(output, ports);
  const sessions = ids.map((id, index) => {
    const at = () => `verifying ${id}, session ${index + 1} of ${ids.length}`;
    progress.step(at);
    const { turns } = readSession(reportingFiles(ports, progress, at), home, id);
    return { id, requests: verifySession({ turns, readBlob: blobReader(ports, home, { id, turns }) }) };
  });
  progress.end();
  const differing = sessions.flatMap(({ requests }) => requests).filter(({ verdict }) =>
    verdict === "differs"
  );
  const exitCode: ExitCode = differing.length > 0 ? 7 : 0;
  if (output.options.json) output.json<"verify">({ ok: exitCode === 0, exit_code: exitCode, sessions });
  else {
    for (const { id, requests } of sessions) {
      output.text(`${id}: ${counted(requests.length, "request")}\n`);
      for (const { turn, verdict } of requests) output.text(`  turn ${turn}: ${verdict}\n`);
    }
  }
  return exitCode;
}
