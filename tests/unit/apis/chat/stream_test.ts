/** Chunks of Chat Completions in the forms of many servers (protocol §15.3–15.5). */
import assert from "node:assert/strict";
import { chatApi } from "../../../../src/apis/chat/api.ts";
import { chatStream } from "../../../../src/apis/chat/stream.ts";
import { type DeltaEvent, meaningsIn, type StreamEvent } from "../../../../src/apis/stream.ts";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.ts";

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };

function chunk(delta: JsonObject, more: JsonObject = {}, index = 0): JsonObject {
  const { finish_reason = null, ...members } = more;
  return { ...HEAD, choices: [{ index, delta, finish_reason }], ...members };
}

function read(data: JsonObject): StreamEvent {
  return chatStream.readEvent(data);
}

function messagesOf(...chunks: readonly JsonObject[]): readonly JsonValue[] {
  return chatStream.issuedItems(chunks.map(read)).items.map(([message]) => message ?? null);
}

const USAGE = { ...HEAD, choices: [], usage: { total_tokens: 3 } };

Deno.test("a chunk with several pieces has all of them, reasoning and text before the finish", () => {
  const event = read(chunk(
    {
      content: "Hi",
      reasoning: "So",
      tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { finish_reason: "tool_calls", usage: { total_tokens: 3 } },
  ));
  assert(event.kind === "stop");
  assert.deepEqual([event.reason, event.usage, event.place], ["tool_calls", { total_tokens: 3 }, 0]);
  const meanings = meaningsIn(event).map((piece) => [piece.name, (piece as DeltaEvent).text ?? null]);
  assert.deepEqual(meanings, [
    ["delta.reasoning", "So"],
    ["delta.content", "Hi"],
    ["delta.tool_calls", "{}"],
    ["finish_reason", null],
  ]);
  assert.equal((meaningsIn(event)[2] as DeltaEvent).form, "f call_1");
});

const TEXTS: readonly (readonly [server: string, delta: JsonObject, channel: string, text: string])[] = [
  ["OpenAI", { content: "Hi" }, "text", "Hi"],
  ["OpenAI, refusing", { content: null, refusal: "No" }, "text", "No"],
  ["DeepSeek", { content: null, reasoning_content: "So" }, "reasoning", "So"],
  ["Groq", { reasoning: "So", channel: "analysis" }, "reasoning", "So"],
  [
    "OpenRouter",
    { content: "", reasoning: "So", reasoning_details: [{ type: "reasoning.text", text: "So" }] },
    "reasoning",
    "So",
  ],
  [
    "Mistral",
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "So" }] }] },
    "reasoning",
    "So",
  ],
  ["a server that repeats its reasoning", { reasoning: "So", reasoning_content: "So" }, "reasoning", "So"],
];
for (const [server, delta, channel, text] of TEXTS) {
  Deno.test(`the text of a delta is read once, as sent by ${server}`, () => {
    const pieces = meaningsIn(read(chunk(delta)));
    assert.deepEqual(
      pieces.map((piece) => [piece.kind, (piece as DeltaEvent).channel, (piece as DeltaEvent).text]),
      [
        ["delta", channel, text],
      ],
    );
  });
}

Deno.test("calls add up by their index: pieces of arguments, names that come once, choices that mingle", () => {
  const call = (index: number, piece: JsonObject) => ({ tool_calls: [{ index, ...piece }] });
  const messages = messagesOf(
    chunk({ role: "assistant", content: null }),
    chunk(call(0, { id: "a", type: "function", function: { name: "f", arguments: "" } })),
    chunk(call(1, { id: "b", type: "function", function: { name: "g", arguments: "" } })),
    chunk({ content: "Hel" }, {}, 1),
    chunk(call(1, { function: { name: "", arguments: '{"x":' } })),
    chunk(call(0, { id: null, function: { arguments: "{}" } })),
    chunk({ content: "lo", reasoning_content: "So" }, {}, 1),
    chunk(call(1, { function: { arguments: "1}" } })),
  );
  assert.deepEqual(messages, [
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
        { id: "b", type: "function", function: { name: "g", arguments: '{"x":1}' } },
      ],
    },
    { role: "assistant", content: "Hello", reasoning_content: "So" },
  ]);
});

Deno.test("ids distinguish calls without an index, as Mistral sends them", () => {
  const messages = messagesOf(
    chunk({ content: "" }),
    chunk({
      tool_calls: [
        { id: "abc123def", function: { name: "f", arguments: "{}" } },
        { id: "ghi456jkl", function: { name: "g", arguments: "{}" } },
      ],
    }, { finish_reason: "tool_calls" }),
  );
  assert.deepEqual(messages, [{
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "abc123def", function: { name: "f", arguments: "{}" } },
      { id: "ghi456jkl", function: { name: "g", arguments: "{}" } },
    ],
  }]);
});

const FINISH = chunk({}, { finish_reason: "stop" });
const ASKED = { stream: true, stream_options: { include_usage: true } };
const DONE: StreamEvent = { kind: "done", type: undefined, data: undefined };
/** A request, the stream, and whether it is complete. */
const ENDS:
  readonly (readonly [string, JsonValue | undefined, readonly (JsonObject | StreamEvent)[], boolean])[] = [
    ["nothing but [DONE]", {}, [DONE], false],
    ["text and [DONE]", {}, [chunk({ content: "Hi" }), DONE], false],
    ["a finish", {}, [FINISH], true],
    ["a finish of an unknown request", undefined, [FINISH], true],
    ["an empty reason to finish", {}, [chunk({}, { finish_reason: "" }), DONE], false],
    ["one finish of two requested choices", { n: 2 }, [FINISH, DONE], false],
    ["one finish of two choices that came", {}, [chunk({ content: "a" }, {}, 1), FINISH, DONE], false],
    ["both finishes", { n: 2 }, [FINISH, chunk({}, { finish_reason: "length" }, 1)], true],
    ["a finish without the requested usage", ASKED, [FINISH], false],
    ["usage that is null", ASKED, [{ ...FINISH, usage: null }], false],
    // Servers that ignore `include_usage`.
    ["a finish and [DONE] without the requested usage", ASKED, [FINISH, DONE], true],
    ["usage that is null and [DONE]", ASKED, [{ ...FINISH, usage: null }, DONE], true],
    ["a finish and the usage", ASKED, [FINISH, USAGE], true],
    ["the usage in the finish", ASKED, [{ ...FINISH, usage: {} }], true],
    [
      "a usage chunk that repeats the choice",
      ASKED,
      [FINISH, chunk({ content: "" }, { usage: {} }), DONE],
      true,
    ],
    ["the usage alone", ASKED, [USAGE, DONE], false],
    ["a chunk of moderation after the usage", ASKED, [FINISH, USAGE, {
      ...HEAD,
      choices: [],
      moderation: {},
    }], true],
    ["usage that no stream has", { stream_options: { include_usage: true } }, [FINISH], true],
    ["an error after text", ASKED, [chunk({ content: "Hi" }), { error: { message: "No" } }], true],
  ];
for (const [what, request, events, expected] of ENDS) {
  Deno.test(`a stream with ${what} is ${expected ? "complete" : "cut"}`, () => {
    const end = chatStream.watchEnd(request);
    for (const event of events) end.take("kind" in event ? event as StreamEvent : read(event as JsonObject));
    assert.equal(end.ended, expected);
  });
}

Deno.test("an error makes an answer fail, even after a finish, in every shape", () => {
  for (
    const data of [
      { error: { message: "No", status_code: 400 } },
      { ...chunk({ content: "" }), error: { message: "No" } },
      { error: "No" },
    ]
  ) {
    const event = read(data);
    assert(event.kind === "error");
    assert.equal(event.error.message, "No");
    assert.equal(chatStream.issuedItems([read(FINISH), event]).failed, true);
  }
  assert.equal(chatStream.readEvent({ message: "No" }, "error").kind, "error");
});

Deno.test("a document lists the message of each choice; an error is nested, or flat as Mistral's", () => {
  const messages = [{ role: "assistant", content: "Hi" }, {
    role: "assistant",
    content: null,
    refusal: "No",
  }];
  const document = {
    object: "chat.completion",
    choices: messages.map((message, index) => ({ index, message })),
  };
  const event = chatStream.readDocument(document);
  assert(event?.kind === "end");
  assert.deepEqual(event.items, messages);
  assert.deepEqual(chatStream.issuedItems([event]).items, messages.map((message) => [message]));
  assert.deepEqual(chatStream.missingIn([event], {}), ["usage"]);
  for (const error of [{ error: { message: "No" } }, { object: "error", message: "No", code: "3230" }]) {
    const read = chatStream.readDocument(error);
    assert.equal(read?.kind, "error");
    assert.equal(read?.kind === "error" && read.error.message, "No");
  }
  assert.equal(chatStream.readDocument({ data: [] }), null);
});

Deno.test("a stream that lacks the requested usage gets a notice", () => {
  assert.deepEqual(chatStream.missingIn([read(FINISH)], ASKED), ["usage"]);
  assert.deepEqual(chatStream.missingIn([read(FINISH)], { stream: true }), []);
  assert.deepEqual(chatStream.missingIn([read(FINISH), read(USAGE)], ASKED), []);
});

Deno.test("the provider of an answer follows from its shape", () => {
  const { recognition } = chatApi;
  const providerOf = (...responses: readonly JsonObject[]) => recognition?.providerOf(responses);
  assert.equal(providerOf({ id: "chatcmpl-Dx0XpqH8w09uBXwq1zFGYdETjtnEl" }), "openai");
  assert.equal(providerOf({ id: "chatcmpl-4f39f3af-3267-4ac1-a0cf-6aa7451877dc" }), "compatible");
  assert.equal(providerOf({ id: "chatcmpl-887" }), "compatible");
  assert.equal(providerOf({ id: "gen-1762179802-UN8pkJI4AGZvryk0kFnb" }), "compatible");
  assert.equal(
    providerOf({ id: "chatcmpl-CYPS1lijGoK8gd9lYzY3r9Sx50nbt", choices: [{ content_filter_results: {} }] }),
    "azure",
  );
  assert.equal(recognition?.createdAt({ created: 1762317021 }), 1762317021000);
  assert.equal(recognition?.createdAt({ created: 0 }), null);
});
