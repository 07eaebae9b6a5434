/**
 * Refusals of the pairing of calls and results. Gateways pass on the texts of the API behind them, so that each API may
 * answer in the words of any other (protocol §6.2, §11, §15.6).
 */
import type { FoldedEntry } from "../domain/folded.ts";
import type { RequestRefusal } from "./api.ts";
import { wireCallId } from "./names.ts";

/** Texts that go on with the id of a call, or with several. */
const NAMING: readonly RegExp[] = [
  /no tool (?:output|call) found for /i,
  /\btool_use\b.{0,3}ids were found without .{0,3}tool_result\b.{0,3}blocks/i,
  /unexpected .{0,3}tool_use_id\b.{0,3}found in .{0,3}tool_result\b.{0,3}blocks/i,
  /assistant message with .{0,3}tool_calls\b.{0,3}must be followed by tool messages/i,
  /.{0,3}\btool_call_id\b.{0,3}of [^\s]{1,80} not found in .{0,3}tool_calls\b/i,
  /duplicate value for .{0,3}tool_call_id\b/i,
];
/** Texts that name no call. */
const SILENT: readonly RegExp[] = [
  /messages with role .{0,3}tool\b.{0,3}must be a response to a prece+ding message/i,
  /missing parameter .{0,3}tool_call_id\b/i,
  /not the same number of function calls and responses/i,
];

/**
 * The refusal of pairs in these words; `null` for any other text. Gateways give calls ids of their own, so that a text may
 * name none that was sent.
 */
export function refusedCalls(
  message: string,
  entries: readonly FoldedEntry[],
): Extract<RequestRefusal, { readonly kind: "call" }> | null {
  const found = NAMING.map((text) => text.exec(message)).find((match) => match !== null);
  if (found === undefined || found === null) {
    return SILENT.some((text) => text.test(message)) ? { kind: "call", callIds: null } : null;
  }
  const words = new Set(
    message.slice(found.index).split(/[\s,'"`()<>[\]{}=\\]+/).map((word) => word.replace(/[.;:]+$/, "")),
  );
  const sent = entries.flatMap((entry) => "callId" in entry ? [entry.callId] : []);
  const named = sent.filter((id) => words.has(id) || words.has(wireCallId(id)));
  return { kind: "call", callIds: named.length === 0 ? null : [...new Set(named)] };
}
