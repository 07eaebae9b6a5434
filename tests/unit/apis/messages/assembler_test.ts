import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.ts";
import type { FinishedResponse } from "../../../../src/apis/api.ts";
import {
  blockEvents,
  CALL,
  delta,
  ended,
  REDACTED,
  run,
  start,
  started,
  stop,
  TEXT,
  THINKING,
} from "./stream_events.ts";
import type { Item } from "../../../../src/domain/event.ts";

Deno.test("content blocks become items whole, verbatim and in order, each at its stop", () => {
  const blocks: Item[] = [THINKING, REDACTED, REDACTED, TEXT, CALL];
  const events = blocks.flatMap((block, index) => blockEvents(index, block));
  const { items, response, text, reasoning, updates } = run([started(), ...events, ...ended("tool_use")]);
  assert.equal(JSON.stringify(items.map(({ item }) => item)), JSON.stringify(blocks));
  assert.deepEqual(items.map(({ outputIndex }) => outputIndex), [0, 1, 2, 3, 4]);
  assert.equal(text, "Hello");
  assert.equal(reasoning, "Let me see.");
  assert.deepEqual(updates.find(({ kind }) => kind === "text_delta"), {
    kind: "text_delta",
    outputIndex: 3,
    delta: "Hel",
  });
  assert.deepEqual(response, {
    id: "msg_1",
    model: "claude-sonnet-5-20260801",
    usage: { input_tokens: 10, output_tokens: 1 },
    notices: [],
    status: "completed",
    refused: false,
  });
});

Deno.test("the one signature replaces what the start said, and is kept where the text is left out", () => {
  const { items, reasoning } = run([
    started(),
    start(0, { type: "thinking", thinking: "", signature: "placeholder" }),
    delta(0, { type: "signature_delta", signature: "EqEE" }),
    stop(0),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(items.map(({ item }) => item), [{ type: "thinking", thinking: "", signature: "EqEE" }]);
  assert.equal(reasoning, "");
});

Deno.test("the input of a call is what its pieces say", async (t) => {
  const rows: [string, JsonValue, readonly string[], JsonValue][] = [
    ["no piece at all", {}, [], {}],
    ["one empty piece (a call without arguments)", {}, [""], {}],
    ["no input in the start either", null, [], {}],
    ["pieces that cut a character's escape", {}, ['{"a":"\\ud8', '3d\\ude00"}'], { a: "😀" }],
    ["text that is not JSON stays text", {}, ['{"a": ', "oops"], '{"a": oops'],
    ["a start that has it all", { a: 1 }, [], { a: 1 }],
  ];
  for (const [name, first, pieces, expected] of rows) {
    await t.step(name, () => {
      const { items } = run([
        started(),
        start(0, {
          type: "tool_use",
          id: "toolu_1",
          name: "ls",
          ...(first === null ? {} : { input: first }),
        }),
        ...pieces.map((piece) => delta(0, { type: "input_json_delta", partial_json: piece })),
        stop(0),
        ...ended("tool_use"),
      ]);
      assert.deepEqual(items[0]?.item.input, expected);
    });
  }
});

Deno.test("citations come in order after those of the start", () => {
  const cite = (title: string) => ({ type: "web_search_result_location", title });
  const { items } = run([
    started(),
    start(0, { type: "text", text: "", citations: [cite("a")] }),
    delta(0, { type: "text_delta", text: "Hel" }),
    delta(0, { type: "citations_delta", citation: cite("b") }),
    delta(0, { type: "text_delta", text: "lo" }),
    delta(0, { type: "citations_delta", citation: cite("c") }),
    stop(0),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(items[0]?.item, {
    type: "text",
    text: "Hello",
    citations: [cite("a"), cite("b"), cite("c")],
  });
});

Deno.test("server tools, fallbacks, compactions and unknown blocks are kept, unknown deltas reported once", () => {
  const result = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "u" }] };
  const fallback = { type: "fallback", from: { model: "a" }, to: { model: "b" } };
  const { items, response } = run([
    started(),
    start(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
    stop(0),
    start(1, result),
    stop(1),
    start(2, fallback),
    stop(2),
    start(3, { type: "compaction", content: null }),
    delta(3, { type: "compaction_delta", content: "So far: …" }),
    stop(3),
    start(4, { type: "hologram", zebra: 1, alpha: {} }),
    delta(4, { type: "light_delta", light: "a" }),
    delta(4, { type: "light_delta", light: "b" }),
    delta(4, { type: "text_delta", text: "c" }),
    stop(4),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(items.map(({ item }) => item), [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
    result,
    fallback,
    { type: "compaction", content: "So far: …" },
    { type: "hologram", zebra: 1, alpha: {} },
  ]);
  assert.deepEqual(response.notices, [
    'A delta "light_delta" does not fit its content block, and was skipped',
    'A delta "text_delta" does not fit its content block, and was skipped',
  ]);
});

Deno.test("usage is what the start said, overwritten by what message_delta names", () => {
  const { response } = run([
    started({
      usage: { input_tokens: 17, cache_read_input_tokens: 4, output_tokens: 1, service_tier: "standard" },
    }),
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 20, cache_read_input_tokens: null, output_tokens: 65 },
    },
    { type: "message_stop" },
  ]);
  assert.deepEqual(response.usage, {
    input_tokens: 20,
    cache_read_input_tokens: 4,
    output_tokens: 65,
    service_tier: "standard",
  });
  const bare = run([
    started({ usage: undefined }),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ]);
  assert.deepEqual(bare.response.usage, { output_tokens: 5 });
});

Deno.test("each stop reason ends the response as it should", async (t) => {
  const rows: [JsonValue, JsonObject, Partial<FinishedResponse>][] = [
    ["end_turn", {}, { status: "completed", refused: false }],
    ["stop_sequence", {}, { status: "completed", refused: false }],
    ["tool_use", {}, { status: "completed", refused: false }],
    ["pause_turn", {}, { status: "completed", refused: false, paused: true }],
    ["max_tokens", {}, { status: "incomplete", refused: false, reason: "max_tokens" }],
    ["model_context_window_exceeded", {}, {
      status: "incomplete",
      refused: false,
      reason: "model_context_window_exceeded",
    }],
    ["never_seen", {}, { status: "incomplete", refused: false, reason: "never_seen" }],
    [null, {}, { status: "incomplete", refused: false, reason: "no stop reason" }],
    ["refusal", { stop_details: { category: "cyber", explanation: "Blocked." } }, {
      status: "completed",
      refused: true,
      reason: "Blocked.",
    }],
    ["refusal", { stop_details: { category: "cyber", explanation: null } }, {
      status: "completed",
      refused: true,
      reason: "cyber",
    }],
    ["refusal", {}, { status: "completed", refused: true }],
  ];
  for (const [reason, more, expected] of rows) {
    await t.step(`${reason} ${JSON.stringify(more)}`, () => {
      const { response, items } = run([started(), ...ended(reason, more)]);
      const { id: _1, model: _2, usage: _3, notices, ...rest } = response;
      assert.deepEqual(rest, expected);
      assert.deepEqual([notices, items], [[], []]);
    });
  }
});

Deno.test("the same message_start once more changes nothing, another one begins a new message", () => {
  const first = [...blockEvents(0, THINKING), start(1, { ...CALL, input: {} })];
  const same = run([
    started(),
    ...blockEvents(0, THINKING),
    started({ usage: { input_tokens: 99 } }),
    ...blockEvents(1, TEXT),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(same.items.map(({ item }) => item), [THINKING, TEXT]);
  assert.deepEqual([same.response.usage, same.response.notices], [
    { input_tokens: 10, output_tokens: 1 },
    [],
  ]);
  const other = run([
    started({ input_transformations: [{ type: "thinking_dropped" }] }),
    ...first,
    started({ id: "msg_2", model: "m2", usage: { input_tokens: 7 } }),
    ...blockEvents(0, TEXT),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(other.updates.map(({ kind }) => kind).filter((kind) => kind === "reset"), ["reset"]);
  assert.deepEqual(other.items.map(({ item }) => item), [TEXT]);
  assert.deepEqual([other.response.id, other.response.model, other.response.usage], ["msg_2", "m2", {
    input_tokens: 7,
  }]);
  assert.equal(other.response.inputTransformations, undefined);
  assert.deepEqual(other.response.notices, ["The server began its answer again: earlier events are void"]);
});

Deno.test("an error event ends the stream at once, whatever its shape", async (t) => {
  const overloaded = { type: "overloaded_error", message: "Overloaded" };
  const rows: [string, JsonObject, string][] = [
    ["as documented", { type: "error", error: overloaded, request_id: "req_1" }, "provider_failed"],
    ["a rate limit", { type: "error", error: { type: "rate_limit_error", message: "x" } }, "rate_limited"],
    ["flat", { type: "error", message: "Overloaded" }, "provider_failed"],
    ["without a type (gateways)", { error: overloaded }, "provider_failed"],
    ["a text", { type: "error", error: "Overloaded" }, "provider_failed"],
  ];
  for (const [name, event, code] of rows) {
    await t.step(name, () => {
      const { response, items } = run([started(), ...blockEvents(0, TEXT), event, ...ended("end_turn")]);
      assert.deepEqual([response.status, response.failure?.code, response.id], ["failed", code, "msg_1"]);
      assert.equal(items.length, 1);
      assert.deepEqual(response.usage, { input_tokens: 10, output_tokens: 1 });
    });
  }
  const { response } = run([started(), rows[0]?.[1] ?? {}]);
  assert.match(response.failure?.message ?? "", /"overloaded_error"\): Overloaded$/);
});

Deno.test("a stream without message_stop is cut, and blocks without a stop are not kept", () => {
  const cut = run([started(), ...blockEvents(0, THINKING), start(1, { ...CALL, input: {} })]);
  assert.deepEqual([cut.response.status, cut.response.failure?.code], ["cut", "stream_cut"]);
  assert.deepEqual(cut.items.map(({ item }) => item), [THINKING]);
  const [last] = ended("end_turn");
  const nearly = run([started(), ...blockEvents(0, TEXT), last ?? {}]);
  assert.equal(nearly.response.status, "cut");
  const open = run([started(), start(0, TEXT), ...ended("end_turn")]);
  assert.deepEqual(open.items, []);
  assert.deepEqual(open.response.notices, ["1 content block(s) without an end were not kept"]);
  assert.equal(run([]).response.status, "cut");
});

Deno.test("half an event is a cut at the end of the stream and a broken stream before it", () => {
  const half = '{"type":"content_block_st';
  assert.equal(run([started(), half]).response.status, "cut");
  const broken = run([started(), half, ...blockEvents(0, TEXT), ...ended("end_turn")]);
  assert.deepEqual([broken.items, broken.response.failure?.code], [[], "bad_stream"]);
  assert.equal(run(["[1]", ...ended("end_turn")]).response.failure?.code, "bad_stream");
});

Deno.test("events that a client must tolerate change nothing", () => {
  const padded = JSON.stringify(stop(0)).replace(/\}$/, "          }");
  const { items, response, text } = run([
    "",
    { type: "ping" },
    started(),
    { type: "brand_new_event", index: 0 },
    start(0, { type: "text", text: "" }),
    { type: "ping" },
    delta(0, { type: "text_delta", text: "Hello" }),
    delta(0, { type: "text_delta", text: 17 }),
    delta(0, { type: "text_delta" }),
    delta(7, { type: "text_delta", text: "unknown" }),
    { type: "content_block_delta", index: 0, delta: null },
    padded,
    stop(0),
    { type: "ping" },
    ...ended("end_turn"),
    "[DONE]",
    ...blockEvents(1, TEXT),
  ]);
  assert.deepEqual([items.map(({ item }) => item), text], [[TEXT], "Hello"]);
  assert.deepEqual([response.status, response.notices], ["completed", []]);
});

Deno.test("an event of another shape is read as far as possible, with a notice", () => {
  const { items, response, text } = run([
    started({ usage: "many", id: 7 }),
    start(0, { text: "no type" }),
    start(0, { type: "text", text: "Hello" }),
    stop(0),
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_details: "none" }, usage: [] },
    { type: "message_stop" },
  ]);
  assert.deepEqual([items.map(({ item }) => item), text], [[TEXT], "Hello"]);
  assert.deepEqual([response.status, response.usage, response.id], ["completed", null, null]);
  assert.equal(response.notices.length, 3);
});

Deno.test("their order distinguishes blocks whose events name no index", () => {
  const strip = ({ index: _, ...event }: JsonObject) => event;
  const events = [THINKING, TEXT].flatMap((block, index) => blockEvents(index, block)).map(strip);
  const { items } = run([started(), ...events, ...ended("end_turn")]);
  assert.deepEqual(items.map(({ item, outputIndex }) => [item, outputIndex]), [[THINKING, 0], [TEXT, 1]]);
});

Deno.test("the server's report about changed thinking is kept verbatim, once", () => {
  const dropped = {
    type: "thinking_dropped",
    path: "messages.1.content.0",
    reason: "prefix_binding_mismatch",
  };
  const allowed = { type: "thinking_mismatch_allowed", path: "messages.3.content.0" };
  const { response } = run([
    started({ input_transformations: [dropped] }),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, input_transformations: [dropped, allowed] },
    { type: "message_stop" },
  ]);
  assert.deepEqual(response.inputTransformations, [dropped, allowed]);
  assert.deepEqual(response.notices, []);
});

Deno.test("content and stop reason inside message_start are kept", () => {
  const { items, response, text, reasoning } = run([
    started({ content: [THINKING, TEXT, CALL], stop_reason: "tool_use" }),
    { type: "message_stop" },
  ]);
  assert.equal(JSON.stringify(items.map(({ item }) => item)), JSON.stringify([THINKING, TEXT, CALL]));
  assert.deepEqual(items.map(({ outputIndex }) => outputIndex), [0, 1, 2]);
  assert.deepEqual([response.status, response.notices], ["completed", []]);
  assert.deepEqual([text, reasoning], [TEXT.text, THINKING.thinking]);
});

Deno.test("the content of message_start comes before the blocks that follow it, and survives a cut", () => {
  const whole = run([
    started({ content: [THINKING], stop_reason: "pause_turn" }),
    ...blockEvents(1, TEXT),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(whole.updates.filter(({ kind }) => kind !== "finished").map(({ kind }) => kind), [
    "reasoning_delta",
    "item",
    "text_delta",
    "text_delta",
    "item",
  ]);
  assert.deepEqual([whole.response.status, whole.response.paused], ["completed", undefined]);
  const { items, response } = run([started({ content: [CALL] }), start(1, TEXT)]);
  assert.deepEqual(items.map(({ item }) => item), [CALL]);
  assert.equal(response.status, "cut");
});

Deno.test("a block that message_start holds and the stream brings once more is kept once, as the stream says", () => {
  const { items, text } = run([
    started({ content: [{ type: "text", text: "Hello" }] }),
    start(0, { type: "text", text: "Hello" }),
    delta(0, { type: "text_delta", text: " there" }),
    stop(0),
    ...ended("end_turn"),
  ]);
  assert.deepEqual(items.map(({ item }) => item), [{ type: "text", text: "Hello there" }]);
  assert.equal(text, "Hello there");
});
