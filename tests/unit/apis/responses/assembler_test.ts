import assert from "node:assert/strict";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { FinishedResponse, StreamUpdate } from "../../../../src/apis/api.ts";

const REASONING = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" };
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  phase: "final_answer",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
const CALL = { id: "fc_1", type: "function_call", call_id: "call_1", name: "ls", arguments: "{}" };

function done(index: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.done", output_index: index, item };
}

function completed(response: JsonObject = {}): JsonObject {
  return { type: "response.completed", response: { id: "resp_1", status: "completed", ...response } };
}

function run(events: readonly (JsonObject | string)[], options: { named?: boolean } = {}) {
  const assembler = responsesApi.newAssembler();
  const updates: StreamUpdate[] = [];
  for (const event of events) {
    const data = typeof event === "string" ? event : JSON.stringify(event);
    const name = options.named && typeof event !== "string" ? String(event.type) : undefined;
    updates.push(...assembler.feed({ event: name, data }));
  }
  updates.push(...assembler.end(), ...assembler.end());
  const finished = updates.filter((update) => update.kind === "finished");
  assert.equal(finished.length, 1, "finished comes exactly once");
  assert.equal(updates.at(-1)?.kind, "finished", "finished comes last");
  const response = (updates.at(-1) as { response: FinishedResponse }).response;
  const items = updates.filter((update) => update.kind === "item");
  const text = updates.map((update) => update.kind === "text_delta" ? update.delta : "").join("");
  const reasoning = updates.map((update) => update.kind === "reasoning_delta" ? update.delta : "").join("");
  return { updates, items, response, text, reasoning };
}

Deno.test("items of output_item.done are kept verbatim in arrival order, unknown types included", () => {
  const strange = { zebra: 1, type: "brand_new_call", alpha: { b: [], a: null } };
  const { items, response } = run([
    { type: "response.created", response: { id: "resp_1", model: "gpt-5.6" } },
    done(0, REASONING),
    done(1, strange),
    done(2, CALL),
    completed({ model: "gpt-5.6-2026-08-01", output: [REASONING, strange, CALL] }),
  ]);
  assert.equal(
    JSON.stringify(items.map(({ item }) => item)),
    JSON.stringify([REASONING, strange, CALL]),
  );
  assert.equal(response.model, "gpt-5.6-2026-08-01");
  assert.deepEqual(response.notices, []);
});

Deno.test("an item that only the terminal event lists is added from there, with a notice", () => {
  const { items, response } = run([done(1, MESSAGE), completed({ output: [REASONING, MESSAGE] })]);
  assert.deepEqual(items.map(({ item, outputIndex }) => [item.type, outputIndex]), [
    ["message", 1],
    ["reasoning", 0],
  ]);
  assert.deepEqual(response.notices, ['Item 0 ("reasoning") came only with the terminal event']);
});

Deno.test("the terminal event adds no second copy of an item", async (t) => {
  const rows: [string, JsonObject[], JsonObject[]][] = [
    ["whose id changed with every event (Copilot)", [{ ...CALL, id: "x1" }], [{ ...CALL, id: "x2" }]],
    ["without any id", [{ type: "message", role: "assistant", content: [] }], [{
      type: "message",
      role: "assistant",
      content: [],
    }]],
    ["encrypted afresh", [REASONING], [{ ...REASONING, encrypted_content: "gBBBB" }]],
  ];
  for (const [name, sent, listed] of rows) {
    await t.step(name, () => {
      const { items, response } = run([
        ...sent.map((item, i) => done(i, item)),
        completed({ output: listed }),
      ]);
      assert.equal(items.length, sent.length);
      assert.deepEqual(response.notices, []);
    });
  }
  await t.step("listed at another position (first item missing from the list)", () => {
    const { items } = run([
      done(0, REASONING),
      done(1, MESSAGE),
      done(2, CALL),
      completed({ output: [MESSAGE, CALL] }),
    ]);
    assert.deepEqual(items.map(({ item }) => item.type), ["reasoning", "message", "function_call"]);
  });
  await t.step("a call listed at another position under a new id", () => {
    const { items } = run([
      done(0, REASONING),
      done(1, CALL),
      completed({ output: [{ ...CALL, id: "x2" }] }),
    ]);
    assert.equal(items.length, 2);
  });
});

Deno.test("items keep apart when a server gives all of them the same position or none", () => {
  const other = { ...CALL, id: "fc_2", call_id: "call_2" };
  for (const index of [0, undefined]) {
    const events = [CALL, other].map((item) => ({
      type: "response.output_item.done",
      output_index: index,
      item,
    }));
    const { items } = run([...events, completed({ output: [CALL, other] })]);
    assert.deepEqual(items.map(({ item }) => item.call_id), ["call_1", "call_2"]);
  }
});

Deno.test("an item that comes twice is kept once", () => {
  const { items, response } = run([done(0, CALL), done(0, CALL), completed()]);
  assert.equal(items.length, 1);
  assert.deepEqual(response.notices, ['Item "function_call" came twice, and was kept once']);
});

Deno.test("two calls at one position with different call ids are both kept", () => {
  const listed = [{ ...CALL, id: undefined, call_id: "call_9" }];
  const { items } = run([done(0, CALL), completed({ output: listed })]);
  assert.deepEqual(items.map(({ item }) => item.call_id), ["call_1", "call_9"]);
});

Deno.test("text deltas carry the phase of their message, refusals are text", () => {
  const { updates, response } = run([
    {
      type: "response.output_item.added",
      output_index: 1,
      item: { ...MESSAGE, phase: "commentary", content: [] },
    },
    { type: "response.output_text.delta", output_index: 1, item_id: "msg_1", delta: "Looking" },
    { type: "response.output_text.delta", output_index: 2, delta: " on" },
    { type: "response.refusal.delta", output_index: 3, delta: "No" },
    done(3, { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No" }] }),
    completed(),
  ], { named: true });
  assert.deepEqual(updates.slice(0, 3), [
    { kind: "text_delta", outputIndex: 1, delta: "Looking", phase: "commentary" },
    { kind: "text_delta", outputIndex: 2, delta: " on" },
    { kind: "text_delta", outputIndex: 3, delta: "No" },
  ]);
  assert.equal(response.refused, true);
});

Deno.test("parts of a reasoning summary are separated by a blank line", () => {
  const delta = (part: number, text: string) => ({
    type: "response.reasoning_summary_text.delta",
    output_index: 0,
    summary_index: part,
    delta: text,
  });
  const { reasoning } = run([
    delta(0, "First"),
    delta(0, " part"),
    delta(1, "Second"),
    done(0, REASONING),
    completed(),
  ]);
  assert.equal(reasoning, "First part\n\nSecond");
});

Deno.test("text of an item without deltas comes as one delta before the item", () => {
  const summary = {
    ...REASONING,
    summary: [{ type: "summary_text", text: "A" }, { type: "summary_text", text: "B" }],
  };
  const { updates, text, reasoning } = run([done(0, summary), done(1, MESSAGE), completed()]);
  assert.equal(text, "Hello");
  assert.equal(reasoning, "A\n\nB");
  assert.deepEqual(updates.map(({ kind }) => kind), [
    "reasoning_delta",
    "item",
    "text_delta",
    "item",
    "finished",
  ]);
  const streamed = run([
    { type: "response.output_text.delta", output_index: 0, delta: "Hel" },
    { type: "response.output_text.delta", output_index: 0, delta: "lo" },
    done(0, MESSAGE),
    completed(),
  ]);
  assert.equal(streamed.text, "Hello");
});

Deno.test("events that a client must tolerate change nothing", () => {
  const { items, response } = run([
    "",
    { type: "keepalive", sequence_number: 3 },
    { type: "response.apply_patch_call_operation_diff.delta", output_index: 0, delta: "x" },
    { type: "response.output_text.delta", output_index: 0, delta: 17 },
    { type: "response.output_text.delta", output_index: 0 },
    { type: "response.output_item.added", output_index: 0, item: null },
    done(0, CALL),
    completed({ created_at: 1784324967.5, usage: { input_tokens: 3 } }),
    "[DONE]",
    done(1, MESSAGE),
  ]);
  assert.deepEqual(items.map(({ item }) => item), [CALL]);
  assert.equal(response.status, "completed");
  assert.deepEqual(response.usage, { input_tokens: 3 });
});

Deno.test("an incomplete response keeps its reason, and a content filter counts as a refusal", () => {
  const incomplete = (reason: string) =>
    run([{
      type: "response.incomplete",
      response: { id: "r", status: "incomplete", incomplete_details: { reason } },
    }]).response;
  assert.deepEqual(
    [incomplete("max_output_tokens"), incomplete("content_filter")].map(({ status, reason, refused }) => ({
      status,
      reason,
      refused,
    })),
    [
      { status: "incomplete", reason: "max_output_tokens", refused: false },
      { status: "incomplete", reason: "content_filter", refused: true },
    ],
  );
  assert.equal(run([completed({ status: "incomplete" })]).response.status, "incomplete");
});

Deno.test("an error event is reported once, in both shapes, with and without response.failed after it", async (t) => {
  const error = { code: "insufficient_quota", message: "You exceeded your current quota." };
  const failed = { type: "response.failed", response: { id: "resp_9", status: "failed", error } };
  const rows: [string, (JsonObject | string)[], string | null][] = [
    [
      "nested, then failed",
      [{ type: "error", error: { ...error, type: "insufficient_quota" } }, failed],
      "resp_9",
    ],
    ["nested alone", [{ type: "error", error }], null],
    ["flat alone", [{ type: "error", ...error, param: null, sequence_number: 2 }], null],
    ["flat, then failed", [{ type: "error", ...error }, failed, "[DONE]"], "resp_9"],
    ["failed alone", [failed], "resp_9"],
    ["without a type (gateways)", [{ error }], null],
    ["response.error", [{ type: "response.error", error }], null],
    ["completed after it", [{ type: "error", error }, completed({ id: "resp_9" })], "resp_9"],
  ];
  for (const [name, events, id] of rows) {
    await t.step(name, () => {
      const { response } = run(events);
      assert.equal(response.status, "failed");
      assert.equal(response.failure?.code, "quota_exhausted");
      assert.match(response.failure?.message ?? "", /You exceeded your current quota$/);
      assert.equal(response.id, id);
    });
  }
});

Deno.test("a stream that ends before its terminal event is cut, and keeps what it said", () => {
  const { items, response } = run([
    { type: "response.created", response: { id: "resp_1", model: "m" } },
    done(0, CALL),
  ]);
  assert.equal(items.length, 1);
  assert.deepEqual([response.status, response.id, response.model, response.failure?.code], [
    "cut",
    "resp_1",
    "m",
    "stream_cut",
  ]);
});

Deno.test("half an event is a cut at the end of the stream and a broken stream before it", () => {
  const half = '{"type":"response.output_item.do';
  assert.equal(run([done(0, CALL), half]).response.status, "cut");
  const broken = run([half, done(0, CALL), completed()]);
  assert.deepEqual(broken.items, []);
  assert.equal(broken.response.status, "failed");
  assert.equal(broken.response.failure?.code, "bad_stream");
  assert.equal(run(["[1]", completed()]).response.failure?.code, "bad_stream");
});

Deno.test("usage, new items and transformations of a terminal event keep their spelling, whatever else it holds", () => {
  const usage = '{"input_tokens":1.0,"10":2,"2":3}';
  const item = '{"type":"brand_new_call","n":1.50,"b":0,"1":0}';
  for (
    const rest of ["", '"temperature":1.0,', '"metadata":{"usage":{"input_tokens":1}},', '"us\\u0061ge":{},']
  ) {
    for (const plain of ["{}", '{"input_tokens":1}', "null"]) {
      const { response, items } = run([
        `{"type":"response.completed","response":{${rest}"output":[${item}],"usage":${plain}}}`,
      ]);
      assert.equal(JSON.stringify(response.usage), plain);
      assert.equal(JSON.stringify(items[0]?.item), item);
    }
    const { response } = run([
      `{"type":"response.completed","response":{${rest}"output":[],"usage":${usage}}}`,
    ]);
    assert.equal(JSON.stringify(response.usage), usage);
    const changed = '[{"type":"x","n":1.0}]';
    const { response: other } = run([
      `{"type":"response.completed","response":{${rest}"usage":{},"input_transformations":${changed}}}`,
    ]);
    assert.equal(JSON.stringify(other.inputTransformations), changed);
  }
});

Deno.test("a terminal event of an unknown shape is read as far as it goes, with a notice", () => {
  const { response, items } = run([completed({ usage: "many", output: [null, { type: 7 }, CALL] })]);
  assert.equal(response.status, "completed");
  assert.equal(response.usage, null);
  assert.equal(items.length, 1);
  assert.equal(response.notices.length, 2);
  assert.equal(run([{ type: "response.completed" }]).response.status, "completed");
});

Deno.test("the server's report about changed reasoning is kept verbatim", () => {
  const transformations = [{ id: "rs_7", type: "reasoning", action: "removed", reason: "model_mismatch" }];
  const { response } = run([completed({ input_transformations: transformations })]);
  assert.deepEqual(response.inputTransformations, transformations);
  assert.deepEqual(response.notices, []);
});

Deno.test("an item that its events call output_item is kept like any other", () => {
  const aliased = (type: string, output_index: number, output_item: JsonObject) => ({
    type: `response.output_item.${type}`,
    output_index,
    output_item,
  });
  const { items, text, response } = run([
    aliased("added", 0, { ...MESSAGE, content: [] }),
    { type: "response.output_text.delta", item_id: "msg_1", delta: "Hello" },
    aliased("done", 0, MESSAGE),
    aliased("done", 1, CALL),
    completed({ output: [MESSAGE, CALL] }),
  ]);
  assert.equal(JSON.stringify(items.map(({ item }) => item)), JSON.stringify([MESSAGE, CALL]));
  assert.deepEqual([text, response.notices], ["Hello", []]);
});

const CREATED = { type: "response.created", response: { id: "resp_1", model: "asked" } };

Deno.test("response.created names a response whose end does not", () => {
  const later = { type: "response.created", response: { id: "resp_2", model: "later" } };
  const ends = {
    "a cut": [],
    "an end without names": [{ type: "response.completed", response: { status: "completed" } }],
    "an error": [{ type: "error", error: { type: "server_error", message: "no" } }],
  };
  for (const [name, end] of Object.entries(ends)) {
    const { response } = run([CREATED, later, ...end], { named: true });
    assert.deepEqual([response.id, response.model], ["resp_1", "asked"], name);
  }
  const { response } = run([CREATED, completed({ id: "resp_9" })], { named: true });
  assert.deepEqual([response.id, response.model], ["resp_9", "asked"]);
});

Deno.test("response.created that is not JSON breaks no response", () => {
  const broken = '{"type":"response.created","response":{"id":';
  const assembler = responsesApi.newAssembler();
  assert.deepEqual(assembler.feed({ event: "response.created", data: broken }), []);
  const cut = assembler.end()[0] as { response: FinishedResponse };
  assert.deepEqual([cut.response.status, cut.response.id], ["cut", null]);

  const other = responsesApi.newAssembler();
  other.feed({ event: "response.created", data: broken });
  const [end] = other.feed({ event: "response.completed", data: JSON.stringify(completed()) });
  assert.equal((end as { response: FinishedResponse }).response.status, "completed");
});

Deno.test("an event with another type than its name says is read by its type", () => {
  const assembler = responsesApi.newAssembler();
  const [end] = assembler.feed({ event: "response.created", data: JSON.stringify(completed()) });
  assert.equal((end as { response: FinishedResponse }).response.id, "resp_1");
});
