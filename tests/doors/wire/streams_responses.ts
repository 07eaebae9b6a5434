/** Streams of the Responses API, each with what a run leaves of it. */
import type { Json } from "../../support/files.ts";
import {
  added,
  ALL,
  CALL,
  completed,
  created,
  done,
  each,
  incomplete,
  itemsIn,
  limit,
  MESSAGE,
  only,
  OTHER,
  REASONING,
  STRANGE,
  summary,
  text,
  WHOLE,
} from "./responses_events.ts";
import type { StreamRow, StreamRows } from "./streams.ts";

let count = 0;
const NAMELESS = { type: "message", role: "assistant", content: MESSAGE.content };
/** A terminal event that lists items once more, in another way. */
const again = (sent: readonly Json[], listed: readonly Json[]): StreamRow => ({
  events: [...sent.map((item, index) => done(index, item)), completed({ output: listed })],
  ...{ items: sent, notices: [] },
});
const quota = { code: "insufficient_quota", message: "You exceeded your current quota." };
const failed = { type: "response.failed", response: { id: "resp_9", status: "failed", error: quota } };
const changed = [{ id: "rs_7", type: "reasoning", action: "removed", reason: "model_mismatch" }];
const aliased = (type: string, output_index: number, output_item: Json) => ({
  ...{ type: `response.output_item.${type}`, output_index, output_item },
});

const ROTATED = each("id", (id) => `${id}-${count++}`).map((event) => ({ ...event, item_id: `x${count++}` }));

/** Streams of other servers with the same items, text and end. */
const PECULIAR: Readonly<Record<string, readonly Json[]>> = {
  "as OpenAI sends it": WHOLE,
  "without deltas": only(/(?<!delta)$/),
  "with arguments and reasoning only as done (LM Studio)": only(/^(?!.*(arguments|reasoning_text)\.delta)/),
  "with a content_index that rises with every delta (vLLM)": each("content_index", () => count++),
  "with response.created after the first items": [
    ...WHOLE.slice(1, 6),
    ...WHOLE.slice(0, 1),
    ...WHOLE.slice(6),
  ],
  "without response.created": WHOLE.slice(1),
  "with each event twice": WHOLE.flatMap((event) => [event, event]),
  "of finished items and the end alone": only(/output_item\.done|completed/),
  "of the end alone": WHOLE.slice(-1),
  "whose end lists nothing": each("output", () => []),
  "without positions": each("output_index", () => undefined),
  "with a new id on every event (Copilot)": ROTATED,
  "with bare UUIDs as ids (DeepSeek)": each("id", (id) => id.replace(/.*_/, "84cf774d-60a1-4e20-85e3-")),
  "with ids that are null": each("id", () => null),
  "without ids": each("id", () => undefined),
};

/** See the module. */
export const RESPONSES_STREAMS: StreamRows = {
  ...Object.fromEntries(
    Object.entries(PECULIAR).map(([name, events]): [string, StreamRow] => [
      `a stream ${name} has the same items, text and end`,
      {
        events,
        items: itemsIn(events).length > 0 ? itemsIn(events) : ALL,
        ...{ text: "Hello", reasoning: "One word.", usage: { input_tokens: 3 }, error: null },
      },
    ]),
  ),
  "items are kept verbatim in order, unknown types too": {
    events: [
      ...[created(), done(0, REASONING), done(1, STRANGE), done(2, CALL)],
      completed({ model: "gpt-5.6-2026-08-01", output: [REASONING, STRANGE, CALL] }),
    ],
    items: [REASONING, STRANGE, CALL],
    response: { model: "gpt-5.6-2026-08-01", id: "resp_1", status: "completed" },
    notices: [],
  },
  "an item that only the terminal event lists is added from there": {
    events: [done(1, MESSAGE), completed({ output: [REASONING, MESSAGE] })],
    items: [REASONING, MESSAGE],
    notices: ['stream: Item 0 ("reasoning") came only with the terminal event'],
  },
  "reasoning that is encrypted again is one": again([REASONING, MESSAGE], [{
    ...REASONING,
    encrypted_content: "gB",
  }, MESSAGE]),
  "an item listed at another position is one": again([REASONING, MESSAGE, CALL], [MESSAGE, CALL]),
  "a call listed at another position under a new id is one": again([REASONING, CALL], [{
    ...CALL,
    id: "x2",
  }]),
  "items with the same position are two": {
    events: [done(0, CALL), done(0, OTHER), completed({ output: [CALL, OTHER] })],
    items: [CALL, OTHER],
  },
  "an item that comes twice is kept once": {
    events: [done(0, CALL), done(0, CALL), completed()],
    ...{ items: [CALL], notices: ['stream: Item "function_call" came twice, and was kept once'] },
  },
  "reasoning that ends twice, encrypted again, is kept once": {
    events: [
      done(0, REASONING),
      done(0, { ...REASONING, encrypted_content: "gB" }),
      done(1, MESSAGE),
      completed(),
    ],
    items: [REASONING, MESSAGE],
  },
  "an item without an id that comes twice at its place is kept once": {
    events: [done(0, NAMELESS), done(0, NAMELESS), completed()],
    ...{ items: [NAMELESS], notices: ['stream: Item "message" came twice, and was kept once'] },
  },
  "two calls at one position with different call ids are both kept": {
    events: [done(0, CALL), completed({ output: [{ ...CALL, id: undefined, call_id: "call_9" }] })],
    items: [CALL, { ...CALL, id: undefined, call_id: "call_9" }],
  },
  "text is shown by its deltas, and a refusal is text": {
    events: [
      added(1, { ...MESSAGE, phase: "commentary", content: [] }),
      ...[text(1, "Looking", { item_id: "msg_1" }), text(2, " on")],
      { type: "response.refusal.delta", output_index: 3, delta: "No" },
      done(3, { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No" }] }),
      completed(),
    ],
    ...{ isNamed: true, text: "Looking onNo", error: "refused" },
  },
  "parts of a summary are separated by a blank line": {
    events: [
      ...[summary(0, "First"), summary(0, " part"), summary(1, "Second")],
      ...[done(0, REASONING), done(1, MESSAGE), completed()],
    ],
    reasoning: "First part\n\nSecond",
  },
  "events that a client must tolerate change nothing": {
    events: [
      ...["", { type: "keepalive", sequence_number: 3 }],
      { type: "response.apply_patch_call_operation_diff.delta", output_index: 0, delta: "x" },
      ...[text(0, 17), text(0, undefined), added(0, null), done(0, CALL)],
      ...[completed({ created_at: 1784324967.5, usage: { input_tokens: 3 } }), "[DONE]", done(1, MESSAGE)],
    ],
    ...{ items: [CALL], usage: { input_tokens: 3 } },
  },
  "an incomplete response keeps its reason": {
    events: [done(0, MESSAGE), incomplete("max_output_tokens")],
    ...{
      response: { model: null, id: "r", status: "incomplete", reason: "max_output_tokens" },
      error: "incomplete",
    },
  },
  ...Object.fromEntries(
    ([
      ["nested, then failed", [{ type: "error", error: { ...quota, type: "insufficient_quota" } }, failed]],
      ["nested alone", [{ type: "error", error: quota }]],
      ["flat alone", [{ type: "error", ...quota, param: null, sequence_number: 2 }]],
      ["flat, then failed", [{ type: "error", ...quota }, failed, "[DONE]"]],
      ["without a type", [{ error: quota }]],
      ["completed after it", [{ type: "error", error: quota }, completed({ id: "resp_9" })]],
    ] as const).map(([name, events]) => [
      `an error event is reported once: ${name}`,
      { events: [done(0, CALL), ...events], items: [CALL], error: "quota_exhausted" },
    ]),
  ),
  ...Object.fromEntries(
    ([
      [
        "two error events",
        [{ type: "error", error: quota }, { type: "error", error: limit }],
        "quota_exhausted",
      ],
      [
        "the other way round",
        [{ type: "error", error: limit }, { type: "error", error: quota }],
        "rate_limited",
      ],
      ["another one in response.failed", [{ type: "error", ...limit }, failed], "rate_limited"],
    ] as const).map(([name, events, error]) => [
      `of different errors in one stream the first counts: ${name}`,
      { events: [done(0, CALL), ...events], items: [CALL], error },
    ]),
  ),
  ...Object.fromEntries(
    ([
      [{ code: "rate_limit_exceeded", message: "try again in 1.3s" }, "rate_limited"],
      [{ type: "invalid_request_error", message: "exceeds the context window" }, "context_overflow"],
      [{ type: "timeout_error", message: "no time for the context window" }, "provider_failed"],
      [{ code: "401", message: "x" }, "unauthorized"],
      [{ code: 429, message: "Slow" }, "rate_limited"],
      [{ code: "never_seen", message: "x" }, "provider_failed"],
      ["out of memory", "provider_failed"],
      [{}, "provider_failed"],
    ] as const).map(([error, code]) => [
      `an error is judged by its code, its type and its text: ${JSON.stringify(error)}`,
      { events: [done(0, MESSAGE), { error }], items: [MESSAGE], error: code },
    ]),
  ),
  "a stream without its terminal event is cut, and keeps what it said": {
    events: [created(), done(0, CALL), "[DONE]", '{"type":"response.output_item.do'],
    ...{ items: [CALL], error: "stream_cut" },
  },
  "an event that is no object is a broken stream": {
    events: [done(0, CALL), "[1]", completed()],
    ...{ items: [CALL], error: "bad_stream" },
  },
  "numbers and the order of members stay as they were sent": {
    events: [
      '{"type":"response.completed","response":{"temperature":1.0,"output":[{"type":"brand_new_call","n":1.50,"b":0,"1":0},' +
      JSON.stringify(MESSAGE) + '],"usage":{"input_tokens":1.0,"10":2,"2":3},"id":"r"}}',
    ],
    raw: ['{"type":"brand_new_call","n":1.50,"b":0,"1":0}', '{"input_tokens":1.0,"10":2,"2":3}'],
  },
  "a terminal event of an unknown shape is read as far as it goes": {
    events: [completed({ usage: "many", output: [null, { type: 7 }, CALL] })],
    ...{ items: [CALL], usage: null },
  },
  "the server's report about changed reasoning is kept": {
    events: [done(0, MESSAGE), completed({ input_transformations: changed })],
    raw: [JSON.stringify(changed)],
  },
  "an item that its events call output_item is kept like any other": {
    events: [
      ...[aliased("added", 0, { ...MESSAGE, content: [] }), text(undefined, "Hello", { item_id: "msg_1" })],
      ...[aliased("done", 0, MESSAGE), aliased("done", 1, CALL), completed({ output: [MESSAGE, CALL] })],
    ],
    ...{ items: [MESSAGE, CALL], text: "Hello", notices: [] },
  },
  "response.created names a response whose end does not": {
    events: [created(), done(0, MESSAGE), {
      ...{ type: "response.completed", response: { status: "completed" } },
    }],
    ...{ isNamed: true, response: { model: "m", id: "resp_1", status: "completed" } },
  },
};
