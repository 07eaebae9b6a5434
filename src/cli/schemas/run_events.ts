/** The lines of `run --json`. */
import * as z from "zod";
import {
  anyJson,
  cost,
  count,
  error,
  exitCode,
  ordinal,
  range,
  requestUsage,
  runUsage,
  sha256,
  text,
} from "./parts.ts";
import { item } from "./turns.ts";

const notice = <Kind extends string, Shape extends z.core.$ZodLooseShape>(kind: Kind, shape: Shape) =>
  z.object({ type: z.literal("notice"), kind: z.literal(kind), ...shape });

const FOLD_REPAIRS = [
  "orphan_answered",
  "call_id_renamed",
  "result_without_call",
  "duplicate_result",
  "result_elided",
  "content_omitted",
  "call_as_text",
] as const;

const notices = [
  notice("replay_dropped", { items: z.array(z.object({ seq: ordinal, reason: text })) }),
  notice("replay_stripped", {
    reason: text,
    items: z.array(z.object({ seq: ordinal, action: text, field: text.exactOptional() })),
    message: text,
    hint: text,
  }),
  notice("orphan_repaired", { call_ids: z.array(text) }),
  z.object({ type: z.literal("notice"), kind: z.enum(FOLD_REPAIRS), seq: ordinal, call_id: text }),
  notice("schema_mismatch", { errors: z.array(text), corrected: z.boolean() }),
  notice("run_closed", { run: ordinal }),
  notice("compacted", {
    turn: ordinal,
    to_seq: count,
    tokens_before: count,
    tokens_after: count,
    out_of_reach: z.boolean().exactOptional(),
  }),
  notice("retry", { attempt: ordinal, delay_ms: z.number(), code: text, message: text }),
  notice("stream", { message: text }),
  notice("transport", { message: text }),
  notice("matched", {
    request: ordinal,
    exchange: ordinal,
    tier: z.enum(["rules", "conversation"]),
    rules: z.array(text),
  }),
  notice("match_warning", { request: ordinal, rule: text, message: text }),
  notice("instructions_lost", { message: text }),
  notice("recorded", {
    path: text,
    exchanges: count,
    calls: count,
    secrets: count,
    tested: z.boolean(),
    untested: text.exactOptional(),
    left_alone: z.array(z.object({ name: text, files: z.array(text) })).exactOptional(),
  }),
  notice("not_recorded", { path: text, code: text, message: text }),
  notice("keys_replaced", {
    call_id: text,
    name: text,
    keys: z.array(text).describe("variables whose values were in the output of the call"),
  }),
  notice("turn_set_aside", { turn: ordinal, message: text }),
];

const call = { seq: ordinal, call_id: text, name: text };

const runEnded = z.object({
  type: z.literal("run.ended"),
  state: z.enum([
    ...["completed", "incomplete", "refused", "failed", "interrupted", "timed_out"] as const,
    ...["over_budget", "diverged"] as const,
  ]),
  exit_code: exitCode,
  session: text,
  run: ordinal,
  turns: range.describe("first and last turn of this run"),
  text: text.describe("the answer; empty if there is none"),
  denials: count,
  denied: z.array(z.object({
    tool: text,
    call_id: text,
    target: text.nullable().describe("command line, or path in the workspace"),
    reason: text,
    rule: text.nullable().describe("the rule that denied the call"),
    allow: text.nullable().describe("value of --allow that would allow the call"),
  })),
  usage: runUsage,
  cost_usd: cost,
  reason: z.literal("schema_mismatch").exactOptional(),
  resume: text.describe("the command that continues the session"),
});

/** One line of `run --json`. */
export const runEvent = z.union([
  z.object({ type: z.literal("session"), id: text, path: text, new: z.boolean() }),
  z.object({
    type: z.literal("run.started"),
    run: ordinal,
    continues: z.boolean(),
    model: text,
    provider: text,
    config_rules: z.array(text).describe("permissions that config.json gives"),
    drift: z.array(z.object({ pin: text, before: anyJson, now: anyJson, effect: text })),
  }),
  z.object({
    type: z.literal("request"),
    step: ordinal,
    items: count,
    reasoning_sent: count,
    reasoning_dropped: count,
    fingerprint: text.describe("such as openai:gpt-5.6:1f3a9c02"),
    again: z.literal(true).describe("repeats a refused request without its refused part").exactOptional(),
  }),
  z.object({ type: z.literal("text.delta"), delta: text, phase: text.exactOptional() }),
  z.object({ type: z.literal("reasoning.delta"), delta: text.describe("of the summary") }),
  z.object({ type: z.literal("item"), item }),
  z.object({
    type: z.literal("turn.saved"),
    turn: ordinal,
    kind: text,
    seq: range.describe("first and last event of the turn"),
    sum: sha256,
    remote: z.literal("stored").describe("only with a remote: it has the turn")
      .exactOptional(),
  }),
  z.object({ type: z.literal("tool.started"), ...call, arguments: text }),
  z.object({
    type: z.literal("tool.output"),
    ...call,
    text: text.describe("output while the tool runs, or its result if there was none"),
    truncated: z.literal(true).describe("no more output of this call is reported").exactOptional(),
  }),
  z.object({
    type: z.literal("tool.finished"),
    ...call,
    status: text.describe("ok, error, denied, …"),
    output_chars: count,
  }),
  requestUsage.extend({ type: z.literal("usage"), step: ordinal }),
  ...notices,
  error,
  runEnded,
]);
