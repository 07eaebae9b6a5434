/** Faulty answers of Chat Completions: what clients of the API get (protocol §15.3–15.6). */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { chatApi } from "../../../../src/apis/chat/api.ts";
import { applyFault } from "../../../../src/fixture/faults/apply.ts";
import { parseFault } from "../../../../src/fixture/faults/fault.ts";
import { bytesOf, chunked } from "../../fixture/faults/recorded.ts";

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
const CHUNKS = [
  { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
  { ...HEAD, choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }], obfuscation: "x" },
  { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { ...HEAD, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
];
const STREAM = [...CHUNKS.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`);

/** The events of the stream with a fault, and what the official client makes of it. */
async function played(fault: string) {
  const answer = applyFault(chunked(new TextEncoder().encode(STREAM.join(""))), parseFault(fault), chatApi);
  const bytes = bytesOf(answer.steps);
  const headers = { ...answer.headers };
  const client = new OpenAI({
    apiKey: "key-1",
    baseURL: "http://localhost/v1",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(Uint8Array.from(bytes), { status: answer.status, headers })),
  });
  const stream = client.chat.completions.stream({ model: "m", messages: [{ role: "user", content: "Hi" }] });
  const outcome = await stream.finalChatCompletion().then(
    ({ choices: [choice] }) => choice?.finish_reason ?? "no choice",
    (error: Error) => error.message,
  );
  return {
    applied: answer.applied,
    events: new TextDecoder().decode(bytes).split("\n\n").slice(0, -1),
    outcome,
  };
}

Deno.test("chat: an error alone ends the stream, and [DONE] stays after it", async () => {
  const { events, outcome } = await played("error flat rate_limit_exceeded");
  assert.deepEqual(events.slice(0, 2), STREAM.slice(0, 2).map((event) => event.trimEnd()));
  const error = {
    message: "The server had an error.",
    type: "rate_limit_exceeded",
    param: null,
    code: "rate_limit_exceeded",
  };
  assert.deepEqual(events.slice(2), [`data: ${JSON.stringify({ error })}`, "data: [DONE]"]);
  assert.match(outcome, /The server had an error/);
});

Deno.test("chat: a nested error is in a chunk of the response", async () => {
  const { events, outcome } = await played("error nested");
  const chunk = JSON.parse((events[2] ?? "").slice(6));
  assert.deepEqual([chunk.id, chunk.error.code, chunk.choices[0].finish_reason], [
    "chatcmpl-1",
    "server_error",
    null,
  ]);
  assert.match(outcome, /The server had an error/);
});

Deno.test("chat: an incomplete answer ends with its finish_reason, the recorded usage and [DONE]", async () => {
  const { events, outcome } = await played("incomplete");
  assert.deepEqual(events.slice(2).map((event) => event.slice(6)), [
    JSON.stringify({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "length" }] }),
    JSON.stringify(CHUNKS[3]),
    "[DONE]",
  ]);
  assert.equal(outcome, "length");
  assert.equal((await played("incomplete content_filter")).outcome, "content_filter");
});

Deno.test("chat: a stream without its finish is cut, whatever [DONE] says", async () => {
  const { events, outcome } = await played("no terminal event");
  assert.equal(events.length, 4);
  assert.match(outcome, /missing finish_reason for choice 0/);
});

Deno.test("chat: faults that the API cannot have change nothing", async () => {
  for (const fault of ["failed", "unknown events", "keepalives", "rotate ids"]) {
    const { applied, outcome } = await played(fault);
    assert.deepEqual([applied, outcome], [false, "stop"], fault);
  }
});

Deno.test("chat: an error answer has the shape of the API", async () => {
  assert.match((await played("429 retry-after 2")).outcome, /^429 Rate limit reached for requests/);
});
