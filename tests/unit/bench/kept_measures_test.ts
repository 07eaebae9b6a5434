import assert from "node:assert/strict";
import { compared, MEASURES, total } from "../../../bench/kept_measures.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { readEvents } from "../../support/streams.ts";

const encoder = new TextEncoder();

/** A fixture of the project: the same wherever the tests run. */
function sample(): Uint8Array {
  return Deno.readFileSync(new URL("../../../fixtures/demo/first/exchanges/0001/body", import.meta.url));
}

Deno.test("a stream that comes out as it went in keeps everything", async () => {
  const kept = await compared(sample(), sample(), responsesApi);
  for (const measure of MEASURES) {
    assert.ok(kept[measure].all > 0, measure);
    assert.equal(kept[measure].kept, kept[measure].all, measure);
  }
});

Deno.test("events that a player adds are accepted, events that it leaves out are not", async () => {
  const { events } = await readEvents([sample()]);
  const rewritten = events.filter(({ event }) => event !== "response.output_text.delta").map(
    ({ event, data }) => {
      const payload = JSON.parse(data);
      delete payload.sequence_number;
      if (payload.item !== undefined) {
        payload.item.id = "new_1";
        if (payload.item.type === "reasoning") delete payload.item.encrypted_content;
      }
      if (payload.response !== undefined) {
        payload.response = { id: "resp_new", status: payload.response.status };
      }
      return `event: ${event}\ndata: ${JSON.stringify(payload)}\n\n`;
    },
  ).join("");
  const kept = await compared(sample(), encoder.encode(rewritten), responsesApi);
  const deltas = events.filter(({ event }) => event === "response.output_text.delta").length;
  assert.deepEqual(kept.events, { kept: events.length - deltas, all: events.length });
  assert.equal(kept.kinds.kept, kept.kinds.all - 1);
  assert.equal(kept.items.kept, kept.items.all - 1, "the reasoning without its blob is another item");
  assert.deepEqual([kept.usage.kept, kept.numbers.kept, kept.bytes.kept, kept.blobs.kept], [0, 0, 0, 0]);
  assert.deepEqual(total([kept, kept]).events, { kept: kept.events.kept * 2, all: kept.events.all * 2 });
});
