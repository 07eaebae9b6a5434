/**
 * Sources of other agents, for the tests of their readers.
 *
 * @module
 */
import type { AgentEntry, AgentSession } from "../../../src/agents/agent_session.ts";
import { type SourceLine, splitLines } from "../../../src/agents/lines.ts";

/** The bytes of a source: a JSON object a line. */
export function bytesOf(lines: readonly unknown[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Reads lines with a reader. */
export function sessionOf(
  read: (lines: readonly SourceLine[]) => AgentSession,
  lines: readonly unknown[],
): AgentSession {
  return read(splitLines(bytesOf(lines), { name: "x.jsonl", isRecord: () => false }).lines);
}

/** Entries as short texts. */
export function summaryOf(entries: readonly AgentEntry[]): string[] {
  return entries.map((entry) => {
    switch (entry.kind) {
      case "user":
        return `user ${entry.content.map(({ type, text }) => text ?? type).join(" ")}`;
      case "response":
        return `response ${entry.responseId} ${entry.items.map(({ type }) => type).join(" ")}`;
      case "result":
        return `result ${entry.callId} ${entry.output}`;
      case "compaction":
        return `compaction ${entry.summary}${entry.keptFrom === null ? "" : ` from line ${entry.keptFrom}`}`;
    }
  });
}
