/** One reader of stream events for each API: every caller goes by what it says. */
import assert from "node:assert/strict";
import type { ApiName } from "../../../src/apis/api.ts";
import { apiNamed, apiOfDocument, apiOfEvents, apiOfPath, APIS } from "../../../src/apis/apis.ts";
import { meaningOf, type StreamEvent } from "../../../src/apis/stream.ts";
import type { JsonObject } from "../../../src/domain/json.ts";

function read(name: ApiName, data: JsonObject | string, line?: string): StreamEvent {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  const json = typeof data === "string" ? undefined : data;
  return meaningOf(apiNamed(name).stream, { text, json, name: line });
}

const item = { type: "message", id: "msg_1" };
const response = { id: "resp_1", output: [item] };

Deno.test("events of all APIs have their meaning in the same terms", () => {
  const cases: readonly (readonly [ApiName, JsonObject, Partial<StreamEvent>])[] = [
    ["responses", { type: "response.created", response }, {
      kind: "response",
      response,
      begins: true,
      items: [item],
    }],
    ["responses", { type: "response.in_progress", response }, { kind: "response", begins: false }],
    ["responses", { type: "response.output_item.added", output_index: 1, item }, {
      kind: "item",
      item,
      place: 1,
      whole: false,
    }],
    ["responses", { type: "response.output_item.done", output_index: 1, output_item: item }, {
      kind: "item",
      item,
      whole: true,
    }],
    ["responses", { type: "response.output_text.delta", output_index: 0, content_index: 2, delta: "Hi" }, {
      kind: "delta",
      channel: "text",
      text: "Hi",
      place: 0,
      part: { name: "content", index: 2 },
    }],
    ["responses", { type: "response.reasoning_summary_text.delta", summary_index: 1, delta: "So" }, {
      kind: "delta",
      channel: "summary",
      part: { name: "summary", index: 1 },
    }],
    ["responses", { type: "response.shell_call_command.delta", command_index: 1, delta: "ls" }, {
      kind: "delta",
      channel: "hidden",
      text: "ls",
      part: { name: "command", index: 1 },
    }],
    ["responses", { type: "response.completed", response }, {
      kind: "end",
      response,
      failed: false,
      items: [item],
    }],
    ["responses", { type: "response.failed", response: { error: { message: "No" } } }, {
      kind: "end",
      failed: true,
      error: { message: "No" },
    }],
    ["responses", { type: "error", message: "No" }, {
      kind: "error",
      error: { type: "error", message: "No" },
    }],
    ["responses", { type: "error", error: { message: "No" } }, { kind: "error", error: { message: "No" } }],
    ["responses", { error: { message: "No" } }, { kind: "error", error: { message: "No" } }],
    ["responses", { type: "keepalive" }, { kind: "keepalive" }],
    ["responses", { type: "response.content_part.added", output_index: 3 }, { kind: "other", place: 3 }],
    ["messages", { type: "message_start", message: { id: "msg_1", content: [item] } }, {
      kind: "response",
      begins: true,
      items: [item],
    }],
    ["messages", { type: "content_block_start", index: 2, content_block: item }, {
      kind: "item",
      place: 2,
      item,
      whole: false,
    }],
    [
      "messages",
      { type: "content_block_delta", index: 2, delta: { type: "thinking_delta", thinking: "So" } },
      {
        kind: "delta",
        channel: "reasoning",
        text: "So",
        form: "thinking_delta",
      },
    ],
    ["messages", { type: "content_block_stop", index: 2 }, { kind: "item_end", place: 2 }],
    ["messages", { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }, {
      kind: "stop",
      reason: "end_turn",
      usage: { output_tokens: 3 },
    }],
    ["messages", { type: "message_stop" }, { kind: "end", failed: false }],
    ["messages", { type: "error", error: { message: "No" } }, { kind: "error", error: { message: "No" } }],
    ["messages", { type: "ping" }, { kind: "keepalive" }],
    ["chat", { choices: [{ index: 0, delta: {}, finish_reason: null }] }, {
      kind: "delta",
      channel: "hidden",
      text: null,
      place: 0,
    }],
    ["chat", { choices: [{ index: 1, delta: { content: "Hi" } }] }, {
      kind: "delta",
      channel: "text",
      text: "Hi",
      place: 1,
    }],
    ["chat", { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, {
      kind: "stop",
      reason: "stop",
      place: 0,
    }],
    ["chat", { choices: [], usage: { total_tokens: 3 } }, { kind: "stop", usage: { total_tokens: 3 } }],
    ["chat", { error: { message: "No" } }, { kind: "error", error: { message: "No" } }],
  ];
  for (const [name, data, expected] of cases) {
    const event = read(name, data);
    assert.deepEqual({ ...event, ...expected }, event, `${name} ${JSON.stringify(data)}`);
    assert.equal(event.data, data);
  }
});

Deno.test("the event line names an event whose data has no type, and [DONE] ends streams of Responses alone", () => {
  assert.equal(read("responses", { response: {} }, "response.completed").kind, "end");
  assert.equal(read("messages", {}, "message_stop").kind, "end");
  const ends = (name: ApiName, text: string) => apiNamed(name).stream.isTerminal(read(name, text));
  assert.deepEqual(APIS.map(({ name }) => ends(name, " [DONE]")), [true, false, false]);
  assert.equal(ends("responses", "{oops"), false);
  assert.deepEqual(meaningOf(null, { text: '{"type":"error"}', json: { type: "error" }, name: undefined }), {
    kind: "other",
    type: "error",
    data: { type: "error" },
  });
});

Deno.test("text that an API rules out for the end of a stream never holds one", () => {
  const ends: Readonly<Record<ApiName, readonly JsonObject[]>> = {
    responses: [
      ...["response.completed", "response.failed", "response.incomplete", "response.error", "error"]
        .map((type) => ({ type })),
      { error: { message: "No" } },
    ],
    messages: [{ type: "message_stop" }, { type: "error" }, { error: { message: "No" } }],
    chat: [{ choices: [{ finish_reason: "stop" }] }, { error: { message: "No" } }],
  };
  for (const { name, stream } of APIS) {
    for (const data of ends[name]) {
      assert.ok(stream.isTerminal(read(name, data)), `${name} ${JSON.stringify(data)}`);
      assert.match(JSON.stringify(data), stream.mayEnd);
      assert.match(JSON.stringify(data, null, 1), stream.mayEnd);
    }
  }
});

Deno.test("all copies of an item are issued, and the thinking of the message that counts", () => {
  const copy = (encrypted_content: string) => ({ type: "reasoning", id: "rs_1", encrypted_content });
  const events = [
    { type: "response.output_item.added", output_index: 0, item: copy("a") },
    { type: "response.output_item.done", output_index: 0, item: copy("b") },
    { type: "response.completed", response: { output: [copy("c"), item] } },
  ];
  const issued = apiNamed("responses").stream.issuedItems(events.map((event) => read("responses", event)));
  assert.deepEqual(issued, {
    failed: false,
    items: [[copy("a"), copy("b"), copy("c")], [item]],
    thinking: [],
  });
  const message = (id: string) => [
    { type: "message_start", message: { id, content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: `I am ${id}` } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: `sig ${id}` } },
  ];
  const restarted = [...message("one"), ...message("two"), { type: "error", error: {} }];
  assert.deepEqual(
    apiNamed("messages").stream.issuedItems(restarted.map((event) => read("messages", event))),
    {
      failed: true,
      items: [],
      thinking: [{ type: "thinking", thinking: "I am two", signature: "sig two" }],
      blocks: [{ type: "thinking", thinking: "I am two", signature: "sig two" }],
    },
  );
});

Deno.test("events that issue nothing are as good as absent for what an answer issues", () => {
  const { stream } = apiNamed("responses");
  const names = [
    "created",
    "output_item.added",
    "output_item.done",
    "output_text.delta",
    "completed",
    "failed",
  ];
  for (
    const type of [...names.map((name) => `response.${name}`), "error", "response.mcp_call_arguments.delta"]
  ) {
    const event = read("responses", { type, output_index: 0, item, response, delta: "x" }, type);
    const nothing = JSON.stringify(stream.issuedItems([event])) === JSON.stringify(stream.issuedItems([]));
    assert.equal(stream.issuesNothing(type), nothing, type);
  }
  for (const name of ["messages", "chat"] as const) {
    assert.ok(!apiNamed(name).stream.issuesNothing("content_block_delta"));
  }
});

Deno.test("an API is found by a path, by events or by a document, and never by those of another one", () => {
  assert.deepEqual(
    ["/v1/responses?x=1", "/v1/messages", "/v1/chat/completions", "/v1/models"].map((path) =>
      apiOfPath(path)?.name
    ),
    ["responses", "messages", "chat", undefined],
  );
  assert.deepEqual(
    [["ping", "message_start"], ["response.created"], ["ping"]]
      .map((types) => apiOfEvents(types.map((type) => ({ type, data: undefined })))?.name),
    ["messages", "responses", undefined],
  );
  const chunks: readonly JsonObject[] = [
    { object: "chat.completion.chunk", choices: [] },
    { choices: [{ index: 0, delta: {} }] },
    { choices: [] },
  ];
  assert.deepEqual(chunks.map((data) => apiOfEvents([{ type: undefined, data }])?.name), [
    "chat",
    "chat",
    undefined,
  ]);
  const documents = [
    { type: "message" },
    { type: "error", error: {} },
    { object: "response" },
    { error: {} },
    { object: "chat.completion" },
    { error: { param: "max_tokens" } },
    { error: { param: "messages.[3].role" } },
    {},
  ];
  assert.deepEqual(documents.map((document) => apiOfDocument(document)?.name), [
    "messages",
    "messages",
    "responses",
    "responses",
    "chat",
    "chat",
    "chat",
    undefined,
  ]);
});
