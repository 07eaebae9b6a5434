/** Transcripts of subagents, which Claude Code keeps in a folder beside the one of their session. */
import type { AgentBranch, AgentSession, LostPart } from "../../agents/agent_session.ts";
import { MAX_SOURCE_BYTES, splitLines } from "../../agents/lines.ts";
import type { AgentReader } from "../../agents/readers.ts";

/** Adds the subagents of the transcript at `path` as branches of their own. */
export function withSubagents(session: AgentSession, path: string, reader: AgentReader): AgentSession {
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
    ...others.map(({ entries }) => ({
      line: entries[0]?.line ?? 1,
      what: "branch",
      why: "only the main one is kept",
    })),
    ...(torn === null ? [] : [{ line: torn.line, what: "line", why: "it is incomplete" }]),
  ];
  return {
    branches,
    lost: [...unread, ...lost, ...rest].map((part) => ({ ...part, what: `${part.what} of ${title}` })),
  };
}
