import assert from "node:assert/strict";
import type { Item } from "../../../../src/domain/event.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import type { StreamUpdate } from "../../../../src/apis/api.ts";
import { readSse } from "../../../../src/transport/sse.ts";
import { recordingText } from "../../../support/recordings.ts";
import { recordedMessages, recordedStreams } from "./recorded_messages.ts";
import { blockEvents, read, run } from "./stream_events.ts";

Deno.test("every recorded stream gives the blocks that its deltas add up to", async () => {
  const streams = recordedStreams();
  assert.equal(streams.length, 4);
  for (const { name, bytes } of streams) {
    const events = new TextDecoder().decode(bytes).split("\n").filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)) as JsonObject);
    const expected = addedUp(events);
    const { items, response } = await assemble([bytes]);
    assert.equal(JSON.stringify(items.map(({ item }) => item)), JSON.stringify(expected.content), name);
    assert.deepEqual(response.usage, expected.usage, name);
    assert.deepEqual([response.id, response.status], [expected.id, "completed"], name);
  }
});

Deno.test("recorded streams end as the servers said", async () => {
  const ends = await Promise.all(
    recordedStreams().map(async ({ name, bytes }) => {
      const { items, response } = await assemble([bytes]);
      return [name, items.length, response.refused, response.reason, response.notices] as const;
    }),
  );
  const [, explanation] = /"explanation":"([^"]+)"/.exec(recordingText("messages/refusal.chunks.txt")) ?? [];
  assert.deepEqual(ends, [
    ["messages/cleared.chunks.txt", 2, false, undefined, []],
    ["messages/refusal.chunks.txt", 0, true, explanation, []],
    ["messages/spliced.chunks.txt", 2, false, undefined, [
      "The server began its answer again: earlier events are void",
    ]],
    ["messages/stream.yaml#1", 2, false, undefined, []],
  ]);
});

Deno.test("the content of every recorded message comes out whole when it is streamed", () => {
  const messages = recordedMessages();
  assert.equal(messages.length, 5);
  for (const { name, message } of messages) {
    const content = message.content as readonly Item[];
    assert.ok(content.length > 0, name);
    const { items, response } = run([
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      ...content.flatMap((block, index) => blockEvents(index, block, 17)),
      { type: "message_delta", delta: { stop_reason: message.stop_reason } },
      { type: "message_stop" },
    ]);
    assert.deepEqual(items.map(({ item }) => item), content, name);
    assert.deepEqual([response.usage, response.model], [message.usage, message.model], name);
    assert.deepEqual([response.status, response.notices], ["completed", []], name);
  }
});

async function assemble(chunks: readonly Uint8Array[]) {
  const assembler = messagesApi.newAssembler();
  const updates: StreamUpdate[] = [];
  for await (const batch of readSse(ReadableStream.from(chunks))) {
    for (const event of batch) updates.push(...assembler.feed(event));
  }
  return read([...updates, ...assembler.end()]);
}

interface Snapshot {
  readonly id: unknown;
  usage: JsonObject;
  readonly content: Record<string, unknown>[];
}

/** The last message of a stream, by nothing but the rules of the stream itself. */
function addedUp(events: readonly JsonObject[]): Snapshot {
  let message: Snapshot = { id: null, usage: {}, content: [] };
  let json = "";
  for (const event of events) {
    const start = event.message as JsonObject | undefined;
    if (start !== undefined) message = { id: start.id, usage: start.usage as JsonObject, content: [] };
    if (event.content_block !== undefined) {
      message.content.push({ ...event.content_block as JsonObject });
      json = "";
    }
    const block = message.content.at(-1) ?? {};
    const { type, ...members } = (event.index === undefined ? {} : event.delta ?? {}) as JsonObject;
    if (type === "signature_delta") block.signature = members.signature;
    if (type === "text_delta") block.text = `${block.text}${members.text}`;
    if (type === "thinking_delta") block.thinking = `${block.thinking}${members.thinking}`;
    if (type === "input_json_delta") json += members.partial_json;
    if (event.type === "content_block_stop" && json !== "") block.input = JSON.parse(json);
    if (event.type === "message_delta") message.usage = { ...message.usage, ...event.usage as JsonObject };
  }
  return message;
}
