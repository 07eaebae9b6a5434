import assert from "node:assert/strict";
import fc from "fast-check";
import type { Item } from "../../../../src/domain/event.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import type { StreamUpdate } from "../../../../src/apis/api.ts";
import { readSse } from "../../../../src/transport/sse.ts";
import { blockEvents, ended, read, started } from "./stream_events.ts";
import { test } from "../../../support/test.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const block: fc.Arbitrary<Item> = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record({ type: fc.constant("thinking"), thinking: text, signature: text }),
  fc.record({ type: fc.constant("redacted_thinking"), data: text }),
  fc.record({
    type: fc.constant("tool_use"),
    id: text,
    name: text,
    input: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }) as fc.Arbitrary<JsonObject>,
  }),
);

test.long("any message comes out whole, whatever its pieces, its pings, its padding and its cuts in bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { maxLength: 5 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.nat({ max: 80 }), { maxLength: 6 }),
      fc.array(fc.nat({ max: 6 }), { maxLength: 6 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 97 }),
      async (blocks, size, pings, pads, named, cut) => {
        const events = [
          started(),
          ...blocks.flatMap((one, index) => blockEvents(index, one, size)),
          ...ended("end_turn"),
        ];
        // The last event stays last: nothing is read after it.
        for (const at of pings) events.splice(at % events.length, 0, { type: "ping" });
        const lines = events.map((event, at) => {
          const data = JSON.stringify(event).replace(/\}$/, `${" ".repeat(pads[at % 7] ?? 0)}}`);
          return `${named ? `event: ${event.type}\n` : ""}data: ${data}\n\n`;
        });
        const bytes = new TextEncoder().encode(lines.join(""));
        const chunks = Array.from(
          { length: Math.ceil(bytes.length / cut) },
          (_, at) => bytes.subarray(at * cut, (at + 1) * cut),
        );
        const assembler = messagesApi.newAssembler();
        const updates: StreamUpdate[] = [];
        for await (const batch of readSse(ReadableStream.from(chunks))) {
          for (const event of batch) updates.push(...assembler.feed(event));
        }
        const { items, response, text } = read([...updates, ...assembler.end()]);
        assert.equal(JSON.stringify(items.map(({ item }) => item)), JSON.stringify(blocks));
        assert.equal(text, blocks.map((one) => one.type === "text" ? one.text : "").join(""));
        assert.deepEqual([response.status, response.notices], ["completed", []]);
      },
    ),
    { numRuns: 150, seed: 20261121 },
  );
});
