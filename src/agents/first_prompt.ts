/** The beginning of an imported session: a session of ours begins with a message of the user. */
import type { AgentEntry, AgentSession } from "./agent_session.ts";
import { LostParts, SUMMARY, summaryText, textPart } from "./reading.ts";

/**
 * The session from its first message of the user on. A compaction before any message becomes a message with its summary;
 * answers and results before that are lost. The same holds for branches that share nothing with the main one. A compaction
 * beside which every message stays is lost: it replaces nothing.
 */
export function fromFirstPrompt(session: AgentSession): AgentSession {
  const lost = new LostParts();
  const begunMain = begun(session.main, lost);
  const main = replacing(begunMain, begunMain[0], lost);
  const kept = new Set(main);
  const removed = session.main.length - begunMain.length;
  const others = session.others.flatMap((branch) => {
    const before = begunMain.slice(0, Math.max(0, branch.shared - removed));
    const entries = before.length === 0 ? begun(branch.entries, lost) : branch.entries;
    const own = replacing(entries, before[0] ?? entries[0], lost);
    const shared = before.filter((entry) => kept.has(entry)).length;
    return own.length === 0 ? [] : [{ ...branch, shared, entries: own }];
  });
  return { ...session, main, others, lost: [...session.lost, ...lost.parts] };
}

/** The entries without compactions beside which everything from `first` on stays. */
function replacing(
  entries: readonly AgentEntry[],
  first: AgentEntry | undefined,
  lost: LostParts,
): readonly AgentEntry[] {
  return entries.filter((entry) => {
    const { kind, line } = entry;
    if (kind !== "compaction" || entry.keptFrom === null || entry.keptFrom > (first?.line ?? 0)) return true;
    lost.add(line, "compaction", "every message before it stays");
    return false;
  });
}

function begun(entries: readonly AgentEntry[], lost: LostParts): readonly AgentEntry[] {
  const found = entries.findIndex(({ kind }) => kind === "user" || kind === "compaction");
  const start = found === -1 ? entries.length : found;
  for (const { kind, line } of entries.slice(0, start)) {
    lost.add(line, kind === "result" ? "result" : "answer", "no message of the user comes before it");
  }
  const [first, ...others] = entries.slice(start);
  if (first?.kind !== "compaction") return entries.slice(start);
  return [
    { kind: "user", line: first.line, content: [textPart(summaryText(first.summary))] },
    ...others,
  ];
}

/** Texts that editors and agents put before the user's own words: blocks in tags, and the words of {@linkcode SUMMARY}. */
const BEFORE = new RegExp(`^\\s*(?:<(ide_[a-z_]+|system-reminder)>[^]*?</\\1>|${SUMMARY})`);

/** Headings that the editor extension of Codex puts between the context of the editor and the user's own words. */
const REQUEST = /^## My request(?: for Codex)?:/m;

/** The user's own words in the first message that has any: the context of an editor comes before them. For names only. */
export function ownWordsOf({ main }: Pick<AgentSession, "main">): string {
  for (const entry of main) {
    if (entry.kind !== "user") continue;
    for (const { text } of entry.content) {
      let words = typeof text === "string" ? text.split(REQUEST).at(-1) ?? "" : "";
      for (let found = BEFORE.exec(words); found !== null; found = BEFORE.exec(words)) {
        words = words.slice(found[0].length);
      }
      if (words.trim() !== "") return words;
    }
  }
  return "";
}
