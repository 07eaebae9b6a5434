/** The readers, by agent. */
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { parseShallow } from "../domain/json_depth.ts";
import type { AgentName, AgentSession } from "./agent_session.ts";
import { isClaudeLine, readClaude } from "./claude/read.ts";
import {
  isCodexLine,
  isCodexRecord,
  isOldCodexLine,
  isOldCodexRecord,
  readCodex,
  readOldCodex,
} from "./codex/read.ts";
import { fromFirstPrompt } from "./first_prompt.ts";
import type { SourceLine } from "./lines.ts";
import { isPiLine, isPiRecord, readPi } from "./pi/read.ts";
import { recordsIn } from "./records.ts";

export interface AgentReader {
  readonly agent: AgentName;
  /** True for any record that the agent writes: one that is found in a damaged line. */
  readonly isRecord: (json: JsonObject) => boolean;
  /** Reads all lines; none is fatal. Each branch begins with a message of the user, if it has one. */
  readonly read: (lines: readonly SourceLine[]) => AgentSession;
}

/** Readers, each with its test of a line that no other agent writes. */
const READERS: readonly (AgentReader & { readonly isOwn: (json: JsonObject) => boolean })[] = [
  { agent: "codex", isOwn: isCodexLine, isRecord: isCodexRecord, read: readCodex },
  { agent: "codex", isOwn: isOldCodexLine, isRecord: isOldCodexRecord, read: readOldCodex },
  { agent: "pi", isOwn: isPiLine, isRecord: isPiRecord, read: readPi },
  { agent: "claude", isOwn: isClaudeLine, isRecord: isClaudeLine, read: readClaude },
];

/** Lines that are looked at, without blank ones: the first ones may be damaged. */
const MOST_LINES = 20;

/** The reader of a source, by the first of its first lines that an agent writes; `null` without such a line. */
export function readerOf(start: Uint8Array): AgentReader | null {
  for (let line = 0, from = 0; line < MOST_LINES && from < start.length;) {
    const found = start.indexOf(0x0a, from);
    const end = found === -1 ? start.length : found;
    if (end > from) {
      const [reader] = recordsIn(start.subarray(from, end), readerOfRecord);
      if (reader !== undefined) {
        const { agent, isRecord, read } = reader;
        return { agent, isRecord, read: (lines) => fromFirstPrompt(read(lines)) };
      }
      line++;
    }
    from = end + 1;
  }
  return null;
}

function readerOfRecord(bytes: Uint8Array): AgentReader | null {
  const json = parseShallow(bytes)?.json;
  return isJsonObject(json) ? READERS.find(({ isOwn }) => isOwn(json)) ?? null : null;
}
