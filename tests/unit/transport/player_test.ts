import assert from "node:assert/strict";
import { readText } from "../../../src/transport/http.ts";
import { createPlayer, type PlayedAnswer } from "../../../src/transport/player.ts";
import { fakeClock } from "./support.ts";

const REQUEST = { url: "https://api.openai.com/v1/responses", headers: {}, body: "{}" };
const SIGNAL = new AbortController().signal;
const encoder = new TextEncoder();

function exchange(...chunks: string[]): PlayedAnswer {
  const headers = { "content-type": "text/event-stream" };
  return { status: 200, headers, chunks: chunks.map((chunk) => encoder.encode(chunk)) };
}

Deno.test("exchanges are answered in sequence, chunk by chunk", async () => {
  const player = createPlayer([exchange("data: 1", "\n\n"), { ...exchange("no"), status: 429 }]);
  const first = await player(REQUEST, SIGNAL);
  assert.equal(first.headers.get("content-type"), "text/event-stream");
  const chunks: number[] = [];
  for await (const chunk of first.body) chunks.push(chunk.length);
  assert.deepEqual(chunks, [7, 2]);
  const second = await player(REQUEST, SIGNAL);
  assert.deepEqual([second.status, await readText(second.body, 10)], [429, "no"]);
});

Deno.test("a request past the end is a fixture miss that names the fixture and the request", async () => {
  const player = createPlayer([exchange("x")]);
  await player(REQUEST, SIGNAL);
  await assert.rejects(player(REQUEST, SIGNAL), {
    code: "fixture_miss",
    message: "Cannot answer request 2 from the fixture: it holds 1 exchange",
  });
});

Deno.test("aborting stops a played exchange before it starts and between its chunks", async () => {
  const reason = new Error("stopped");
  await assert.rejects(createPlayer([exchange("x")])(REQUEST, AbortSignal.abort(reason)), reason);
  const abort = new AbortController();
  const { body } = await createPlayer([exchange("a", "b")])(REQUEST, abort.signal);
  const chunks = body[Symbol.asyncIterator]();
  assert.equal((await chunks.next()).done, false);
  abort.abort(reason);
  await assert.rejects(chunks.next(), reason);
});

Deno.test("waits pass on the clock; one as long as the idle timeout is the cut that it is live", async () => {
  const clock = fakeClock();
  const first = {
    ...exchange("a"),
    chunks: [{ waitMs: 299_999 }, new TextEncoder().encode("a"), { waitMs: 300_001 }],
  };
  const { body } = await createPlayer([first], { clock })(REQUEST, SIGNAL);
  const chunks = body[Symbol.asyncIterator]();
  assert.equal((await chunks.next()).done, false);
  await assert.rejects(chunks.next(), {
    code: "stream_cut",
    message: "The answer of api.openai.com broke off: nothing came for 300 s",
  });
  assert.deepEqual(clock.slept, [299_999, 300_000]);
});

Deno.test("a stall lasts until somebody aborts, and ends at once then", async () => {
  const abort = new AbortController();
  const stalled = { ...exchange(), chunks: [{ stall: true } as const] };
  const { body } = await createPlayer([stalled])(REQUEST, abort.signal);
  let over = false;
  const chunk = body[Symbol.asyncIterator]().next().finally(() => over = true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(over, false);
  abort.abort(new Error("enough"));
  await assert.rejects(chunk, /enough/);
});

Deno.test("an exchange that was cut breaks off after its last chunk, as a connection does", async () => {
  const player = createPlayer([{ ...exchange("a"), cut: true }]);
  const chunks = (await player(REQUEST, SIGNAL)).body[Symbol.asyncIterator]();
  assert.equal((await chunks.next()).done, false);
  await assert.rejects(chunks.next(), { code: "stream_cut", message: /api\.openai\.com broke off/ });
});
