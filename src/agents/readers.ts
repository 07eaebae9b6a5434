/** The readers, by agent, and outputs of agents for scripts, which look like sessions and lack the prompts. */
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
import { textIn } from "./reading.ts";
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

/** Returns the command whose output a source is by its first line, and the place of its session; `null` for any other. */
export function outputIn(start: Uint8Array): { readonly command: string; readonly session: string } | null {
  const end = start.indexOf(0x0a);
  const json = parseShallow(end === -1 ? start : start.subarray(0, end))?.json;
  if (!isJsonObject(json)) return null;
  if (json.type === "thread.started") {
    const session = `~/.codex/sessions/*/*/*/rollout-*-${idIn(json, "thread_id")}.jsonl`;
    return { command: "codex exec --json", session };
  }
  if (json.type === "system" && json.subtype === "init") {
    const session = `~/.claude/projects/*/${idIn(json, "session_id")}.jsonl`;
    return { command: "claude -p --output-format stream-json", session };
  }
  return null;
}

function idIn(json: JsonObject, name: string): string {
  const id = textIn(json[name]) ?? "";
  return /^[\w-]{1,64}$/.test(id) ? id : "*";
}
