/** Messages of a request: the entries that share one, and the order of their blocks (protocol §11). */
import type { FoldedEntry } from "../../domain/folded.ts";
import type { JsonObject } from "../../domain/json.ts";
import { renderEntry } from "./render.ts";

/** A block and the index of the entry that it came from. */
export interface SentBlock {
  readonly entry: number;
  readonly block: JsonObject;
}

/** One element of `messages`; never without a block. */
interface SentMessage {
  readonly role: "user" | "assistant";
  readonly blocks: readonly SentBlock[];
}

interface Draft {
  readonly role: SentMessage["role"];
  readonly blocks: SentBlock[];
  /** Results of the calls of the message before, which come before everything else. */
  readonly results: SentBlock[];
}

/**
 * The messages of these entries. Neighbours of one role share a message, so that roles alternate. A result goes to the
 * start of the user message after the assistant message with its call; several results keep the order of the calls.
 * Their places among the entries do not matter. A result without a call keeps its place.
 */
export function layoutOf(entries: readonly FoldedEntry[]): readonly SentMessage[] {
  const calls = new Map<string, number>();
  entries.forEach((entry, index) => {
    if (entry.kind === "tool_call") calls.set(entry.callId, index);
  });
  const drafts: Draft[] = [];
  /** Index in `drafts` of the message of a call, by the call's index. */
  const homes = new Map<number, number>();
  const results: { readonly call: number; readonly placed: SentBlock }[] = [];
  const into = (role: SentMessage["role"]): Draft => {
    const last = drafts.at(-1);
    if (last?.role === role) return last;
    const draft: Draft = { role, blocks: [], results: [] };
    drafts.push(draft);
    return draft;
  };
  entries.forEach((entry, index) => {
    const placed = renderEntry(entry).map((block) => ({ entry: index, block }));
    const call = entry.kind === "tool_result" ? calls.get(entry.callId) : undefined;
    if (call !== undefined) {
      results.push(...placed.map((one) => ({ call, placed: one })));
      // An answer to a result is not part of the message with the call.
      if (homes.get(call) === drafts.length - 1) into("user");
    } else if (placed.length > 0) {
      into(roleOf(entry)).blocks.push(...placed);
      if (entry.kind === "tool_call") homes.set(index, drafts.length - 1);
    }
  });
  for (const { call, placed } of results.toSorted((a, b) => a.call - b.call)) {
    const home = homes.get(call) ?? -1;
    (drafts[home + 1] ?? into("user")).results.push(placed);
  }
  return drafts.map(({ role, blocks, results }) => ({ role, blocks: [...results, ...blocks] }));
}

function roleOf(entry: FoldedEntry): SentMessage["role"] {
  return entry.kind === "user_message" || entry.kind === "tool_result" ? "user" : "assistant";
}
