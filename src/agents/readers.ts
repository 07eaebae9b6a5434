/**
 * The readers, by agent.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { parseShallow } from "../domain/json_depth.ts";
import type { AgentName, AgentSession } from "./agent_session.ts";
import { isClaudeStart, readClaude } from "./claude/read.ts";
import { isCodexStart, readCodex } from "./codex/read.ts";
import type { SourceLine } from "./lines.ts";
import { isPiStart, readPi } from "./pi/read.ts";

/** The reader of an agent's sessions. */
export interface AgentReader {
  readonly agent: AgentName;
  /** Reads all lines; none is fatal. */
  readonly read: (lines: readonly SourceLine[]) => AgentSession;
}

/** Readers, each with its test of the first line. */
const READERS: readonly (AgentReader & { readonly isStart: (first: JsonObject) => boolean })[] = [
  { agent: "codex", isStart: isCodexStart, read: readCodex },
  { agent: "pi", isStart: isPiStart, read: readPi },
  { agent: "claude", isStart: isClaudeStart, read: readClaude },
];

/** The reader of a source, by its first line; `null` if no agent writes such lines. */
export function readerOf(firstLine: Uint8Array): AgentReader | null {
  const json = parseShallow(firstLine)?.json;
  return isJsonObject(json) ? READERS.find(({ isStart }) => isStart(json)) ?? null : null;
}
