/** Streams of the Responses API, each with what a run leaves of it. */
import type { Json } from "../../support/files.ts";
import type { StreamRow, StreamRows } from "./streams.ts";

const REASONING = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" };
const MESSAGE = {
  ...{ id: "msg_1", type: "message", role: "assistant", phase: "final_answer" },
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
const CALL = { id: "fc_1", type: "function_call", call_id: "call_1", name: "ls", arguments: "{}" };
const OTHER = { ...CALL, id: "fc_2", call_id: "call_2" };
const STRANGE = { zebra: 1, type: "brand_new_call", alpha: { b: [], a: null } };

const done = (output_index: number | undefined, item: Json) => ({
  ...{ type: "response.output_item.done", output_index, item },
});
const added = (output_index: number, item: Json) => ({
  ...{ type: "response.output_item.added", output_index, item },
});
const completed = (response: Json = {}) => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", ...response },
});
const created = (id = "resp_1", model = "m") => ({ type: "response.created", response: { id, model } });
const text = (output_index: number | undefined, delta: Json, more = {}) => ({
  ...{ type: "response.output_text.delta", output_index, delta, ...more },
});
const summary = (summary_index: number, delta: string) => ({
  ...{ type: "response.reasoning_summary_text.delta", output_index: 0, summary_index, delta },
});
const incomplete = (reason: string) => ({
  type: "response.incomplete",
  response: { id: "r", status: "incomplete", incomplete_details: { reason } },
});
/** A terminal event that lists items once more, in another way. */
const again = (sent: readonly Json[], listed: readonly Json[]): StreamRow => ({
  events: [...sent.map((item, index) => done(index, item)), completed({ output: listed })],
  ...{ items: sent, notices: [] },
});
const quota = { code: "insufficient_quota", message: "You exceeded your current quota." };
const limit = { code: "rate_limit_exceeded", message: "Slow down." };
const failed = { type: "response.failed", response: { id: "resp_9", status: "failed", error: quota } };
const changed = [{ id: "rs_7", type: "reasoning", action: "removed", reason: "model_mismatch" }];
const aliased = (type: string, output_index: number, output_item: Json) => ({
  ...{ type: `response.output_item.${type}`, output_index, output_item },
});

const SHOWN = {
  ...{ id: "rs_1", type: "reasoning", status: "completed", summary: [] },
  content: [{ type: "reasoning_text", text: "One word." }],
};
const IN_SHOWN = { item_id: "rs_1", output_index: 0, content_index: 0 };
const ALL = [SHOWN, MESSAGE, CALL];
/** A whole stream of these items, as OpenAI sends it. */
const WHOLE: readonly Json[] = [
  { type: "response.created", response: { id: "resp_1", model: "m", created_at: 1784324967, output: [] } },
  added(0, { ...SHOWN, content: [] }),
  ...["One ", "word."].map((delta) => ({ type: "response.reasoning_text.delta", ...IN_SHOWN, delta })),
  { type: "response.reasoning_text.done", ...IN_SHOWN, text: "One word." },
  done(0, SHOWN),
  added(1, { ...MESSAGE, content: [] }),
  ...["Hel", "lo"].map((delta) => text(1, delta, { item_id: "msg_1", content_index: 0 })),
  { type: "response.output_text.done", item_id: "msg_1", output_index: 1, content_index: 0, text: "Hello" },
  done(1, MESSAGE),
  added(2, { ...CALL, arguments: "" }),
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: "{}" },
  { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 2, arguments: "{}" },
  done(2, CALL),
  completed({ model: "m", output: ALL, usage: { input_tokens: 3 } }),
];
/** Changes each member of a name, at any place. */
const each = (name: string, change: (old: Json) => Json): Json[] =>
  JSON.parse(JSON.stringify(WHOLE), (key, value) => key === name ? change(value) : value);
const only = (pattern: RegExp) => WHOLE.filter(({ type }) => pattern.test(type));
let count = 0;
const ROTATED = each("id", (id) => `${id}-${count++}`).map((event) => ({ ...event, item_id: `x${count++}` }));
const itemsIn = (events: readonly Json[]) => [
  ...new Set(events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item)),
];

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

const HOLLOW = { ...MESSAGE, content: [] };
const NAMELESS = { type: "message", role: "assistant", content: MESSAGE.content };

const twice = (events: readonly Json[]) => events.flatMap((event) => [event, event]);

/** Streams that repeat themselves. */
const DOUBLED: StreamRows = Object.fromEntries(
  ([
    ["each event twice but the first", twice(WHOLE).slice(1), []],
    ["each event twice but the first, without ids", twice(each("id", () => undefined)).slice(1), []],
    ["only its first event twice", [WHOLE[0], ...WHOLE], []],
    ["the whole stream twice before its end", [...WHOLE.slice(0, -1), ...WHOLE], ALL],
    ["a second response", [created(), done(0, MESSAGE), created("resp_2"), completed()], [MESSAGE]],
    ["an item that begins twice", [added(0, HOLLOW), text(0, "Hello"), added(0, HOLLOW), completed()], []],
    ["an item that begins again after its end", [added(0, HOLLOW), done(0, MESSAGE), added(1, HOLLOW)], [
      MESSAGE,
    ]],
    ["an item that ends twice, in other words", [
      done(0, MESSAGE),
      done(0, { ...MESSAGE, content: [{ type: "output_text", text: "Bye", annotations: [] }] }),
    ], [MESSAGE]],
  ] as const).map(([what, events, items]) => [
    `a stream that holds ${what} is broken`,
    { events, items, error: "bad_stream" },
  ]),
);

const kept = (outputIndex: number, type: string) =>
  `stream: Item ${outputIndex} ("${type}") came only in deltas`;
const pieces = (type: string, output_index: number, ...texts: readonly string[]) =>
  texts.map((delta) => ({ type: `response.${type}.delta`, output_index, delta }));
/** A call that came without its arguments, and its pieces. */
const HOLLOW_CALL = { ...CALL, arguments: "" };
const PIECES = pieces("function_call_arguments", 0, '{"a"', ":1}");
const FILLED_CALL = { ...CALL, arguments: '{"a":1}' };
const CUSTOM = { id: "ctc_1", type: "custom_tool_call", call_id: "call_3", name: "patch" };
const BARE = { id: "rs_2", type: "reasoning", summary: [] };
const end = completed({ output: [] });

/** Items of which only deltas have the content: those deltas are the item. */
const ONLY_DELTAS: StreamRows = {
  ...Object.fromEntries(
    ([
      ["a text", [text(0, "Hel"), text(0, "lo"), done(0, HOLLOW), end], MESSAGE],
      ["a text, in unusual members", [text(0, "Hello", { logprobs: [1] }), done(0, HOLLOW), end], MESSAGE],
      ["the text of an item without content", [
        text(0, "Hello"),
        done(0, { ...MESSAGE, content: undefined }),
        end,
      ], MESSAGE],
      ["the text of an empty part", [
        text(0, "Hello"),
        done(0, { ...MESSAGE, content: [{ type: "output_text", text: "", annotations: [] }] }),
        end,
      ], MESSAGE],
      ["the text of an item that never ends", [added(0, HOLLOW), text(0, "Hello"), end], MESSAGE],
      ["a text that only its own end has", [
        { type: "response.output_text.done", output_index: 0, text: "Hello" },
        done(0, HOLLOW),
        end,
      ], MESSAGE],
      ["arguments", [added(0, HOLLOW_CALL), ...PIECES, done(0, HOLLOW_CALL), end], FILLED_CALL],
      ["the arguments of a call that never ends", [added(0, HOLLOW_CALL), ...PIECES, end], FILLED_CALL],
      ["arguments that only their own end has", [
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' },
        done(0, HOLLOW_CALL),
        end,
      ], FILLED_CALL],
      ["the input of a custom tool", [
        ...pieces("custom_tool_call_input", 0, "a", "b"),
        done(0, CUSTOM),
        end,
      ], { ...CUSTOM, input: "ab" }],
      ["reasoning that is shown", [...pieces("reasoning_text", 0, "One ", "word."), done(0, BARE), end], {
        ...BARE,
        content: [{ type: "reasoning_text", text: "One word." }],
      }],
      ["the summary of reasoning", [summary(0, "First"), summary(1, "Second"), done(0, BARE), end], {
        ...BARE,
        summary: [{ type: "summary_text", text: "First" }, { type: "summary_text", text: "Second" }],
      }],
    ] as const).flatMap(([what, events, item]) =>
      [true, undefined].map((isNamed) => [
        `${what} that came only in deltas is kept and marked${isNamed ? " (named events)" : ""}`,
        {
          events: [created(), ...events],
          ...(isNamed ? { isNamed } : {}),
          items: [item],
          raw: ['"from_deltas":true'],
          notices: [kept(0, item.type)],
          ...(item === MESSAGE ? { text: "Hello", error: null } : {}),
        } satisfies StreamRow,
      ])
    ),
  ),
  "a refusal that came only in deltas is a refusal": {
    events: [{ type: "response.refusal.delta", output_index: 0, delta: "No" }, done(0, HOLLOW), end],
    items: [{ ...MESSAGE, content: [{ type: "refusal", refusal: "No" }] }],
    error: "refused",
  },
  "each call gets its own arguments": {
    events: [
      ...[added(0, HOLLOW_CALL), added(1, { ...OTHER, arguments: "" })],
      ...[...PIECES, ...pieces("function_call_arguments", 1, "{}")],
      ...[done(0, HOLLOW_CALL), done(1, { ...OTHER, arguments: "" }), end],
    ],
    items: [FILLED_CALL, OTHER],
  },
  "what the terminal event lists whole is taken from there": {
    events: [text(0, "Hello"), done(0, HOLLOW), completed({ output: [{ ...MESSAGE, extra: 1.5 }] })],
    ...{ items: [{ ...MESSAGE, extra: 1.5 }], notices: [], text: "Hello" },
  },
  "arguments that are empty in every event stay empty": {
    events: [added(0, HOLLOW_CALL), done(0, HOLLOW_CALL), end],
    ...{ items: [HOLLOW_CALL], notices: [] },
  },
  "encrypted reasoning without a summary goes back unchanged": {
    events: [summary(0, "First"), done(0, REASONING), done(1, MESSAGE), end],
    ...{ items: [REASONING, MESSAGE], notices: [] },
  },
  "of an incomplete response the text so far is kept, and no call": {
    events: [
      ...[added(0, HOLLOW), text(0, "Hello"), added(1, HOLLOW_CALL)],
      ...pieces("function_call_arguments", 1, "{"),
      incomplete("max_output_tokens"),
    ],
    ...{ items: [MESSAGE], error: "incomplete" },
  },
  "an item that ended before a cut has the text of its deltas": {
    events: [text(0, "Hello"), done(0, HOLLOW)],
    ...{ items: [MESSAGE], error: "stream_cut" },
  },
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
    events: [done(0, REASONING), done(0, { ...REASONING, encrypted_content: "gB" }), done(1, MESSAGE), end],
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
  ...DOUBLED,
  ...ONLY_DELTAS,
};
