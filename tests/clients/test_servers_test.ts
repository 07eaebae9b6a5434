/** The test servers of Responses and Messages, used by the official clients: streams, tool loops, refused keys. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import OpenAI from "openai";
import type { ResponseInputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import { type MessagesServer, text } from "../support/messages_server.ts";
import { redacted, says, thinking, toolUse } from "../support/messages_server/script.ts";
import { messagesTest, MODEL as MESSAGES_MODEL } from "../support/messages_server/testing.ts";
import { answer, message, reasoning, type ResponsesServer } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { MODEL, serverTest } from "../support/responses_server/testing.ts";

const openaiOf = ({ baseUrl }: ResponsesServer, apiKey = "key-1") =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

const anthropicOf = ({ baseUrl }: MessagesServer, apiKey = "key-1") =>
  new Anthropic({ baseURL: new URL(baseUrl).origin, apiKey, maxRetries: 0 });

serverTest(
  "the server speaks to the official client: a stream of reasoning, commentary and a call",
  {
    script: [answer([
      reasoning("Think about **files**", "then read"),
      message("I will look.", { phase: "commentary" }),
      functionCall("read_file", { path: "a.txt" }),
    ])],
  },
  async (server) => {
    const events: ResponseStreamEvent[] = [];
    const stream = await openaiOf(server).responses.create({
      model: MODEL,
      input: "hello",
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    for await (const event of stream) events.push(event);
    assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, index) => index));
    const deltas = events.filter((event) => event.type === "response.function_call_arguments.delta");
    assert.equal(deltas.map((event) => event.delta).join(""), '{"path":"a.txt"}');
    const last = events.at(-1);
    assert.ok(last?.type === "response.completed");
    assert.deepEqual(last.response.output.map((item) => item.type), [
      "reasoning",
      "message",
      "function_call",
    ]);
    assert.ok(last.response.output[1]?.type === "message");
    assert.equal(last.response.output[1].phase, "commentary");
    assert.equal(last.response.usage?.total_tokens, 160);
    assert.equal(server.requests[0]?.headers.authorization, "Bearer key-1");
  },
);

serverTest(
  "the server carries the official client through a tool loop, and the replay breaks no rule",
  {
    script: [
      answer([reasoning(), functionCall("add", { a: 1 }), functionCall("add", { a: 2 })]),
      answer([reasoning("sum"), functionCall("add", { a: 3 })]),
      answer([message("six", { phase: "final_answer" })]),
    ],
  },
  async (server) => {
    const client = openaiOf(server);
    const input: ResponseInputItem[] = [{ role: "user", content: "add" }];
    let text = "";
    for (let step = 0; step < 3; step++) {
      const stream = client.responses.stream({
        model: MODEL,
        input,
        store: false,
        include: ["reasoning.encrypted_content"],
      });
      const response = await stream.finalResponse();
      text = response.output_text;
      for (const item of response.output) input.push(item as ResponseInputItem);
      for (const item of response.output) {
        if (item.type === "function_call") {
          input.push({ type: "function_call_output", call_id: item.call_id, output: "ok" });
        }
      }
    }
    assert.equal(text, "six");
    assert.deepEqual(server.refusals, []);
    assert.deepEqual(server.requests.map((request) => request.input.length), [1, 6, 9]);
  },
);

messagesTest(
  "the Messages server carries the official client through a tool loop, and the replay breaks no rule",
  {
    script: [
      says([
        thinking("Add, then add more."),
        redacted(),
        text("I add."),
        toolUse("add", { a: 1 }),
        toolUse("add", {}),
      ]),
      says([thinking("héllo 😀"), toolUse("add", { a: 3 })], {
        pings: "everywhere",
        delivery: { chunkBytes: 3 },
      }),
      says([text("six")]),
    ],
  },
  async (server) => {
    const client = anthropicOf(server);
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "add" }];
    const stops: unknown[] = [];
    let last: Anthropic.Message | undefined;
    for (let step = 0; step < 3; step++) {
      last = await client.messages.stream({
        model: MESSAGES_MODEL,
        max_tokens: 2048,
        messages,
        tools: [{ name: "add", input_schema: { type: "object" } }],
      }).finalMessage();
      stops.push(last.stop_reason);
      messages.push({ role: "assistant", content: last.content as Anthropic.ContentBlockParam[] });
      const uses = last.content.filter((block) => block.type === "tool_use");
      messages.push({
        role: "user",
        content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done" })),
      });
    }
    assert.deepEqual(stops, ["tool_use", "tool_use", "end_turn"]);
    assert.deepEqual(server.refusals, []);
    const [first] = server.requests.slice(1);
    assert.deepEqual(first?.blocks.map(({ type }) => type), [
      ...[
        "text",
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_use",
        "tool_result",
        "tool_result",
      ],
    ]);
    assert.deepEqual(first?.blocks.slice(4, 6).map(({ input }) => input), [{ a: 1 }, {}]);
    assert.equal(server.requests[2]?.blocks[8]?.thinking, "héllo 😀");
    assert.equal(server.issued.length, 3);
    assert.equal(last?.usage.cache_read_input_tokens, 8);
  },
);

serverTest(
  "the server answers the official client without a stream, and refuses another key",
  { script: [answer([message("whole")])], key: "key-1" },
  async (server) => {
    const response = await openaiOf(server).responses.create({ model: MODEL, input: "hello" });
    assert.deepEqual([response.output_text, response.status], ["whole", "completed"]);
    await assert.rejects(
      openaiOf(server, "other").responses.create({ model: MODEL, input: "x" }),
      OpenAI.AuthenticationError,
    );
  },
);

messagesTest(
  "the Messages server refuses another key of the official client",
  { script: [], key: "key-1" },
  async (server) => {
    await assert.rejects(
      anthropicOf(server, "key-2").messages.create({ model: MESSAGES_MODEL, max_tokens: 1, messages: [] }),
      Anthropic.AuthenticationError,
    );
  },
);
