/** Streams of the Responses API that repeat themselves, or give the content of items in deltas alone. */
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
  MESSAGE,
  OTHER,
  REASONING,
  summary,
  text,
  WHOLE,
} from "./responses_events.ts";
import type { StreamRow, StreamRows } from "./streams.ts";

const HOLLOW = { ...MESSAGE, content: [] };

const twice = (events: readonly Json[]) => events.flatMap((event) => [event, event]);

/** Streams that repeat themselves. */
export const DOUBLED: StreamRows = Object.fromEntries(
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
/** Arguments at position 1. */
const ARGUMENTS = pieces("function_call_arguments", 1, '{"a":1}');
const FILLED_CALL = { ...CALL, arguments: '{"a":1}' };
const CUSTOM = { id: "ctc_1", type: "custom_tool_call", call_id: "call_3", name: "patch" };
const BARE = { id: "rs_2", type: "reasoning", summary: [] };
const end = completed({ output: [] });

/** Items of which only deltas have the content: those deltas are the item. */
export const ONLY_DELTAS: StreamRows = {
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
  ...Object.fromEntries(
    ([
      ["a call", added(1, HOLLOW_CALL), end, "bad_stream"],
      ["reasoning", added(1, { ...REASONING, summary: [] }), end, "bad_stream"],
      ["a call that the terminal event lists", added(1, CALL), completed({ output: [MESSAGE, CALL] }), null],
      [
        "a call of an incomplete response",
        added(1, HOLLOW_CALL),
        incomplete("max_output_tokens"),
        "incomplete",
      ],
    ] as const).map(([what, begun, last, error]) => [
      `${what} that begins and never ends`,
      { events: [done(0, MESSAGE), begun, last], items: error === null ? [MESSAGE, CALL] : [MESSAGE], error },
    ]),
  ),
  "a text without any event of its item is the answer": {
    events: [text(0, "Hel"), text(0, "lo"), end],
    items: [{ type: "message", role: "assistant", content: MESSAGE.content }],
    ...{ notices: [kept(0, "message")], text: "Hello", error: null },
  },
  "a text at another position than its message is that message": {
    events: [text(1, "Hello"), done(0, MESSAGE), end],
    ...{ items: [MESSAGE], notices: [], error: null },
  },
  "arguments of a call that never began make the stream a broken one": {
    events: [done(0, MESSAGE), ...pieces("function_call_arguments", 1, "{}"), end],
    ...{ items: [MESSAGE], error: "bad_stream" },
  },
  ...Object.fromEntries(
    ([
      ["before another item", [...PIECES, added(1, HOLLOW), done(1, MESSAGE), end], [MESSAGE]],
      ["beside an open message", [added(0, HOLLOW), text(0, "Hello"), ...ARGUMENTS, end], []],
      ["beside a call that began", [...PIECES, added(1, { ...OTHER, arguments: "" }), done(1, OTHER), end], [
        OTHER,
      ]],
      ["beside another that never began", [...PIECES, ...ARGUMENTS, done(0, CALL), end], [CALL]],
    ] as const).map(([where, events, items]) => [
      `arguments of a call that is lost ${where} make the stream a broken one`,
      { events, items, error: "bad_stream" },
    ]),
  ),
  ...Object.fromEntries(
    ([
      ["before a call that only the terminal event has", [...PIECES, completed({ output: [FILLED_CALL] })]],
      ["once more after the end of their call", [
        added(0, HOLLOW_CALL),
        ...[...PIECES, done(0, FILLED_CALL)],
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":1}' },
        end,
      ]],
      ["at another position than their call, which never began", [...ARGUMENTS, done(0, FILLED_CALL), end]],
      ["without a position, by the id of their call", [
        added(0, HOLLOW_CALL),
        done(0, FILLED_CALL),
        { type: "response.function_call_arguments.done", item_id: "fc_1", arguments: '{"a":1}' },
        end,
      ]],
    ] as const).map(([where, events]) => [
      `arguments that come ${where} belong to it`,
      { events, items: [FILLED_CALL], error: null },
    ]),
  ),
  "an item that ended before a cut has the text of its deltas": {
    events: [text(0, "Hello"), done(0, HOLLOW)],
    ...{ items: [MESSAGE], error: "stream_cut" },
  },
};
