/** The verb `import` for a session of another agent. */
import { MAX_SOURCE_BYTES, splitLines } from "../../agents/lines.ts";
import { answersInBlocks } from "../../apis/agent_providers.ts";
import type { AgentBranch, AgentSession } from "../../agents/agent_session.ts";
import type { LostPart } from "../../schemas/maintenance.ts";
import { ownWordsOf } from "../../agents/first_prompt.ts";
import type { AgentReader } from "../../agents/readers.ts";
import { importAgentSession } from "../../agents/import.ts";
import { endpointHashes, IMPORTED_ENDPOINT, parseBaseUrl } from "../../domain/fingerprint.ts";
import { freeSlugOf, parseSessionId } from "../../domain/ids.ts";
import { counted } from "../../domain/text.ts";
import type { ModelTurn, Turn } from "../../domain/turn.ts";
import { pinnedTexts } from "../../run/pins.ts";
import { type Home, sessionNames } from "../../store/home.ts";
import { NO_CONFIG } from "../config_file.ts";
import type { Context } from "../context.ts";
import { changeDocument, plannedChanges } from "../dry_run.ts";
import type { Output } from "../output.ts";
import { permissionsOf, policySetting } from "../run/run_settings.ts";
import { DEFAULT_INSTRUCTIONS } from "../run/resolve_run.ts";
import { namingText, randomSuffix } from "../sessions.ts";
import type { ImportFlags } from "./command.ts";

/** Imports a session of another agent and reports what was kept and what was lost. */
export async function importAgent(
  context: Context,
  { reader, bytes, name, home }: {
    readonly reader: AgentReader;
    /** The lines. */
    readonly bytes: Uint8Array;
    /** Name of the source, for messages. */
    readonly name: string;
    readonly home: Home;
  },
  flags: ImportFlags,
): Promise<void> {
  const { ports, output } = context;
  const { lines, lost: unread, torn, times } = splitLines(bytes, { name, isRecord: reader.isRecord });
  const read = withSubagents(reader.read(lines), name, reader);
  const session: AgentSession = { ...read, lost: [...unread, ...read.lost].sort((a, b) => a.line - b.line) };
  // Allowances are given again to each run, so the import gives none.
  const permissions = permissionsOf(policySetting({}, NO_CONFIG), null);
  const id = parseSessionId(
    `${freeSlugOf(await namingText(ownWordsOf(session)), sessionNames(ports, home))}-${randomSuffix(ports)}`,
  );
  const trusted = flags.trustOrigin === undefined ? null : endpointHashes(parseBaseUrl(flags.trustOrigin));
  const dryRun = flags.dryRun === true;
  const { turns, sessions } = await importAgentSession(ports, home, {
    id,
    session,
    torn,
    times,
    trusted,
    dryRun,
    pins: {
      permissions: permissions.text,
      workspace: ports.workspacePin(Deno.realPathSync(ports.workingDirectory())),
    },
    texts: pinnedTexts({ instructions: DEFAULT_INSTRUCTIONS, tools: permissions.offered }),
  });
  const [{ path = "" } = {}, ...others] = sessions;
  const kept = keptIn(turns);
  const forks = others.map(({ id, path, turns, branch }) => {
    return { session: id, path, turns, branch: branch ?? "" };
  });
  const facts = {
    session: id,
    path,
    turns: turns.length,
    blobs: 2,
    redacted: null,
    from: {
      agent: session.agent,
      version: session.version,
      id: session.id,
      kept,
      lost: session.lost,
      torn_line: torn?.line ?? null,
      forks,
    },
  };
  if (output.options.json) {
    const changes = plannedChanges("create", "session", sessions.map(({ id }) => id));
    return output.json<"import">(changeDocument({ verb: "import", dryRun, changes }, facts));
  }
  output.text(
    dryRun ? `Would import ${id}: ${counted(turns.length, "turn")}. Nothing was done.\n` : `${id}\n`,
  );
  reportKept(output, kept);
  for (const [why, count] of unsentIn(turns, trusted !== null)) {
    output.note(`${counted(count, "reasoning item")} will not be sent: ${why}`);
  }
  for (const { session, branch } of forks) output.note(`${branch} is session ${session}`);
  for (const { line, what, why } of session.lost) output.note(`lost line ${line}, ${what}: ${why}`);
  if (torn !== null) output.note(`line ${torn.line} is incomplete; it is kept in quarantine/`);
}

function reportKept(output: Output, kept: ReturnType<typeof keptIn>): void {
  output.note(
    `kept ${counted(kept.messages, "message")}, ${counted(kept.responses, "response")}, ` +
      `${counted(kept.calls, "call")}, ${counted(kept.results, "result")}, ` +
      counted(kept.reasoning, "reasoning item") +
      (kept.compactions === 0 ? "" : `, ${counted(kept.compactions, "compaction")}`),
  );
  const { uncounted, copied } = kept;
  if (uncounted > 0) output.note(`${counted(uncounted, "response")} without token counts`);
  if (copied > 0) {
    output.note(`${counted(copied, "response")} copied from the parent session, which count there`);
  }
}

/** Counts of what a session keeps. `sendable`: reasoning items with a trusted origin. */
function keptIn(turns: readonly Turn[]) {
  const events = turns.flatMap(({ events }) => events);
  const count = (type: string) => events.filter((event) => event.type === type).length;
  const models = turns.filter((turn): turn is ModelTurn => turn.kind === "model");
  const trusted = models.filter(({ fingerprint }) => fingerprint.endpoint !== IMPORTED_ENDPOINT);
  return {
    messages: count("user_message"),
    responses: models.length,
    reasoning: count("reasoning"),
    sendable: trusted.flatMap(({ events }) => events).filter(({ type }) => type === "reasoning").length,
    calls: count("tool_call"),
    results: events.filter((event) => event.type === "tool_result" && event.status !== "orphaned").length,
    compactions: count("history_compaction"),
    uncounted: models.filter(({ events }) => !events.some(({ type }) => type === "provider_usage")).length,
    copied: models.filter(({ request }) => request.imported?.copied === true).length,
  };
}

/** Numbers of reasoning items that will not be sent, by reason. */
function unsentIn(turns: readonly Turn[], isTrusted: boolean): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const turn of turns) {
    if (turn.kind !== "model" || turn.fingerprint.endpoint !== IMPORTED_ENDPOINT) continue;
    const count = turn.events.filter(({ type }) => type === "reasoning").length;
    const why = answersInBlocks(turn.fingerprint.provider)
      ? "thinking counts only under the system prompt and the tools of its request, which are unknown"
      : isTrusted
      ? "the file does not name their provider and model"
      : "--trust-origin does not name their server";
    if (count > 0) counts.set(why, (counts.get(why) ?? 0) + count);
  }
  return counts;
}

/** Adds the subagents of the transcript at `path` as branches of their own. */
function withSubagents(session: AgentSession, path: string, reader: AgentReader): AgentSession {
  const folder = `${path.replace(/\.jsonl$/, "")}/subagents`;
  if (session.agent !== "claude" || !path.endsWith(".jsonl")) return session;
  const read = namesIn(folder).map((name) => subagent(`${folder}/${name}`, name, reader));
  return {
    ...session,
    others: [...session.others, ...read.flatMap(({ branches }) => branches)],
    lost: [...session.lost, ...read.flatMap(({ lost }) => lost)],
  };
}

/** Files in the folder, in alphabetical order; links are not followed. */
function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ name, isFile }) => isFile && name.endsWith(".jsonl"))
      .map(({ name }) => name).sort();
  } catch {
    return [];
  }
}

function subagent(
  path: string,
  name: string,
  reader: AgentReader,
): { readonly branches: readonly AgentBranch[]; readonly lost: readonly LostPart[] } {
  const title = `subagent ${name.replace(/\.jsonl$/, "")}`;
  const lose = (why: string) => ({ branches: [], lost: [{ line: 1, what: title, why }] });
  if (Deno.statSync(path).size > MAX_SOURCE_BYTES) return lose("its file is too large");
  const { lines, lost: unread, torn, times } = splitLines(Deno.readFileSync(path), { name, ...reader });
  const { main, others, lost } = reader.read(lines);
  if (main.length === 0) return lose("it has no message");
  const branches = [{ name: title, shared: 0, entries: main, times }];
  const rest = [
    ...others.map(({ entries }) => {
      return { line: entries[0]?.line ?? 1, what: "branch", why: "only the main one is kept" };
    }),
    ...(torn === null ? [] : [{ line: torn.line, what: "line", why: "it is incomplete" }]),
  ];
  return {
    branches,
    lost: [...unread, ...lost, ...rest].map((part) => ({ ...part, what: `${part.what} of ${title}` })),
  };
}
