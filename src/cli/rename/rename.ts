/** The verb `rename`: gives a session a title. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { MAX_TITLE_LENGTH } from "../../domain/event.ts";
import { readSessionTail } from "../../store/read/session.ts";
import type { RenameFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { changeSession } from "../remote/open_writer.ts";
import { sessionArgument } from "../sessions.ts";

/** Performs `rename`. The title is a turn of the session; an open run stays open. */
export async function renameVerb(
  ports: ProgramPorts,
  selector: string,
  text: string,
  flags: RenameFlags,
): Promise<ExitCode> {
  const title = usableTitle(text);
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const { before, changed } = dryRun
    ? { before: readSessionTail(ports, home, id).manifest.title, changed: false }
    : await changeSession(context, { home, id }, flags, async (writer) => {
      const before = writer.manifest?.title ?? "";
      const changed = before !== title;
      if (changed) {
        await writer.save({
          kind: "harness",
          run: writer.end.run,
          events: [{ type: "session_renamed", title }],
        });
      }
      return { before, changed };
    });
  if (output.options.json) {
    const facts = { session: id, title, before, changed };
    const changes = plannedChanges("append", "turn", before === title ? [] : [id]);
    output.json<"rename">(changeDocument({ verb: "rename", dryRun, changes }, facts));
  } else if (dryRun) {
    output.text(`${id}: would be titled "${title}" instead of "${before}". Nothing was written.\n`);
  } else output.text(changed ? `${id}: titled "${title}"\n` : `${id}: has the title "${title}" already\n`);
  return 0;
}

/**
 * A title on one line.
 *
 * @throws {RepriseError} `usage` if it is empty or too long.
 */
function usableTitle(text: string): string {
  const title = text.toWellFormed().replace(/\s+/g, " ").trim();
  const hint = 'reprise rename @last "Fix the CI build"';
  if (title === "") throw new RepriseError("usage", "Cannot give a session an empty title", { hint });
  if (title.length > MAX_TITLE_LENGTH) {
    const found = `it has ${title.length} characters, the limit is ${MAX_TITLE_LENGTH}`;
    throw new RepriseError("usage", `Cannot use that title: ${found}`, { hint });
  }
  return title;
}
