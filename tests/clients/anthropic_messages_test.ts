/** Anthropic's own client beside ours: what it makes of a stream, and what it sends. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import type { FoldedEntry } from "../../src/domain/folded.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { messagesApi } from "../../src/apis/messages/api.ts";
import type { RequestSpec, StreamUpdate } from "../../src/apis/api.ts";
import { readSse } from "../../src/transport/sse.ts";
import { recordedStreams } from "../support/recorded_messages.ts";
import { blockEvents, CALL, read, REDACTED, started, TEXT, THINKING } from "../support/stream_events.ts";

const SPEC: RequestSpec = {
  model: "claude-sonnet-5",
  instructions: "You are a terminal agent.",
  tools: [{
    type: "function",
    name: "list_files",
    description: "Lists files",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    strict: true,
  }],
  entries: [
    { kind: "user_message", content: [{ type: "input_text", text: "list files" }] },
    { kind: "reasoning", item: THINKING },
    { kind: "reasoning", item: REDACTED },
    { kind: "assistant_message", item: TEXT, keepId: false },
    { kind: "tool_call", callId: "toolu_1", item: CALL },
    {
      kind: "tool_result",
      callId: "toolu_1",
      callType: "tool_use",
      output: "No such directory",
      isError: true,
    },
  ] satisfies FoldedEntry[],
  cacheKey: "s",
  effort: "high",
  summary: "auto",
  outputSchema: { name: "answer", schema: { type: "object" }, strict: true },
};

/** The request of {@linkcode SPEC} in the client's types, so that the compiler judges its shape. */
const PARAMS: Anthropic.MessageCreateParamsStreaming = {
  model: "claude-sonnet-5",
  max_tokens: 32_000,
  stream: true,
  cache_control: { type: "ephemeral" },
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object" } } },
  system: [{ type: "text", text: "You are a terminal agent.", cache_control: { type: "ephemeral" } }],
  tools: [{
    name: "list_files",
    description: "Lists files",
    input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    strict: true,
  }],
  messages: [
    { role: "user", content: [{ type: "text", text: "list files" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Let me see.", signature: "EqEE" },
        { type: "redacted_thinking", data: "EmwKAhgB" },
        { type: "text", text: "Hello" },
        { type: "tool_use", id: "toolu_1", name: "ls", input: { path: ".", deep: [1, null] } },
      ],
    },
    {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: "No such directory",
        is_error: true,
      }],
    },
  ],
};

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** A client that answers itself with `bytes`, and what it sent. */
function clientOf(bytes: Uint8Array): { readonly client: Anthropic; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const client = new Anthropic({
    apiKey: "test-key",
    baseURL: "http://127.0.0.1:1",
    maxRetries: 0,
    fetch: (url, init) => {
      sent.push({
        url: String(url),
        headers: new Headers(init?.headers as HeadersInit),
        body: JSON.parse(String(init?.body)),
      });
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(new Uint8Array(bytes), { headers }));
    },
  });
  return { client, sent };
}

const WRITTEN = new TextEncoder().encode(
  [
    started(),
    ...[THINKING, REDACTED, TEXT, CALL].flatMap((block, index) => blockEvents(index, block)),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 30 } },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
);

async function agree(bytes: Uint8Array): Promise<void> {
  const message = await clientOf(bytes).client.messages.stream(PARAMS).finalMessage();
  const assembler = messagesApi.newAssembler();
  const updates: StreamUpdate[] = [];
  for await (const batch of readSse(ReadableStream.from([bytes]))) {
    for (const event of batch) updates.push(...assembler.feed(event));
  }
  const { items, response } = read([...updates, ...assembler.end()]);
  const content = JSON.parse(JSON.stringify(message.content)) as (JsonObject & { parsed_output?: unknown })[];
  // The client adds the value that it parsed with the requested schema.
  for (const block of content) delete block.parsed_output;
  assert.deepEqual(items.map(({ item }) => item), content);
  assert.deepEqual([response.id, response.model], [message.id, message.model]);
  assert.equal(response.usage?.output_tokens, message.usage.output_tokens);
  assert.equal(response.usage?.input_tokens, message.usage.input_tokens);
}

Deno.test("Anthropic's client makes the same message of a stream with every kind of block", () =>
  agree(WRITTEN));

Deno.test("Anthropic's client makes the same message of the recorded stream", async () => {
  const streams = recordedStreams().filter(({ name }) => name === "messages/stream.yaml#1");
  assert.equal(streams.length, 1);
  for (const { bytes } of streams) await agree(bytes);
});

Deno.test("our body is the one that Anthropic's client sends for the same request, and so are path and version", async () => {
  const { client, sent } = clientOf(WRITTEN);
  await client.messages.create(PARAMS);
  const [theirs] = sent;
  const ours = messagesApi.buildRequest(SPEC);
  assert.deepEqual(JSON.parse(ours.body), theirs?.body);
  assert.ok(new URL(theirs?.url ?? "").pathname === `/v1${ours.path}`);
  const headers = messagesApi.headers({ value: "test-key", scheme: "bearer" });
  for (const name of ["anthropic-version", "content-type"]) {
    assert.equal(headers[name], theirs?.headers.get(name), name);
  }
});

Deno.test("the wish to drop bound thinking is the one that Anthropic's client sends", async () => {
  const { client, sent } = clientOf(WRITTEN);
  await client.beta.messages.create({
    ...PARAMS as Anthropic.Beta.MessageCreateParamsStreaming,
    thinking: {
      type: "adaptive",
      display: "summarized",
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    },
    betas: ["thinking-binding-controls-2026-08-01"],
  });
  const ours = messagesApi.buildRequest({ ...SPEC, without: new Set(["binding_check"]) });
  assert.deepEqual(JSON.parse(ours.body), sent[0]?.body);
  assert.equal(ours.headers?.["anthropic-beta"], sent[0]?.headers.get("anthropic-beta"));
});
