import assert from "node:assert/strict";
import { syntheticStream } from "../../../bench/stream.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import type { StreamUpdate } from "../../../src/apis/api.ts";
import { readSse } from "../../../src/transport/sse.ts";

Deno.test("the synthetic stream has the requested number of events and assembles without a notice", async () => {
  for (const wanted of [12, 300]) {
    const assembler = responsesApi.newAssembler();
    const updates: StreamUpdate[] = [];
    let events = 0;
    const body = new Blob([syntheticStream(wanted) as Uint8Array<ArrayBuffer>]).stream();
    for await (const batch of readSse(body)) {
      for (const event of batch) {
        events++;
        updates.push(...assembler.feed(event));
      }
    }
    assert.equal(events, wanted);
    const items = updates.filter((update) => update.kind === "item");
    assert.deepEqual(items.map(({ item, source }) => [item.type, source]), [["reasoning", "done"], [
      "message",
      "done",
    ]]);
    const last = updates.at(-1);
    assert.ok(last?.kind === "finished");
    assert.equal(last.response.status, "completed");
    assert.deepEqual(last.response.notices, []);
  }
});
