/** The shapes of turns, events and manifests, on values with every member and with one of them spoilt. */
import assert from "node:assert/strict";
import type { EventType } from "../../../src/domain/event.ts";
import { TURN_FORMAT } from "../../../src/domain/turn.ts";
import type { Shape } from "../../../src/domain/shape.ts";
import { EVENT_SHAPES, TURN_SHAPES } from "../../../src/store/read/turn_shapes.ts";
import { isManifest } from "../../../src/store/read/manifest.ts";

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
const WHOLE_TURNS: Readonly<Record<keyof typeof TURN_SHAPES, Json>> = {
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

/** A manifest with every member. */
const WHOLE_MANIFEST = {
  ...{ format: "reprise.manifest/1", session: "s", family: "s", parent: "p", title: "Fix it" },
  created_at: BASE.at,
  updated_at: BASE.at,
  head: { turn: 1, seq: 1, sum: SHA },
  ...{ run: 1, state: "open", pins: PINS, usage: USAGE, checkpoint: CHECKPOINT },
  bytes: { turns: 2048, blobs: 0 },
};

/** Every path to a member of a value. */
function pathsIn(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    return [[...at, name], ...pathsIn(member, [...at, name])];
  });
}

/** Returns a copy of `whole` with another member at `path`; without it if `value` is `undefined`. */
function withMember(whole: Json, path: readonly string[], value: unknown): Json {
  const copy = structuredClone(whole);
  const holder = path.slice(0, -1).reduce<Json>((within, name) => within[name] as Json, copy);
  const last = path.at(-1) as string;
  if (value === undefined && !Array.isArray(holder)) delete holder[last];
  else holder[last] = value ?? null;
  return copy;
}

/** Values that replace a member, by the word that the table below has for a shape that takes them. */
function spoilt(value: unknown): Readonly<Record<string, unknown>> {
  const other = typeof value === "string" ? 7 : "7";
  const number = typeof value === "number" ? { zero: 0, fraction: 1.5, negative: -1 } : {};
  const text = typeof value === "string" ? { empty: "" } : {};
  const list = Array.isArray(value) ? { none: [] } : {};
  const hash = value === SHA ? { shouted: SHA.toUpperCase() } : {};
  return { absent: undefined, null: null, other, ...number, ...text, ...list, ...hash };
}

/** The spoilt members that a shape takes, a line for each place. Below a place with any content none is listed. */
function taken(whole: Json, shape: Shape): string[] {
  const open: string[] = [];
  return pathsIn(whole).flatMap((path) => {
    const place = path.join(".");
    if (open.some((above) => place.startsWith(`${above}.`))) return [];
    const value = path.reduce<unknown>((within, name) => (within as Json)[name], whole);
    const words = Object.entries(spoilt(value)).filter(([, value]) => {
      const mismatch = shape(withMember(whole, path, value));
      // The second form of a call has other members, and a manifest is only refused.
      const at = mismatch?.path.join(".") ?? "";
      assert.ok(["", place, "item.call_id"].includes(at), `${place}: ${at}`);
      return mismatch === null;
    }).map(([word]) => word);
    if (words.includes("other")) open.push(place);
    return words.length === 0 ? [] : [`${place}: ${words.includes("other") ? "any" : words.join(" ")}`];
  });
}

const manifestShape: Shape = (value) => isManifest(value) ? null : { path: [], expected: "a manifest" };

const BASE_TAKEN = ["prev: null", "redacted: absent", "redacted.replaced: zero", "events.0.run: any"];
const PINS_TAKEN = [
  "pins.fingerprint.endpoint: shouted",
  "pins.fingerprint.portless: absent shouted",
  "pins.fingerprint.account: null shouted",
  "pins.fingerprint.key: absent shouted",
  "pins.effort: absent empty",
  "pins.summary: absent empty",
  "pins.permissions: none",
];
const USAGE_TAKEN = [
  "usage.input_tokens: zero",
  "usage.cached_tokens: zero",
  "usage.output_tokens: zero",
  "usage.reasoning_tokens: zero",
];

/** The spoilt members that docs/format.md allows. All others are damage. */
const TURNS_TAKEN: Readonly<Record<keyof typeof TURN_SHAPES, readonly string[]>> = {
  user: [...BASE_TAKEN, ...PINS_TAKEN],
  model: [
    ...BASE_TAKEN,
    "model.answered: null empty",
    "fingerprint.endpoint: shouted",
    "fingerprint.portless: absent shouted",
    "fingerprint.account: null shouted",
    "fingerprint.key: absent shouted",
    "response.id: null empty",
    "request.fields.stream: any",
    "request.replay: absent",
    "request.replay.window: null zero",
    "request.replay.account: null empty shouted",
    "request.guard.sent: zero",
    "request.guard.dropped: none",
  ],
  tools: [...BASE_TAKEN],
  harness: [...BASE_TAKEN, "pins: absent", ...PINS_TAKEN, "replaces: absent", "replaces.sum: null"],
  compaction: [...BASE_TAKEN, ...PINS_TAKEN],
  fork: [...BASE_TAKEN],
};
const EVENTS_TAKEN: Readonly<Partial<Record<EventType, readonly string[]>>> = {
  user_message: ["content: none", "content.0.id: any", "content.0.content: any"],
  attachment: ["blob.bytes: zero"],
  assistant_message: ["item.id: any", "item.content: any"],
  reasoning: ["item.encrypted_content: any"],
  tool_result: [
    "call_id: empty",
    "tool: empty",
    "output: empty",
    "blob: absent",
    "blob.bytes: zero",
    "blob.lossy: absent",
  ],
  provider_usage: ["usage.input_tokens: any"],
  permission_decision: ["call_id: empty", "tool: empty", "rule: absent empty"],
  replay_notice: [
    "items: none",
    "items.0.field: absent empty",
    "scope: absent",
    "scope.endpoint: shouted",
    "scope.portless: absent shouted",
    "scope.account: null shouted",
    "scope.key: absent shouted",
    "member: absent",
    "error: absent",
    "error.message: empty",
  ],
  endpoint_notice: ["endpoint: shouted", "error: absent", "error.message: empty"],
  history_compaction: [
    "previous_checkpoint: null",
    "opening_turn: null",
    "summary: empty",
    "limitations: none",
    "limitations.0: empty",
    "dropped: absent",
    "dropped.reasoning: absent zero",
    "endpoint_notices: absent none",
    "endpoint_notices.0.endpoint: shouted",
    "accounts: absent none",
    "accounts.0.endpoint: shouted",
    "accounts.0.account: shouted",
    "accounts.0.key: shouted",
    "run_usage: absent",
    "run_usage.input_tokens: zero",
    "run_usage.cached_tokens: zero",
    "run_usage.output_tokens: zero",
    "run_usage.reasoning_tokens: zero",
    "verification: absent",
    "verification.checked: any",
    "request: absent",
    "request.body_sha256: any",
  ],
  result_elided: ["kept: empty"],
  compaction_withdrawn: ["restored: null", "restored.opening_turn: null"],
  items_omitted: ["part: absent"],
  branch_summary: ["summary: empty"],
  run_ended: ["exit_code: zero", ...USAGE_TAKEN, "error: absent", "error.message: empty"],
};
const MANIFEST_TAKEN = [
  "parent: absent",
  "title: empty",
  ...PINS_TAKEN,
  ...USAGE_TAKEN,
  "checkpoint: null",
  "checkpoint.opening_turn: null",
  "bytes: absent",
  "bytes.turns: zero",
  "bytes.blobs: zero",
];

function requireTaken(whole: Json, shape: Shape, expected: readonly string[]): void {
  assert.equal(shape(whole), null);
  assert.equal(shape({ ...whole, later: null }), null, "members of later versions are kept");
  for (const value of [null, [], [whole], "", 7]) assert.notEqual(shape(value), null);
  assert.deepEqual(taken(whole, shape), expected);
}

for (const [kind, whole] of Object.entries(WHOLE_TURNS) as [keyof typeof TURN_SHAPES, Json][]) {
  Deno.test(`a turn is damaged by each spoilt member, but for a few: ${kind}`, () => {
    requireTaken(whole, TURN_SHAPES[kind], TURNS_TAKEN[kind]);
  });
}

for (const [kind, whole] of Object.entries(WHOLE_EVENTS) as [EventType, Json][]) {
  Deno.test(`an event is damaged by each spoilt member, but for a few: ${kind}`, () => {
    requireTaken(whole, EVENT_SHAPES[kind], EVENTS_TAKEN[kind] ?? []);
  });
}

Deno.test("a manifest is garbled by each spoilt member, but for a few", () => {
  requireTaken(WHOLE_MANIFEST, manifestShape, MANIFEST_TAKEN);
});
