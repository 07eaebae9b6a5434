/**
 * The beginning of an imported session: a session of ours begins with a message of the user.
 *
 * @module
 */
import type { AgentEntry, AgentSession } from "./agent_session.ts";
import { LostParts, textPart } from "./reading.ts";

/**
 * The session from its first message of the user on. A compaction before any message becomes a message with its summary;
 * answers and results before that are lost. The same holds for branches that share nothing with the main one.
 */
export function fromFirstPrompt(session: AgentSession): AgentSession {
  const lost = new LostParts();
  const main = begun(session.main, lost);
  const removed = session.main.length - main.length;
  const others = session.others.flatMap((branch) => {
    const shared = Math.max(0, branch.shared - removed);
    const entries = shared === 0 ? begun(branch.entries, lost) : branch.entries;
    return entries.length === 0 ? [] : [{ ...branch, shared, entries }];
  });
  return { ...session, main, others, lost: [...session.lost, ...lost.parts] };
}

function begun(entries: readonly AgentEntry[], lost: LostParts): readonly AgentEntry[] {
  const found = entries.findIndex(({ kind }) => kind === "user" || kind === "compaction");
  const start = found === -1 ? entries.length : found;
  for (const { kind, line } of entries.slice(0, start)) {
    lost.add(line, kind === "result" ? "result" : "answer", "no message of the user comes before it");
  }
  const [first, ...others] = entries.slice(start);
  if (first?.kind !== "compaction") return entries.slice(start);
  const text = `This is a summary of the conversation so far:\n\n${first.summary}`;
  return [{ kind: "user", line: first.line, content: [textPart(text)] }, ...others];
}
