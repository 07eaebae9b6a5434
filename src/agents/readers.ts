/**
 * The readers, by agent.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { parseShallow } from "../domain/json_depth.ts";
import type { AgentName, AgentSession } from "./agent_session.ts";
import { isClaudeLine, readClaude } from "./claude/read.ts";
import { isCodexLine, readCodex } from "./codex/read.ts";
import { fromFirstPrompt } from "./first_prompt.ts";
import type { SourceLine } from "./lines.ts";
import { isPiLine, readPi } from "./pi/read.ts";

/** The reader of an agent's sessions. */
export interface AgentReader {
  readonly agent: AgentName;
  /** Reads all lines; none is fatal. Each branch begins with a message of the user, if it has one. */
  readonly read: (lines: readonly SourceLine[]) => AgentSession;
}

/** Readers, each with its test of a line. */
const READERS: readonly (AgentReader & { readonly isLine: (json: JsonObject) => boolean })[] = [
  { agent: "codex", isLine: isCodexLine, read: readCodex },
  { agent: "pi", isLine: isPiLine, read: readPi },
  { agent: "claude", isLine: isClaudeLine, read: readClaude },
];

/** Lines that are looked at: the first ones may be damaged. */
const MOST_LINES = 20;

/** The reader of a source, by the first of its first lines that an agent writes; `null` without such a line. */
export function readerOf(start: Uint8Array): AgentReader | null {
  for (let line = 0, from = 0; line < MOST_LINES && from < start.length; line++) {
    const found = start.indexOf(0x0a, from);
    const end = found === -1 ? start.length : found;
    const json = parseShallow(start.subarray(from, end))?.json;
    const reader = isJsonObject(json) ? READERS.find(({ isLine }) => isLine(json)) : undefined;
    if (reader !== undefined) {
      const { agent, read } = reader;
      return { agent, read: (lines) => fromFirstPrompt(read(lines)) };
    }
    from = end + 1;
  }
  return null;
}
