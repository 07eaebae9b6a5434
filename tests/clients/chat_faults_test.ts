/** Faulty answers of Chat Completions, read by the official client (protocol §15.3–15.6). */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { chatApi } from "../../src/apis/chat/api.ts";
import { applyFault } from "../../src/fixture/faults/apply.ts";
import { parseFault } from "../../src/fixture/faults/fault.ts";
import { bytesOf, chunked } from "../support/broken_answers.ts";
import { STREAM } from "./short_stream.ts";

/** Outcome of the official client for the stream with a fault: its finish reason, or its error. */
async function outcomeOf(fault: string): Promise<string> {
  const answer = applyFault(chunked(new TextEncoder().encode(STREAM.join(""))), parseFault(fault), chatApi);
  const headers = { ...answer.headers };
  const body = Uint8Array.from(bytesOf(answer.steps));
  const client = new OpenAI({
    apiKey: "key-1",
    baseURL: "http://localhost/v1",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { status: answer.status, headers })),
  });
  const stream = client.chat.completions.stream({ model: "m", messages: [{ role: "user", content: "Hi" }] });
  return await stream.finalChatCompletion().then(
    ({ choices: [choice] }) => choice?.finish_reason ?? "no choice",
    (error: Error) => error.message,
  );
}

for (
  const [fault, outcome] of [
    ["error flat rate_limit_exceeded", /The server had an error/],
    ["error nested", /The server had an error/],
    ["incomplete", /^length$/],
    ["incomplete content_filter", /^content_filter$/],
    ["no terminal event", /missing finish_reason for choice 0/],
    ["failed", /^stop$/],
    ["unknown events", /^stop$/],
    ["keepalives", /^stop$/],
    ["rotate ids", /^stop$/],
    ["429 retry-after 2", /^429 Rate limit reached for requests/],
  ] as const
) {
  Deno.test(`chat: the official client reads "${fault}" as ${outcome.source}`, async () => {
    assert.match(await outcomeOf(fault), outcome);
  });
}
