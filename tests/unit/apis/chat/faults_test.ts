/** Faulty answers of Chat Completions (protocol §15.3–15.6). */
import assert from "node:assert/strict";
import { chatApi } from "../../../../src/apis/chat/api.ts";
import { applyFault } from "../../../../src/fixture/faults/apply.ts";
import { parseFault } from "../../../../src/fixture/faults/fault.ts";
import { bytesOf, chunked } from "../../../support/broken_answers.ts";
import { CHUNKS, HEAD, STREAM } from "./short_stream.ts";

/** The events of the stream with a fault. */
function played(fault: string) {
  const answer = applyFault(chunked(new TextEncoder().encode(STREAM.join(""))), parseFault(fault), chatApi);
  const bytes = bytesOf(answer.steps);
  return {
    applied: answer.applied,
    status: answer.status,
    text: new TextDecoder().decode(bytes),
    events: new TextDecoder().decode(bytes).split("\n\n").slice(0, -1),
  };
}

Deno.test("chat: an error alone ends the stream, and [DONE] stays after it", () => {
  const { events } = played("error flat rate_limit_exceeded");
  assert.deepEqual(events.slice(0, 2), STREAM.slice(0, 2).map((event) => event.trimEnd()));
  const error = {
    message: "The server had an error.",
    type: "rate_limit_exceeded",
    param: null,
    code: "rate_limit_exceeded",
  };
  assert.deepEqual(events.slice(2), [`data: ${JSON.stringify({ error })}`, "data: [DONE]"]);
});

Deno.test("chat: a nested error is in a chunk of the response", () => {
  const { events } = played("error nested");
  const chunk = JSON.parse((events[2] ?? "").slice(6));
  assert.deepEqual([chunk.id, chunk.error.code, chunk.choices[0].finish_reason], [
    "chatcmpl-1",
    "server_error",
    null,
  ]);
});

Deno.test("chat: an incomplete answer ends with its finish_reason, the recorded usage and [DONE]", () => {
  const { events } = played("incomplete");
  assert.deepEqual(events.slice(2).map((event) => event.slice(6)), [
    JSON.stringify({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "length" }] }),
    JSON.stringify(CHUNKS[3]),
    "[DONE]",
  ]);
});

Deno.test("chat: a stream without its finish is cut, whatever [DONE] says", () => {
  const { events } = played("no terminal event");
  assert.equal(events.length, 4);
});

Deno.test("chat: faults that the API cannot have change nothing", () => {
  for (const fault of ["failed", "unknown events", "keepalives", "rotate ids"]) {
    const { applied, events } = played(fault);
    assert.deepEqual([applied, events.length], [false, STREAM.length], fault);
  }
});

Deno.test("chat: an error answer has the shape of the API", () => {
  const { status, text } = played("429 retry-after 2");
  assert.equal(status, 429);
  assert.match(JSON.parse(text).error.message, /^Rate limit reached for requests/);
});
