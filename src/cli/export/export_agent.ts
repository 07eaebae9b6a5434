/** `export --to`: writes the conversation of a session as a new file of another agent. */
import type { AgentName } from "../../agents/agent_session.ts";
import { conversationOf } from "../../agents/conversation.ts";
import { type AgentFile, randomUuid, type Written } from "../../agents/writing.ts";
import { encodeUtf8 } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { withoutOmitted } from "../../fold/omissions.ts";
import { counted } from "../../domain/text.ts";
import { readSession } from "../../store/read/session.ts";
import type { Context } from "../context.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";
import { outputFile } from "../output_file.ts";
import { sessionArgument } from "../sessions.ts";
import type { ExportFlags } from "./command.ts";
import { writeClaude } from "../../agents/claude/write.ts";
import { writeCodex } from "../../agents/codex/write.ts";
import { writePi } from "../../agents/pi/write.ts";

/** Performs `export --to`. */
export function exportToAgent(
  context: Context,
  { selector, to, file }: {
    readonly selector: string;
    readonly to: AgentName;
    /** The argument FILE, which belongs to the other form of the verb. */
    readonly file: string | undefined;
  },
  flags: ExportFlags,
): ExitCode {
  const { ports, output } = context;
  const path = flags.output ?? "";
  const why = flags.redact === true
    ? "--redact is for exports of ours"
    : file !== undefined
    ? "the new file is named by -o"
    : path === "" || path === "-"
    ? "the new file has no name"
    : null;
  if (why !== null) {
    const hint = flags.redact === true
      ? "Import the redacted export, and export that session"
      : `Name it with -o ${file ?? "FILE"}`;
    throw new RepriseError("usage", `Cannot export to ${to}: ${why}`, { hint });
  }
  const { home, id } = sessionArgument(context, selector);
  const { turns } = readSession(ports, home, id);
  // The other agent would send what is omitted here.
  const conversation = conversationOf(withoutOmitted(turns));
  const { spoken, lost } = conversation;
  const random = () => ports.random();
  const written = WRITERS[to]({
    conversation,
    random,
    id: randomUuid(random),
    at: new Date(ports.clock.now()).toISOString(),
    directory: Deno.realPathSync(ports.workingDirectory()),
  });
  const bytes = encodeUtf8(written.lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const dryRun = flags.dryRun === true;
  const write = outputFile(ports, path, { what: "the export", force: flags.force === true });
  if (!dryRun) write([bytes]);
  const count = (kind: string) => spoken.filter((each) => each.kind === kind).length;
  const { place, command } = written;
  const facts = {
    session: id,
    to,
    file: path,
    bytes: bytes.length,
    place: `~/${place}`,
    command,
    messages: count("user"),
    answers: count("answer"),
    results: count("result"),
    lost,
  };
  if (output.options.json) {
    const changes = plannedChanges("create", "file", [path]);
    output.json<"export-agent">(changeDocument({ verb: "export", dryRun, changes }, facts));
    return 0;
  }
  const counts = [
    counted(facts.messages, "message"),
    counted(facts.answers, "answer"),
    counted(facts.results, "result"),
  ].join(", ");
  output.note(`${dryRun ? "would export" : "exported"} ${id}: ${counts}, without reasoning`);
  for (const { turn, what } of lost) output.note(`lost in turn ${turn}: ${what}`);
  output.note(
    `to continue, move it to ~/${place} (create the directory if it is missing) and call: ${command}`,
  );
  return 0;
}

const WRITERS: Readonly<Record<AgentName, (written: Written) => AgentFile>> = {
  codex: writeCodex,
  claude: writeClaude,
  pi: writePi,
};
