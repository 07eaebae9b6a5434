/** The short way through the shapes of turns: it accepts nothing that the shapes refuse. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type EventType, isKnownEventType } from "../../../src/domain/event.ts";
import { type Turn, TURN_FORMAT } from "../../../src/domain/turn.ts";
import { EVENT_SHAPES, TURN_SHAPES } from "../../../src/store/read/turn_shapes.ts";
import { isUsualTurn } from "../../../src/store/read/usual_turn.ts";
import { ODD, pathsIn, withMember } from "./spoilt.ts";
import { test } from "../../support/test.ts";

type Json = Record<string, unknown>;

const SHA = "0123456789abcdef".repeat(4);
const FINGERPRINT = { provider: "openai", endpoint: SHA, portless: SHA, account: SHA, key: SHA };
const PINS = {
  ...{ fingerprint: FINGERPRINT, model: "gpt-5.6", effort: "high", summary: "auto" },
  ...{ instructions: SHA, tools: SHA, permissions: ["allow write"], workspace: "/project" },
};
const USAGE = { input_tokens: 1, cached_tokens: 0, output_tokens: 2, reasoning_tokens: 0 };

/** Members of the events that runs write most. */
const EVENTS: Readonly<Partial<Record<EventType, Json>>> = {
  user_message: { content: [{ type: "input_text", text: "Hi" }] },
  assistant_message: { item: { type: "message" } },
  reasoning: { item: { type: "reasoning" } },
  provider_item: { item: { type: "web_search_call" } },
  tool_call: { item: { type: "function_call", call_id: "call_1" } },
  tool_result: { call_id: "call_1", call_seq: 3, tool: "shell", status: "ok", output: "" },
  provider_usage: { usage: { input_tokens: 1.5 } },
  run_ended: { run: 1, state: "completed", exit_code: 0, usage: USAGE },
};

const BASE = {
  ...{ format: TURN_FORMAT, session: "s", turn: 1, run: 1, seq: [1, 8], prev: SHA, sum: SHA },
  at: "2026-11-21T20:18:00.000Z",
  events: Object.entries(EVENTS).map(([type, event], index) => ({ seq: index + 1, type, ...event })),
};

const TURNS: readonly Json[] = [
  { kind: "user", ...BASE, pins: PINS },
  {
    kind: "model",
    ...BASE,
    model: { asked: "gpt-5.6", answered: "gpt-5.6-2026-07-01" },
    fingerprint: FINGERPRINT,
    response: { id: "resp_1", status: "completed" },
    request: {
      ...{ body_sha256: SHA, fold: 1, fields: { stream: true } },
      replay: { mode: "exact", window: 3, account: SHA },
      guard: { sent: 2, dropped: [] },
    },
  },
  { kind: "tools", ...BASE },
  { kind: "harness", ...BASE, prev: null },
];

function isAccepted(turn: Json): boolean {
  const shape = TURN_SHAPES[turn.kind as Turn["kind"]];
  return shape(turn) === null &&
    (turn.events as { readonly type: string }[]).every((event) =>
      isKnownEventType(event.type) && EVENT_SHAPES[event.type](event) === null
    );
}

for (const turn of TURNS) {
  test.long(`a usual turn takes the short way, and no turn that the shapes refuse: ${turn.kind}`, () => {
    assert.ok(isUsualTurn(turn as never));
    assert.ok(isAccepted(turn));
    const paths = [...pathsIn(turn), ["redacted"], ["replaces"], ["pins"], ["events", "7", "error"], [
      "events",
      "5",
      "blob",
    ]];
    fc.assert(
      fc.property(fc.constantFrom(...paths), ODD, (path, value) => {
        const spoilt = withMember(turn, path, value);
        if (isUsualTurn(spoilt as never)) assert.ok(isAccepted(spoilt), path.join("."));
      }),
      { numRuns: 60 * paths.length, seed: 7 },
    );
  });
}
