import { encodeUtf8 } from "../domain/bytes.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import type { Folded } from "../fold/history_fold.ts";

/** How much history a request carries. */
export interface HistorySize {
  readonly entries: number;
  /** UTF-8 bytes of the entries as JSON: nearly what the body's history takes. */
  readonly bytes: number;
  /** See {@linkcode TOKEN_ESTIMATE}. */
  readonly tokens: number;
}

/** What the token figures are, for whoever reads them. */
export const TOKEN_ESTIMATE = "bytes / 4, rounded up: an estimate, not a count";

/** The size of a folded history. */
export function sizeOf({ entries }: Folded): HistorySize {
  let bytes = 0;
  for (const entry of entries) bytes += encodeUtf8(JSON.stringify(payloadOf(entry))).length;
  return { entries: entries.length, bytes, tokens: Math.ceil(bytes / 4) };
}

function payloadOf(entry: FoldedEntry): unknown {
  if (entry.kind === "user_message") return entry.content;
  return entry.kind === "tool_result" ? entry.output : entry.item;
}
