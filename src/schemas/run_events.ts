/** The lines of `run --json`. */
import * as z from "zod";
import { FOLD_REPAIRS } from "../domain/folded.ts";
import { RUN_STATES } from "../domain/session_states.ts";
import type { ErrorCode } from "../domain/errors.ts";
import type { Omission, ReplayAction, ReplayNoticeEvent, ToolResultStatus } from "../domain/event.ts";
import type { DropReason } from "../domain/turn.ts";
import {
  anyJson,
  cost,
  countType,
  error,
  exitCode,
  known,
  ordinalType,
  type Printed,
  range,
  requestUsage,
  runUsage,
  sha256Type,
  textType,
  typed,
} from "./parts.ts";
import { item } from "./turns.ts";

const notice = <Kind extends string, Shape extends z.core.$ZodLooseShape>(kind: Kind, shape: Shape) =>
  typed("notice", { kind: z.literal(kind), ...shape });

const retried = z.object({
  reason: known<ReplayNoticeEvent["reason"] | `${Omission}_refused`>(),
  items: z.array(z.object({
    seq: ordinalType,
    action: known<ReplayAction["action"] | "as_text">(),
    field: textType.exactOptional(),
  })),
});
/** Parts that a retry left out of a refused request. */
export type ReportedRetry = Printed<typeof retried>;

const notices = [
  notice("replay_dropped", {
    items: z.array(z.object({ seq: ordinalType, reason: known<DropReason>() })),
  }),
  notice("replay_stripped", {
    ...retried.shape,
    message: textType,
    hint: textType.describe("command that shows the decision"),
  }),
  notice("orphan_repaired", { call_ids: z.array(textType) }),
  typed("notice", { kind: z.enum(FOLD_REPAIRS), seq: ordinalType, call_id: textType }),
  notice("schema_mismatch", {
    errors: z.array(textType),
    corrected: z.boolean().describe("true if the model gets another try"),
  }),
  notice("run_closed", { run: ordinalType }),
  notice("compacted", {
    turn: ordinalType,
    to_seq: countType.describe(
      "the checkpoint replaces all events up to it; 0 if only results were shortened",
    ),
    tokens_before: countType.describe("estimate of the history that is sent"),
    tokens_after: countType,
    out_of_reach: z.boolean().describe("no checkpoint brings the requests under the limit").exactOptional(),
  }),
  notice("retry", { attempt: ordinalType, delay_ms: z.number(), code: textType, message: textType }),
  notice("stream", { message: textType }),
  notice("transport", { message: textType }),
  notice("matched", {
    request: ordinalType,
    exchange: ordinalType,
    tier: z.enum(["rules", "conversation"]),
    rules: z.array(textType),
  }),
  notice("match_warning", { request: ordinalType, rule: textType, message: textType }),
  notice("instructions_lost", { message: textType }),
  notice("recorded", {
    path: textType,
    exchanges: countType,
    calls: countType,
    secrets: countType,
    tested: z.boolean().describe("a replay had the same outcome and the same requests"),
    untested: textType.describe("why it was not tested, such as the first difference").exactOptional(),
    left_alone: z.array(z.object({ name: textType, files: z.array(textType) }))
      .describe("secrets that are ordinary words, and the files in which they were left").exactOptional(),
  }),
  notice("not_recorded", { path: textType, code: known<ErrorCode>(), message: textType }),
  notice("keys_replaced", {
    call_id: textType,
    name: textType,
    keys: z.array(textType).describe("variables whose values were in the output of the call"),
  }),
  notice("turn_set_aside", { turn: ordinalType, message: textType }),
];

const call = { seq: ordinalType, call_id: textType, name: textType };

const deniedCall = z.object({
  tool: textType,
  call_id: textType,
  target: textType.nullable().describe("command line, or path in the workspace"),
  reason: textType.describe("as in the decision on disk, such as not_allowed"),
  rule: textType.nullable().describe("the rule that denied the call"),
  allow: textType.nullable().describe("value of --allow that would allow the call"),
});
export type DeniedCall = Printed<typeof deniedCall>;

const runEnded = typed("run.ended", {
  state: z.enum(RUN_STATES),
  exit_code: exitCode,
  session: textType,
  run: ordinalType,
  turns: range.describe("first and last turn of this run"),
  text: textType.describe("the answer; empty if there is none"),
  denials: countType,
  denied: z.array(deniedCall),
  usage: runUsage,
  cost_usd: cost,
  reason: z.literal("schema_mismatch").exactOptional(),
  resume: textType.describe("the command that continues the session"),
});
/** The last line of `run --json`, exactly once. */
export type RunEnded = Printed<typeof runEnded>;

const pinChange = z.object({
  pin: known<Pin>(),
  before: anyJson,
  now: anyJson,
  effect: textType.describe("on the replay of reasoning and on the prompt cache"),
});
export type PinChange = Printed<typeof pinChange>;
type Pin =
  | "provider"
  | "endpoint"
  | "model"
  | "effort"
  | "summary"
  | "instructions"
  | "tools"
  | "permissions"
  | "workspace";

export const runEvent = z.union([
  typed("session", { id: textType, path: textType, new: z.boolean() }),
  typed("run.started", {
    run: ordinalType,
    continues: z.boolean(),
    model: textType,
    provider: textType,
    config_rules: z.array(textType).describe("permissions that config.json gives"),
    drift: z.array(pinChange).describe("pins that differ from the previous run"),
  }),
  typed("request", {
    step: ordinalType,
    items: countType,
    reasoning_sent: countType,
    reasoning_dropped: countType,
    fingerprint: textType.describe("such as openai:gpt-5.6:1f3a9c02"),
    again: z.literal(true).describe("repeats a refused request without its refused part").exactOptional(),
  }),
  typed("text.delta", { delta: textType, phase: textType.exactOptional() }),
  typed("reasoning.delta", { delta: textType.describe("of the summary") }),
  typed("item", { item }),
  typed("turn.saved", {
    turn: ordinalType,
    kind: textType,
    seq: range.describe("first and last event of the turn"),
    sum: sha256Type,
    remote: z.literal("stored").describe("only with a remote: it has the turn")
      .exactOptional(),
  }),
  typed("tool.started", { ...call, arguments: textType }),
  typed("tool.output", {
    ...call,
    text: textType.describe("output while the tool runs, or its result if there was none"),
    truncated: z.literal(true).describe("no more output of this call is reported").exactOptional(),
  }),
  typed("tool.finished", {
    ...call,
    status: known<ToolResultStatus>().describe("ok, error, denied, …"),
    output_chars: countType,
  }),
  requestUsage.extend({ type: z.literal("usage"), step: ordinalType }),
  ...notices,
  error,
  runEnded,
]);
export type RunEvent = Printed<typeof runEvent>;

/** A reported fact that is not a failure. */
export type Notice = WithoutType<Extract<RunEvent, { type: "notice" }>>;
type WithoutType<T> = T extends unknown ? Omit<T, "type"> : never;
