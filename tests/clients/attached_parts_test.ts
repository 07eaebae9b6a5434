/** Attached files in the types of the official clients: the compiler checks the parts that our own requests have. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { EXPECTED_BLOCKS, EXPECTED_PARTS } from "../cli/attached_files.ts";

const PARTS: readonly OpenAI.Responses.ResponseInputContent[] = EXPECTED_PARTS;
const BLOCKS: readonly Anthropic.ContentBlockParam[] = EXPECTED_BLOCKS;

/** Keeps the body of each request and answers with an empty object. */
function capture() {
  const bodies: string[] = [];
  const fetch = (_url: unknown, init?: { readonly body?: unknown }) => {
    bodies.push(String(init?.body));
    return Promise.resolve(Response.json({}));
  };
  return { bodies, options: { apiKey: "key-1", baseURL: "http://127.0.0.1:1", maxRetries: 0, fetch } };
}

Deno.test("the official clients send the parts of attached files unchanged", async () => {
  const { bodies, options } = capture();
  await new OpenAI(options).responses.create({
    model: "m",
    input: [{ role: "user", content: [...PARTS] }],
  });
  await new Anthropic(options).messages.create({
    model: "m",
    max_tokens: 1,
    messages: [{ role: "user", content: [...BLOCKS] }],
  });
  const [responses, messages] = bodies.map((body) => JSON.parse(body));
  assert.deepEqual(responses.input[0].content, EXPECTED_PARTS);
  assert.deepEqual(messages.messages[0].content, EXPECTED_BLOCKS);
});
