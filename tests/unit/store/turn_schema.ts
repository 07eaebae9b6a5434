/**
 * Schemas of turns and events in zod. `store/read/turn_shapes.ts` says the same without a schema library; a property test
 * holds the two equal.
 *
 * @module
 */
import * as z from "zod";
import type { EventType } from "../../../src/domain/event.ts";
import { type Turn, TURN_FORMAT } from "../../../src/domain/turn.ts";

const count = z.int().min(0);
const ordinal = z.int().min(1);
const text = z.string().min(1);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const instant = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const object = z.record(z.string(), z.unknown());

const item = z.looseObject({ type: text });
const callItem = z.union([
  z.looseObject({ type: z.literal("tool_use"), id: text }),
  z.looseObject({ type: text, call_id: z.string() }),
]);
/** A blob's name and size. */
const blobRef = z.looseObject({ sha256, bytes: count, lossy: z.literal(true).optional() });
/** Token counts. */
export const usage = z.looseObject({
  input_tokens: count,
  cached_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
});
const fingerprint = z.looseObject({
  provider: text,
  endpoint: text,
  portless: text.optional(),
  account: text.nullable(),
  key: text.optional(),
});
/** Settings that a run starts with. */
export const pins = z.looseObject({
  fingerprint,
  model: text,
  effort: z.string().optional(),
  summary: z.string().optional(),
  instructions: sha256,
  tools: sha256,
  permissions: z.array(text),
  workspace: text,
});

/** Position of a checkpoint and the events that it replaces. */
export const checkpointRef = z.looseObject({
  turn: ordinal,
  seq: ordinal,
  to_turn: ordinal,
  to_seq: ordinal,
  opening_turn: ordinal.nullable(),
});

const runError = z.looseObject({ code: text, message: z.string() });

/** Schema for each event kind of this version, without `seq` and `type`. */
export const EVENTS: Record<EventType, z.ZodType> = {
  user_message: z.looseObject({ content: z.array(item) }),
  attachment: z.looseObject({ name: text, media_type: text, blob: blobRef }),
  assistant_message: z.looseObject({ item }),
  reasoning: z.looseObject({ item }),
  tool_call: z.looseObject({ item: callItem }),
  tool_result: z.looseObject({
    call_id: z.string(),
    call_seq: ordinal,
    tool: z.string(),
    status: text,
    output: z.string(),
    blob: blobRef.optional(),
  }),
  provider_item: z.looseObject({ item }),
  provider_usage: z.looseObject({ usage: object }),
  permission_decision: z.looseObject({
    call_id: z.string(),
    call_seq: ordinal,
    tool: z.string(),
    decision: z.enum(["allowed", "denied"]),
    reason: text,
    rule: z.string().optional(),
  }),
  replay_notice: z.looseObject({
    reason: text,
    items: z.array(z.looseObject({
      seq: ordinal,
      action: z.enum(["quarantined", "left_out", "stripped", "lifted"]),
      field: z.string().optional(),
    })),
    scope: fingerprint.omit({ provider: true }).optional(),
    member: z.looseObject({ item_type: text, field: text }).optional(),
    error: runError.optional(),
  }),
  endpoint_notice: z.looseObject({
    endpoint: text,
    model: text,
    without: text,
    error: runError.optional(),
  }),
  history_compaction: z.looseObject({
    to_seq: ordinal,
    to_turn: ordinal,
    previous_checkpoint: ordinal.nullable(),
    opening_turn: ordinal.nullable(),
    strategy: z.enum(["deterministic", "model"]),
    summary: z.string(),
    limitations: z.array(z.string()),
    dropped: z.record(z.string(), count).optional(),
    endpoint_notices: z.array(z.looseObject({ endpoint: text, model: text, without: text })).optional(),
    accounts: z.array(z.looseObject({ provider: text, endpoint: text, account: text, key: text })).optional(),
    run_usage: usage.optional(),
    verification: object.optional(),
    request: object.optional(),
  }),
  result_elided: z.looseObject({ result_seq: ordinal, kept: z.string() }),
  compaction_withdrawn: z.looseObject({ checkpoint: ordinal, restored: checkpointRef.nullable() }),
  items_omitted: z.looseObject({
    seqs: z.array(ordinal).min(1),
    part: ordinal.optional(),
    reason: text,
  }),
  omission_withdrawn: z.looseObject({ omission: ordinal }),
  session_fork: z.looseObject({
    parent: text,
    to_seq: ordinal,
    to_turn: ordinal,
    sum: sha256,
    lineage: z.array(text).min(1),
  }),
  branch_summary: z.looseObject({ session: text, from_seq: ordinal, to_seq: ordinal, summary: z.string() }),
  turn_replaced: z.looseObject({}),
  blob_lost: z.looseObject({ sha256 }),
  session_renamed: z.looseObject({ title: text }),
  run_continued: z.looseObject({ run: ordinal }),
  run_ended: z.looseObject({
    run: ordinal,
    state: text,
    exit_code: count,
    usage,
    error: runError.optional(),
  }),
};

const event = z.looseObject({ seq: ordinal, type: text });
const base = {
  format: z.literal(TURN_FORMAT),
  session: text,
  turn: ordinal,
  run: ordinal,
  seq: z.tuple([ordinal, ordinal]),
  prev: sha256.nullable(),
  at: instant,
  redacted: z.looseObject({ replaced: count, sum: sha256 }).optional(),
  events: z.array(event).min(1),
  sum: sha256,
};
/** Member of a turn that replaces a lost turn. */
const replaces = z.looseObject({
  sum: sha256.nullable(),
  seq: z.tuple([ordinal, ordinal]),
  reason: text,
});
/** Schema for each kind of turn; events only with the members that all have. */
export const TURNS: Record<Turn["kind"], z.ZodType> = {
  user: z.looseObject({ ...base, pins }),
  model: z.looseObject({
    ...base,
    model: z.looseObject({ asked: text, answered: z.string().nullable() }),
    fingerprint,
    response: z.looseObject({ id: z.string().nullable(), status: text }),
    request: z.looseObject({
      body_sha256: sha256,
      fold: ordinal,
      fields: object,
      // Absent in turns of the first version.
      replay: z.looseObject({
        mode: text,
        window: count.nullable(),
        account: z.string().nullable(),
      }).optional(),
      guard: z.looseObject({
        sent: count,
        dropped: z.array(z.looseObject({ seq: ordinal, reason: text })),
      }),
    }),
  }),
  tools: z.looseObject(base),
  harness: z.looseObject({ ...base, pins: pins.optional(), replaces: replaces.optional() }),
  compaction: z.looseObject({ ...base, pins }),
  fork: z.looseObject(base),
};
