/** Streams of the Messages API, each with what a run leaves of it. */
import type { Json } from "../../support/files.ts";
import type { StreamRows } from "./streams.ts";

const THINKING = { type: "thinking", thinking: "Let me see.", signature: "EqEE" };
const REDACTED = { type: "redacted_thinking", data: "EmwKAhgB" };
const TEXT = { type: "text", text: "Hello" };
const CALL = { type: "tool_use", id: "toolu_1", name: "ls", input: { path: ".", deep: [1, null] } };

const USED = { input_tokens: 10, output_tokens: 1 };

const started = (message: Json = {}): Json => ({
  type: "message_start",
  message: {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5-1", content: [] },
    ...{ stop_reason: null, usage: USED, ...message },
  },
});
const start = (index: number, content_block: Json) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, value: Json) => ({ type: "content_block_delta", index, delta: value });
const said = (text: Json, index = 0) => delta(index, { type: "text_delta", text });
const stop = (index: number) => ({ type: "content_block_stop", index });
const ended = (reason: Json = "end_turn", more = {}): Json[] => [
  { type: "message_delta", delta: { stop_reason: reason, ...more } },
  { type: "message_stop" },
];
/** The events of a block, its text in pieces of three characters. */
function sent(index: number, block: Json): Json[] {
  const pieces = (text: string, toDelta: (piece: string) => Json) =>
    (text.match(/[^]{1,3}/g) ?? []).map((piece) => delta(index, toDelta(piece)));
  if (block.type === "text") {
    const deltas = pieces(block.text, (text) => ({ type: "text_delta", text }));
    return [start(index, { ...block, text: "" }), ...deltas, stop(index)];
  }
  if (block.type === "thinking") {
    const deltas = pieces(block.thinking, (thinking) => ({ type: "thinking_delta", thinking }));
    const signed = delta(index, { type: "signature_delta", signature: block.signature });
    return [start(index, { ...block, thinking: "", signature: "" }), ...deltas, signed, stop(index)];
  }
  if (block.type !== "tool_use") return [start(index, block), stop(index)];
  const deltas = pieces(
    JSON.stringify(block.input),
    (partial_json) => ({ type: "input_json_delta", partial_json }),
  );
  return [start(index, { ...block, input: {} }), ...deltas, stop(index)];
}
/** A call whose input is in its start, in pieces, or in both. */
const calling = (first: Json, ...pieces: readonly string[]): Json[] => [
  started(),
  start(0, { type: "tool_use", id: "toolu_1", name: "ls", ...first === null ? {} : { input: first } }),
  ...pieces.map((partial_json) => delta(0, { type: "input_json_delta", partial_json })),
  ...[stop(0), ...ended("tool_use")],
];
const called = (input: Json) => ({ items: [{ type: "tool_use", id: "toolu_1", name: "ls", input }] });
const EXPLAINED = { category: "cyber", explanation: "No." };
/** A text, then the end of a message. */
const ending = (reason: Json, more = {}) => [started(), ...sent(0, TEXT), ...ended(reason, more)];
const failing = (event: Json) => [started(), ...sent(0, TEXT), event, ...ended()];
const cite = (title: string) => ({ type: "web_search_result_location", title });
const cites = (title: string) => delta(0, { type: "citations_delta", citation: cite(title) });
const light = (light: string) => delta(3, { type: "light_delta", light });
const overloaded = { type: "overloaded_error", message: "Overloaded" };
const result = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "u" }] };
const PING = { type: "ping" };
const dropped = { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" };

/** See the module. */
export const MESSAGES_STREAMS: StreamRows = {
  "blocks become items, verbatim and in order": {
    events: [
      started(),
      ...[THINKING, REDACTED, REDACTED, TEXT, CALL].flatMap((each, at) => sent(at, each)),
      ...ended("tool_use"),
    ],
    items: [THINKING, REDACTED, REDACTED, TEXT, CALL],
    response: { model: "claude-sonnet-5-1", id: "msg_1", status: "completed" },
    ...{ usage: USED, notices: [], text: "Hello", reasoning: "Let me see." },
  },
  "the one signature replaces that of the start, also without text": {
    events: [
      ...[started(), start(0, { type: "thinking", thinking: "", signature: "placeholder" })],
      ...[delta(0, { type: "signature_delta", signature: "EqEE" }), stop(0), ...sent(1, TEXT), ...ended()],
    ],
    items: [{ type: "thinking", thinking: "", signature: "EqEE" }, TEXT],
  },
  "a call without a piece has the input of its start": { events: calling({ a: 1 }), ...called({ a: 1 }) },
  "a call with one empty piece has no arguments": { events: calling({}, ""), ...called({}) },
  "a call without any input has an empty one": { events: calling(null), ...called({}) },
  "pieces may cut the escape of a character": {
    events: calling({}, '{"a":"\\ud8', '3d\\ude00"}'),
    ...called({ a: "😀" }),
  },
  "arguments that are no JSON stay text": { events: calling({}, '{"a": ', "oops"), ...called('{"a": oops') },
  "citations follow those of the start, in order": {
    events: [
      ...[started(), start(0, { type: "text", text: "", citations: [cite("a")] })],
      ...[said("Hel"), cites("b"), said("lo"), cites("c"), stop(0), ...ended()],
    ],
    items: [{ type: "text", text: "Hello", citations: [cite("a"), cite("b"), cite("c")] }],
  },
  "server tools, fallbacks, compactions and unknown blocks are kept, unknown deltas reported once": {
    events: [
      ...[started(), start(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} })],
      ...[delta(0, { type: "input_json_delta", partial_json: '{"query":"x"}' }), stop(0), ...sent(1, result)],
      start(2, { type: "compaction", content: null }),
      ...[delta(2, { type: "compaction_delta", content: "So far" }), stop(2)],
      start(3, { type: "hologram", zebra: 1, alpha: {} }),
      ...[light("a"), light("b"), stop(3), ...sent(4, TEXT), ...ended()],
    ],
    items: [
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
      ...[result, { type: "compaction", content: "So far" }, { type: "hologram", zebra: 1, alpha: {} }, TEXT],
    ],
    notices: ['stream: A delta "light_delta" does not fit its content block, and was skipped'],
  },
  "usage is that of the start, overwritten by what the end names": {
    events: [
      started({
        usage: { input_tokens: 17, cache_read_input_tokens: 4, output_tokens: 1, service_tier: "standard" },
      }),
      ...sent(0, TEXT),
      {
        ...{ type: "message_delta", delta: { stop_reason: "end_turn" } },
        usage: { input_tokens: 20, cache_read_input_tokens: null, output_tokens: 65 },
      },
      { type: "message_stop" },
    ],
    usage: { input_tokens: 20, cache_read_input_tokens: 4, output_tokens: 65, service_tier: "standard" },
  },
  ...Object.fromEntries(
    ([
      ["end_turn", {}, { status: "completed" }, null],
      ["stop_sequence", {}, { status: "completed" }, null],
      ["pause_turn", {}, { status: "completed", paused: true }, null],
      ["max_tokens", {}, { status: "incomplete", reason: "max_tokens" }, "incomplete"],
      ["never_seen", {}, { status: "incomplete", reason: "never_seen" }, "incomplete"],
      [null, {}, { status: "incomplete", reason: "no stop reason" }, "incomplete"],
      ["refusal", { stop_details: EXPLAINED }, { status: "completed", reason: "No." }, "refused"],
      ["refusal", {}, { status: "completed" }, "refused"],
    ] as const).map(([reason, more, response, error]) => [
      `the stop reason ${reason} ${JSON.stringify(more)}`,
      {
        events: ending(reason, more),
        response: { model: "claude-sonnet-5-1", id: "msg_1", ...response },
        ...{ error, notices: [] },
      },
    ]),
  ),
  "the same message_start once more changes nothing": {
    events: [started(), started({ usage: {} }), ...sent(0, THINKING), ...sent(1, TEXT), ...ended()],
    ...{ items: [THINKING, TEXT], usage: USED, notices: [] },
  },
  "another message_start begins a new message": {
    events: [
      ...[started(), ...sent(0, THINKING), start(1, { ...CALL, input: {} })],
      ...[started({ id: "msg_2", model: "m2", usage: { input_tokens: 7 } }), ...sent(0, TEXT), ...ended()],
    ],
    ...{ items: [TEXT], usage: { input_tokens: 7 } },
    response: { model: "m2", id: "msg_2", status: "completed" },
    notices: ["stream: The server began its answer again: earlier events are void"],
  },
  ...Object.fromEntries(
    ([
      ["as documented", { type: "error", error: overloaded, request_id: "req_1" }, "provider_failed"],
      ["that is flat", { type: "error", message: "Overloaded" }, "provider_failed"],
      ["that is a text", { type: "error", error: "Overloaded" }, "provider_failed"],
    ] as const).map(([name, event, error]) => [
      `an error event ${name} ends the stream at once`,
      { events: failing(event), items: [TEXT], usage: USED, error },
    ]),
  ),
  "a stream without message_stop is cut, and a block without a stop is not kept": {
    events: [started(), ...sent(0, THINKING), start(1, { ...CALL, input: {} })],
    ...{ items: [THINKING], error: "stream_cut" },
  },
  ...Object.fromEntries(
    ([
      ["a text", "end_turn", sent(1, TEXT), [TEXT], null],
      ["a call with its whole input", "tool_use", sent(1, CALL), [CALL], null],
      ["half a call", "tool_use", sent(1, CALL).slice(0, -2).concat({}), [], "bad_stream"],
      [
        "a call without input",
        "tool_use",
        sent(1, { ...CALL, input: "" }).slice(0, 1).concat({}),
        [],
        "bad_stream",
      ],
      [
        "half a call, as the tokens are at an end",
        "max_tokens",
        sent(1, CALL).slice(0, -2).concat({}),
        [],
        "incomplete",
      ],
    ] as const).map(([what, reason, block, items, error]) => [
      `a whole message with ${what} that has no end`,
      {
        events: [started(), ...sent(0, THINKING), ...block.slice(0, -1), ...ended(reason)],
        ...{ items: [THINKING, ...items], error },
        ...error === "bad_stream" ? {} : { notices: ["stream: Content block 1 came without its end"] },
      },
    ]),
  ),
  "a message that stops for a call and holds none is broken": {
    events: [started(), ...sent(0, TEXT), ...ended("tool_use")],
    ...{ items: [TEXT], error: "bad_stream" },
  },
  "half an event before the end is a broken stream": {
    events: [started(), ...sent(0, TEXT), '{"type":"content_block_st', ...sent(1, CALL), ...ended()],
    ...{ items: [TEXT], error: "bad_stream" },
  },
  "events that a client must tolerate change nothing": {
    events: [
      ...["", PING, started(), { type: "brand_new_event", index: 0 }, start(0, { type: "text", text: "" })],
      ...[PING, said("Hello"), said(17), said(undefined), delta(0, null), stop(0), ...ended()],
      ...["[DONE]", ...sent(1, TEXT)],
    ],
    ...{ items: [TEXT], text: "Hello", notices: [], error: null },
  },
  ...Object.fromEntries(
    ([
      [
        "each event twice",
        [started(), ...sent(0, TEXT), ...ended()].flatMap((event) => [event, event]),
        [],
        "",
      ],
      [
        "the whole stream twice before its end",
        [
          ...[started(), ...sent(0, TEXT), started(), ...sent(0, TEXT), ...ended()],
        ],
        [TEXT],
        "Hello",
      ],
      [
        "a block that is open twice",
        [started(), start(0, { type: "text", text: "" }), ...sent(0, TEXT)],
        [],
        "",
      ],
      [
        "more of a block that has ended",
        [started(), ...sent(0, TEXT), said("!"), ...ended()],
        [TEXT],
        "Hello",
      ],
      [
        "the start of its message after a block",
        [started(), ...sent(0, TEXT), started(), ...ended()],
        [TEXT],
        "Hello",
      ],
      ["a piece of no block", [started(), ...sent(0, TEXT), said("!", 7), ...ended()], [TEXT], "Hello"],
      ["the end of a block twice", [started(), ...sent(0, TEXT), stop(0), ...ended()], [TEXT], "Hello"],
      ["the end of no block", [started(), ...sent(0, TEXT), stop(1), ...ended()], [TEXT], "Hello"],
    ] as const).map(([what, events, items, text]) => [
      `a stream that holds ${what} is broken`,
      { events, items, text, error: "bad_stream" },
    ]),
  ),
  "a block without a type is skipped with its pieces": {
    events: [started(), start(0, { text: "" }), said("x"), stop(0), ...sent(1, TEXT), ...ended()],
    ...{ items: [TEXT], text: "Hello", error: null },
  },
  "an event of another shape is read as far as possible": {
    events: [
      ...[started({ usage: "many", id: 7 }), start(0, { text: "no type" }), start(0, TEXT), stop(0)],
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_details: "none" }, usage: [] },
      { type: "message_stop" },
    ],
    ...{ items: [TEXT], text: "Hello" },
    response: { model: "claude-sonnet-5-1", id: null, status: "completed" },
  },
  "their order distinguishes blocks whose events name no index": {
    events: [started(), ...[THINKING, TEXT].flatMap((each, at) => sent(at, each)), ...ended()].map((
      event,
    ) => ({ ...event, index: undefined })),
    items: [THINKING, TEXT],
  },
  "the server's report about changed thinking is kept once": {
    events: [
      ...[started({ input_transformations: [dropped] }), ...sent(0, TEXT)],
      { type: "message_delta", delta: { stop_reason: "end_turn" }, input_transformations: [dropped] },
      { type: "message_stop" },
    ],
    raw: [JSON.stringify([dropped])],
  },
  "content and stop reason inside message_start are kept": {
    events: [started({ content: [THINKING, TEXT, CALL], stop_reason: "tool_use" }), { type: "message_stop" }],
    ...{ items: [THINKING, TEXT, CALL], text: "Hello", reasoning: "Let me see.", notices: [] },
  },
  "a block that message_start holds and the stream repeats is kept once, as the stream says": {
    events: [
      ...[started({ content: [{ type: "text", text: "Hello" }] }), start(0, { type: "text", text: "Hello" })],
      ...[delta(0, { type: "text_delta", text: " there" }), stop(0), ...ended()],
    ],
    ...{ items: [{ type: "text", text: "Hello there" }], text: "Hello there" },
  },
};
