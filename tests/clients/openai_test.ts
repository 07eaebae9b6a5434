import assert from "node:assert/strict";
import { accumulating, compacting, creating, openaiError, streaming } from "./openai.ts";
import { idsOf, MISSES, refusalsOfOpenai, responsesApi } from "./script.ts";
import { assertMissed, assertRefused, assertReplays, conversationTests, record } from "./support.ts";

const LOOPS = {
  streamed: streaming,
  "streamed and put together by it": accumulating,
  "not streamed": creating,
};

for (const [name, client] of Object.entries(LOOPS)) {
  conversationTests({
    name: `openai, a tool loop in three steps, ${name}`,
    client,
    api: responsesApi,
    read: openaiError,
    refusals: refusalsOfOpenai,
    misses: MISSES,
  });
}

Deno.test("openai: a conversation that responses.compact shortened replays, and an altered compaction is refused", async () => {
  const recorded = await record(responsesApi, compacting, "openai");
  assert.deepEqual(recorded.exchanges.map(({ request }) => request.path), [
    "/v1/responses",
    "/v1/responses/compact",
    "/v1/responses",
  ]);
  await assertReplays(recorded, compacting);
  const client = { client: compacting, read: openaiError };
  const differs = { path: "input[0].content", recorded: "heron", received: "egret" };
  await assertMissed(recorded, { prompt: "Remember the word egret" }, { ...client, ...differs });
  const expected = {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_encrypted_content",
    param: null,
    message:
      `400 The encrypted content for item ${idsOf(recorded).compaction} could not be verified. Reason: ` +
      "Encrypted content could not be decrypted or parsed.",
  };
  await assertRefused(recorded, "blob_altered", { api: responsesApi, ...client, expected, served: 2 });
});
