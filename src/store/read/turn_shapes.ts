/**
 * Shapes of turns and events. They only validate: the parsed value is used unchanged, with all members in their order,
 * because turns are kept verbatim.
 */
import type { EventType } from "../../domain/event.ts";
import {
  anyObject,
  count,
  either,
  instant,
  list,
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
  text,
} from "../../domain/shape.ts";
import { type Turn, TURN_FORMAT } from "../../domain/turn.ts";
import { checkpointRef, fingerprint, pins, scope, usage } from "./shared_shapes.ts";

const item = object({ type: text });
const callItem = either(
  object({ type: literal("tool_use"), id: text }),
  object({ type: text, call_id: string }),
);
/** A blob's name and size. */
const blobRef = object({ sha256, bytes: count, lossy: optional(literal(true)) });
const answeringModel = object({ asked: text, answered: nullable(string) });
const withoutField = { endpoint: text, model: text, without: text };
const omission = { seqs: list(ordinal, 1), part: optional(ordinal) };
const fromDeltas = optional(literal(true));
const runError = object({ code: text, message: string });

/** Shape of each event kind of this version, without `seq` and `type`. */
export const EVENT_SHAPES: Readonly<Record<EventType, Shape>> = {
  user_message: object({ content: list(item) }),
  attachment: object({ name: text, media_type: text, blob: blobRef }),
  assistant_message: object({ item, from_deltas: fromDeltas }),
  reasoning: object({ item, from_deltas: fromDeltas }),
  tool_call: object({ item: callItem, from_deltas: fromDeltas }),
  tool_result: object({
    call_id: string,
    call_seq: ordinal,
    tool: string,
    status: text,
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
    reason: text,
    rule: optional(string),
  }),
  replay_notice: object({
    reason: text,
    items: list(object({
      seq: ordinal,
      action: literal("quarantined", "left_out", "stripped", "lifted"),
      field: optional(string),
    })),
    scope: optional(object(scope)),
    member: optional(object({ item_type: text, field: text })),
    error: optional(runError),
  }),
  calls_as_text: object({ call_seqs: list(ordinal, 1), error: optional(runError) }),
  endpoint_notice: object({ ...withoutField, error: optional(runError) }),
  history_compaction: object({
    to_seq: ordinal,
    to_turn: ordinal,
    previous_checkpoint: nullable(ordinal),
    opening_turn: nullable(ordinal),
    strategy: literal("deterministic", "model"),
    summary: string,
    limitations: list(string),
    dropped: optional(record(count)),
    endpoint_notices: optional(list(object(withoutField))),
    accounts: optional(list(object({ provider: text, endpoint: text, account: text, key: text }))),
    omitted: optional(list(object({ seq: ordinal, ...omission }))),
    run_usage: optional(usage),
    verification: optional(anyObject),
    request: optional(anyObject),
  }),
  result_elided: object({ result_seq: ordinal, kept: string }),
  compaction_withdrawn: object({ checkpoint: ordinal, restored: nullable(checkpointRef) }),
  items_omitted: object({ ...omission, reason: text }),
  omission_withdrawn: object({ omission: ordinal }),
  session_fork: object({
    parent: text,
    to_seq: ordinal,
    to_turn: ordinal,
    sum: sha256,
    lineage: list(text, 1),
  }),
  branch_summary: object({ session: text, from_seq: ordinal, to_seq: ordinal, summary: string }),
  turn_replaced: anyObject,
  blob_lost: object({ sha256 }),
  session_renamed: object({ title: text }),
  run_continued: object({ run: ordinal }),
  run_ended: object({
    run: ordinal,
    state: text,
    exit_code: count,
    usage,
    error: optional(runError),
  }),
};

const base = {
  format: literal(TURN_FORMAT),
  session: text,
  turn: ordinal,
  run: ordinal,
  seq: pair(ordinal),
  prev: nullable(sha256),
  at: instant,
  redacted: optional(object({ replaced: count, sum: sha256 })),
  events: list(object({ seq: ordinal, type: text }), 1),
  sum: sha256,
};
/** Member of a turn that replaces a lost turn. */
const replaces = object({ sum: nullable(sha256), seq: pair(ordinal), reason: text });

/** Shape of each kind of turn; of its events only the members that all have. */
export const TURN_SHAPES: Readonly<Record<Turn["kind"], Shape>> = {
  user: object({ ...base, pins }),
  model: object({
    ...base,
    model: answeringModel,
    fingerprint,
    response: object({ id: nullable(string), status: text }),
    request: object({
      body_sha256: sha256,
      fold: ordinal,
      fields: anyObject,
      // Absent in turns of the first version.
      replay: optional(object({ mode: text, window: nullable(count), account: nullable(string) })),
      guard: object({ sent: count, dropped: list(object({ seq: ordinal, reason: text })) }),
      imported: optional(
        object({
          ...{ agent: text, version: nullable(string), line: ordinal },
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
