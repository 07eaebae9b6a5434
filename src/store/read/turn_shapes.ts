/**
 * Shapes of turns and events. They only validate: the parsed value is used unchanged, with all members in their order,
 * because turns are kept verbatim.
 */
import type { EventType } from "../../domain/event.ts";
import {
  anyObject,
  count,
  either,
  filledString,
  instant,
  listOf,
  literal,
  nullable,
  object,
  optional,
  ordinal,
  pair,
  record,
  sha256,
  type Shape,
  string,
} from "../../domain/shape.ts";
import { type Turn, TURN_FORMAT } from "../../domain/turn.ts";
import { checkpointRef, fingerprint, pins, scope, usage } from "./shared_shapes.ts";

const item = object({ type: filledString });
const callItem = either(
  object({ type: literal("tool_use"), id: filledString }),
  object({ type: filledString, call_id: string }),
);
/** A blob's name and size. */
const blobRef = object({ sha256, bytes: count, lossy: optional(literal(true)) });
const answeringModel = object({ asked: filledString, answered: nullable(string) });
const withoutField = { endpoint: filledString, model: filledString, without: filledString };
const omission = { seqs: listOf(ordinal, 1), part: optional(ordinal) };
const fromDeltas = optional(literal(true));
const runError = object({ code: filledString, message: string });

/** Shape of each event kind of this version, without `seq` and `type`. */
export const EVENT_SHAPES: Readonly<Record<EventType, Shape>> = {
  user_message: object({ content: listOf(item) }),
  attachment: object({ name: filledString, media_type: filledString, blob: blobRef }),
  assistant_message: object({ item, from_deltas: fromDeltas }),
  reasoning: object({ item, from_deltas: fromDeltas }),
  tool_call: object({ item: callItem, from_deltas: fromDeltas }),
  tool_result: object({
    call_id: string,
    call_seq: ordinal,
    tool: string,
    status: filledString,
    output: string,
    blob: optional(blobRef),
  }),
  provider_item: object({ item, from_deltas: fromDeltas }),
  provider_usage: object({ usage: anyObject }),
  permission_decision: object({
    call_id: string,
    call_seq: ordinal,
    tool: string,
    decision: literal("allowed", "denied"),
    reason: filledString,
    rule: optional(string),
  }),
  replay_notice: object({
    reason: filledString,
    items: listOf(object({
      seq: ordinal,
      action: literal("quarantined", "left_out", "stripped", "lifted"),
      field: optional(string),
    })),
    scope: optional(object(scope)),
    member: optional(object({ item_type: filledString, field: filledString })),
    error: optional(runError),
  }),
  calls_as_text: object({ call_seqs: listOf(ordinal, 1), error: optional(runError) }),
  endpoint_notice: object({ ...withoutField, error: optional(runError) }),
  history_compaction: object({
    to_seq: ordinal,
    to_turn: ordinal,
    previous_checkpoint: nullable(ordinal),
    opening_turn: nullable(ordinal),
    strategy: literal("deterministic", "model"),
    summary: string,
    limitations: listOf(string),
    dropped: optional(record(count)),
    endpoint_notices: optional(listOf(object(withoutField))),
    accounts: optional(
      listOf(
        object({ provider: filledString, endpoint: filledString, account: filledString, key: filledString }),
      ),
    ),
    omitted: optional(listOf(object({ seq: ordinal, ...omission }))),
    run_usage: optional(usage),
    verification: optional(anyObject),
    request: optional(anyObject),
  }),
  result_elided: object({ result_seq: ordinal, kept: string }),
  compaction_withdrawn: object({ checkpoint: ordinal, restored: nullable(checkpointRef) }),
  items_omitted: object({ ...omission, reason: filledString }),
  omission_withdrawn: object({ omission: ordinal }),
  session_fork: object({
    parent: filledString,
    to_seq: ordinal,
    to_turn: ordinal,
    sum: sha256,
    lineage: listOf(filledString, 1),
  }),
  branch_summary: object({ session: filledString, from_seq: ordinal, to_seq: ordinal, summary: string }),
  turn_replaced: anyObject,
  blob_lost: object({ sha256 }),
  session_renamed: object({ title: filledString }),
  run_continued: object({ run: ordinal }),
  run_ended: object({
    run: ordinal,
    state: filledString,
    exit_code: count,
    usage,
    error: optional(runError),
  }),
};

const base = {
  format: literal(TURN_FORMAT),
  session: filledString,
  turn: ordinal,
  run: ordinal,
  seq: pair(ordinal),
  prev: nullable(sha256),
  at: instant,
  redacted: optional(object({ replaced: count, sum: sha256 })),
  events: listOf(object({ seq: ordinal, type: filledString }), 1),
  sum: sha256,
};
/** Member of a turn that replaces a lost turn. */
const replaces = object({ sum: nullable(sha256), seq: pair(ordinal), reason: filledString });

/** Shape of each kind of turn; of its events only the members that all have. */
export const TURN_SHAPES: Readonly<Record<Turn["kind"], Shape>> = {
  user: object({ ...base, pins }),
  model: object({
    ...base,
    model: answeringModel,
    fingerprint,
    response: object({ id: nullable(string), status: filledString }),
    request: object({
      body_sha256: sha256,
      fold: ordinal,
      fields: anyObject,
      // Absent in turns of the first version.
      replay: optional(object({ mode: filledString, window: nullable(count), account: nullable(string) })),
      guard: object({ sent: count, dropped: listOf(object({ seq: ordinal, reason: filledString })) }),
      imported: optional(
        object({
          agent: filledString,
          version: nullable(string),
          line: ordinal,
          copied: optional(literal(true)),
        }),
      ),
    }),
  }),
  tools: object(base),
  harness: object({ ...base, pins: optional(pins), replaces: optional(replaces) }),
  compaction: object({ ...base, pins }),
  fork: object(base),
};
