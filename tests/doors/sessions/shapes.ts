/**
 * The shapes of turns, events and manifests, as docs/format.md has them: samples with every member. A name that ends
 * with `?` may be absent, one with `~` may be null, and one with `!` has a closed set of values.
 */
import type { Json } from "../../support/files.ts";
import { PINS } from "./session_files.ts";

const SHA = "0123456789abcdef".repeat(4);
const ITEM = { type: "message" };
const FROM_DELTAS = { "from_deltas?!": true };
const BLOB = { sha256: SHA, bytes: 0, "lossy?!": true };
const USAGE = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
const CALL = { call_id: "call_1", call_seq: 3, tool: "shell" };
const SCOPE = { endpoint: "d9617135", "portless?": "x", "account~": "x", "key?": "x" };
const ORIGIN = { provider: "openai", ...SCOPE };
const ERROR = { "error?": { code: "rate_limit", message: "Wait" } };
const CHECKPOINT = { turn: 9, seq: 40, to_turn: 5, to_seq: 20, "opening_turn~": 4 };
const NOTICE = { endpoint: "x", model: "m", without: "include" };
const PINNED = { ...PINS, fingerprint: ORIGIN, "effort?": "high", "summary?": "auto" };

/** Events with every member, by type. */
export const EVENTS: Record<string, Json> = {
  user_message: { content: [ITEM] },
  attachment: { name: "a.png", media_type: "image/png", blob: BLOB },
  assistant_message: { item: ITEM, ...FROM_DELTAS },
  reasoning: { item: ITEM, ...FROM_DELTAS },
  tool_call: { item: { type: "function_call", call_id: "call_1" }, ...FROM_DELTAS },
  tool_result: { ...CALL, status: "ok", output: "", "blob?": BLOB },
  provider_item: { item: ITEM, ...FROM_DELTAS },
  provider_usage: { usage: {} },
  permission_decision: { ...CALL, "decision!": "denied", reason: "rule", "rule?": "shell" },
  replay_notice: {
    reason: "reasoning_refused",
    items: [{ seq: 2, "action!": "stripped", "field?": "id" }],
    "scope?": SCOPE,
    "member?": { item_type: "reasoning", field: "id" },
    ...ERROR,
  },
  calls_as_text: { call_seqs: [3], ...ERROR },
  endpoint_notice: { ...NOTICE, ...ERROR },
  history_compaction: {
    ...{ to_seq: 1, to_turn: 1, "previous_checkpoint~": 3, "opening_turn~": 1, "strategy!": "model" },
    ...{
      summary: "x",
      limitations: ["none"],
      "dropped?": { "reasoning?": 0 },
      "endpoint_notices?": [NOTICE],
    },
    "run_usage?": USAGE,
    "accounts?": [{ provider: "openai", endpoint: "x", account: "x", key: "x" }],
    ...{ "verification?": {}, "request?": {} },
  },
  result_elided: { result_seq: 5, kept: "head" },
  compaction_withdrawn: { checkpoint: 6, "restored~": CHECKPOINT },
  items_omitted: { seqs: [5], "part?": 2, reason: "user_request" },
  omission_withdrawn: { omission: 6 },
  session_fork: { parent: "p", to_seq: 5, to_turn: 2, sum: SHA, lineage: ["p"] },
  branch_summary: { session: "s", from_seq: 1, to_seq: 5, summary: "x" },
  blob_lost: { sha256: SHA },
  session_renamed: { title: "Fix the build" },
  run_continued: { run: 2 },
  run_ended: { run: 1, state: "failed", exit_code: 0, usage: USAGE, ...ERROR },
};

const BASE = {
  ...{ session: "fix-ci-7k2m", run: 1, seq: [2, 3], "prev~": SHA, at: "2026-11-21T20:18:02.000Z" },
  "redacted?": { replaced: 0, sum: SHA },
};

/** Turns with every member but their events, by kind. */
export const TURNS: Record<string, Json> = {
  user: { ...BASE, pins: PINNED },
  model: {
    ...BASE,
    model: { asked: "m", "answered~": "m-1" },
    fingerprint: ORIGIN,
    response: { "id~": "resp_1", status: "completed" },
    request: {
      ...{ body_sha256: SHA, fold: 1, fields: {} },
      "replay?": { mode: "exact", "window~": 0, "account~": "x" },
      guard: { sent: 0, dropped: [{ seq: 1, reason: "window" }] },
    },
  },
  tools: BASE,
  harness: { ...BASE, "pins?": PINNED, "replaces?": { "sum~": SHA, seq: [2, 3], reason: "bad_sum" } },
  compaction: { ...BASE, pins: PINNED },
  fork: BASE,
};

/** Members of a manifest. */
export const MANIFEST = {
  ...{ "parent?": "p", title: "x", family: "f", head: { turn: 1, seq: 1, sum: SHA }, run: 1, state: "open" },
  created_at: "2026-11-21T20:18:01.000Z",
  updated_at: "2026-11-21T20:18:01.000Z",
  ...{ pins: PINNED, usage: USAGE, "checkpoint~": CHECKPOINT, "bytes?": { turns: 0, blobs: 0 } },
};

/** A value of a shape, and whether a reader takes it. */
export interface Variant {
  readonly what: string;
  readonly value: Json;
  readonly ok: boolean;
}

/** The whole value, and each value in which one member is absent or another. */
export function variantsOf(shape: Json): Variant[] {
  return [{ what: "whole", value: whole(shape), ok: true }, ...changed(shape)];
}

const nameOf = (key: string) => key.replace(/[?~!]+$/, "");

/** The sample without the marks of its names. */
function whole(shape: Json): Json {
  if (Array.isArray(shape)) return shape.map(whole);
  if (typeof shape !== "object" || shape === null) return shape;
  return Object.fromEntries(Object.entries(shape).map(([key, value]) => [nameOf(key), whole(value)]));
}

function changed(shape: Json): Variant[] {
  const plain = whole(shape);
  if (Array.isArray(shape)) {
    return changed(shape[0]).map(({ what, value, ok }) => ({
      what: `0.${what}`,
      value: [value, ...plain.slice(1)],
      ok,
    }));
  }
  if (typeof shape !== "object" || shape === null) return [];
  return Object.entries(shape).flatMap(([key, value]): Variant[] => {
    const name = nameOf(key);
    const { [name]: _, ...without } = plain;
    const others = [
      ...wrongFor(value).map((other) => ({
        what: `${name} ${JSON.stringify(other)}`,
        value: other,
        ok: false,
      })),
      { what: `${name} null`, value: null, ok: key.includes("~") },
      ...key.includes("!") ? [{ what: `${name} other`, value: "other", ok: false }] : [],
      ...changed(value).map(({ what, ...rest }) => ({ what: `${name}.${what}`, ...rest })),
    ];
    return [
      { what: `without ${name}`, value: without, ok: key.includes("?") },
      ...others.map(({ value, ...rest }) => ({ ...rest, value: { ...plain, [name]: value } })),
    ];
  });
}

/** Values of other types than a sample. */
function wrongFor(sample: Json): Json[] {
  if (typeof sample === "number") return sample === 0 ? ["1", -1, 1.5] : ["1", 0, -1, 1.5];
  if (typeof sample !== "string") return [7, Array.isArray(sample) ? {} : []];
  if (sample === SHA || sample.length === 64) return [7, "x", SHA.toUpperCase()];
  return /^\d{4}-/.test(sample) ? [7, "2026-11-21T20:18:02Z"] : [7];
}
