/** The shapes of turns against schemas of a library, on turns with every member and with one of them spoilt. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { EventType } from "../../../src/domain/event.ts";
import { TURN_FORMAT } from "../../../src/domain/turn.ts";
import { EVENT_SHAPES, TURN_SHAPES } from "../../../src/store/read/turn_shapes.ts";
import { ODD, pathsIn, withMember } from "./spoilt.ts";
import { EVENTS, TURNS } from "./turn_schema.ts";
import { test } from "../../support/test.ts";

type Json = Record<string, unknown>;

const SHA = "0123456789abcdef".repeat(4);
const ITEM = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "Hi" }] };
const ERROR = { code: "rate_limit", message: "" };
const USAGE = { input_tokens: 1, cached_tokens: 0, output_tokens: 2 ** 53 - 1, reasoning_tokens: 0 };
const SCOPE = { endpoint: SHA, portless: SHA, account: SHA, key: SHA };
const FINGERPRINT = { provider: "openai", ...SCOPE };
const MODEL = { asked: "gpt-5.6", answered: "gpt-5.6-2026-07-01" };
const PINS = {
  fingerprint: FINGERPRINT,
  model: "gpt-5.6",
  effort: "high",
  summary: "auto",
  instructions: SHA,
  tools: SHA,
  permissions: ["allow write"],
  workspace: "/project",
};
const CHECKPOINT = { turn: 9, seq: 40, to_turn: 5, to_seq: 20, opening_turn: 4 };
const WITHOUT = { endpoint: SHA, model: "m", without: "reasoning.summary" };

/** An event of each kind with every member. */
const WHOLE_EVENTS: Readonly<Record<EventType, Json>> = {
  user_message: { content: [ITEM, { type: "input_text" }] },
  attachment: { name: "a.png", media_type: "image/png", blob: { sha256: SHA, bytes: 3 } },
  assistant_message: { item: ITEM },
  reasoning: { item: { type: "reasoning", encrypted_content: "gAAA" } },
  tool_call: { item: { type: "tool_use", id: "call_1" } },
  tool_result: {
    ...{ call_id: "call_1", call_seq: 3, tool: "shell", status: "ok", output: "" },
    blob: { sha256: SHA, bytes: 0, lossy: true },
  },
  provider_item: { item: { type: "web_search_call" } },
  provider_usage: { usage: { input_tokens: 1.5 } },
  permission_decision: {
    ...{ call_id: "call_1", call_seq: 3, tool: "shell", decision: "denied", reason: "rule", rule: "shell" },
  },
  replay_notice: {
    reason: "quarantined",
    items: [{ seq: 2, action: "stripped", field: "encrypted_content" }],
    scope: SCOPE,
    member: { item_type: "reasoning", field: "id" },
    error: ERROR,
  },
  endpoint_notice: { ...WITHOUT, error: ERROR },
  history_compaction: {
    ...{ to_seq: 20, to_turn: 5, previous_checkpoint: 3, opening_turn: 4, strategy: "model", summary: "" },
    limitations: ["no images"],
    dropped: { reasoning: 3 },
    endpoint_notices: [WITHOUT],
    accounts: [{ provider: "openai", endpoint: SHA, account: SHA, key: SHA }],
    run_usage: USAGE,
    verification: { checked: true },
    request: { body_sha256: SHA },
  },
  result_elided: { result_seq: 5, kept: "head … tail" },
  compaction_withdrawn: { checkpoint: 6, restored: CHECKPOINT },
  items_omitted: { seqs: [5], part: 2, reason: "user_request" },
  omission_withdrawn: { omission: 6 },
  session_fork: { parent: "p", to_seq: 5, to_turn: 2, sum: SHA, lineage: ["p", "q"] },
  branch_summary: { session: "s", from_seq: 1, to_seq: 5, summary: "" },
  turn_replaced: {},
  blob_lost: { sha256: SHA },
  session_renamed: { title: "Fix the build" },
  run_continued: { run: 2 },
  run_ended: { run: 1, state: "failed", exit_code: 10, usage: USAGE, error: ERROR },
};

const BASE = {
  ...{ format: TURN_FORMAT, session: "s", turn: 1, run: 1, seq: [1, 2], prev: SHA, sum: SHA },
  at: "2026-11-21T20:18:00.000Z",
  redacted: { replaced: 1, sum: SHA },
  events: [{ seq: 1, type: "run_continued", run: 1 }],
};

/** A turn of each kind with every member. */
const WHOLE_TURNS: Readonly<Record<keyof typeof TURNS, Json>> = {
  user: { ...BASE, pins: PINS },
  model: {
    ...BASE,
    model: MODEL,
    fingerprint: FINGERPRINT,
    response: { id: "resp_1", status: "completed" },
    request: {
      body_sha256: SHA,
      fold: 1,
      fields: { stream: true },
      replay: { mode: "exact", window: 3, account: SHA },
      guard: { sent: 2, dropped: [{ seq: 1, reason: "window" }] },
    },
  },
  tools: BASE,
  harness: { ...BASE, pins: PINS, replaces: { sum: SHA, seq: [1, 2], reason: "bad_sum" } },
  compaction: { ...BASE, pins: PINS },
  fork: BASE,
};

const CASES = [
  ...Object.entries(WHOLE_TURNS).map(([kind, whole]) => {
    const name = kind as keyof typeof TURNS;
    return { kind, whole, shape: TURN_SHAPES[name], schema: TURNS[name] };
  }),
  ...Object.entries(WHOLE_EVENTS).map(([kind, whole]) => {
    const name = kind as EventType;
    return { kind, whole, shape: EVENT_SHAPES[name], schema: EVENTS[name] };
  }),
];

for (const { kind, whole, shape, schema } of CASES) {
  test.long(`the shape and the schema judge alike: ${kind}`, () => {
    assert.equal(shape(whole), null);
    assert.ok(schema.safeParse(whole).success);
    const paths = pathsIn(whole);
    const judged = (value: unknown) => {
      const mismatch = shape(value);
      const { success, error } = schema.safeParse(value);
      assert.equal(mismatch === null, success, JSON.stringify(value));
      // The library names no place for a union.
      if (mismatch === null || kind === "tool_call") return;
      assert.ok(
        error?.issues.some(({ path }) => path.join() === mismatch.path.join()),
        JSON.stringify(value),
      );
    };
    if (paths.length > 0) {
      fc.assert(
        fc.property(fc.constantFrom(...paths), ODD, (path, value) => judged(withMember(whole, path, value))),
        { numRuns: 40 * paths.length, seed: 5 },
      );
    }
    fc.assert(fc.property(ODD, judged), { numRuns: 300, seed: 6 });
  });
}
