import assert from "node:assert/strict";
import { MissingToolResultsError } from "ai";
import { aiError, generated, streamed } from "./ai_sdk.ts";
import { ADD, INSTRUCTIONS, PROMPT, refusals, responsesApi } from "./script.ts";
import { assertEnded, type Client, conversationTests, record, serving } from "./support.ts";

const WAYS: readonly (readonly [name: string, client: Client])[] = [
  ["streamText", streamed],
  ["generateText", generated],
];

for (const [name, client] of WAYS) {
  conversationTests({
    name: `ai with @ai-sdk/openai, ${name} with a tool`,
    client,
    provider: "openai",
    api: responsesApi,
    requests: 3,
    read: aiError,
    // It sends messages without their ids; sources contradict each other about these.
    warned: 2,
    refusals: (recorded) =>
      refusals(recorded).filter(([mistake]) => mistake === "blob_altered" || mistake === "call_forgotten"),
    misses: [
      [{ prompt: "Subtract" }, "input[1].content[0].text", PROMPT, "Subtract"],
      [{ instructions: "Subtract" }, "input[0].content", INSTRUCTIONS, "Subtract"],
      [{ tool: "Subtract" }, "tools[0].description", ADD.description, "Subtract"],
      [{ result: "4" }, "input[6].output", '"3"', '"4"'],
      // It sends no ids of calls either, so that nothing demands the reasoning: the API would take it.
      [{ mistake: "reasoning_dropped" }, "input[2]", '"reasoning"', "nothing"],
    ],
  });

  Deno.test(
    `ai with @ai-sdk/openai, ${name}: a forgotten output it finds itself, and asks for nothing`,
    async () => {
      const { path } = await record(responsesApi, client, "openai");
      await using server = await serving(path);
      await assert.rejects(client(server.origin, { mistake: "output_forgotten" }), MissingToolResultsError);
      await assertEnded(server, [1]);
    },
  );
}
