import assert from "node:assert/strict";
import { accumulating, compacting, creating, openaiError, streaming } from "./openai.ts";
import { idsOf, MISSES, refusals, responsesApi } from "./script.ts";
import {
  assertMissed,
  assertRefused,
  assertReplays,
  type Client,
  conversationTests,
  record,
} from "./support.ts";

const LOOPS: readonly (readonly [name: string, client: Client])[] = [
  ["streamed", streaming],
  ["streamed and put together by it", accumulating],
  ["not streamed", creating],
];

for (const [name, client] of LOOPS) {
  conversationTests({
    name: `openai, a tool loop in three steps, ${name}`,
    client,
    provider: "openai",
    api: responsesApi,
    requests: 3,
    read: openaiError,
    refusals: (recorded) => refusals(recorded, (words) => `400 ${words}`),
    misses: MISSES,
  });
}

Deno.test("openai: a conversation that responses.compact shortened replays as it was recorded", async () => {
  const recorded = await record(responsesApi, compacting, "openai");
  assert.deepEqual(recorded.exchanges.map(({ request }) => request.path), [
    "/v1/responses",
    "/v1/responses/compact",
    "/v1/responses",
  ]);
  await assertReplays(recorded, compacting);
  await assertMissed(recorded, { prompt: "Remember the word egret" }, {
    client: compacting,
    read: openaiError,
    path: "input[0].content",
    recorded: "heron",
    received: "egret",
  });
});

Deno.test("openai: an altered compaction item gets the API's own error", async () => {
  const recorded = await record(responsesApi, compacting, "openai");
  const { compaction } = idsOf(recorded);
  const expected = {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_encrypted_content",
    param: null,
    message: `400 The encrypted content for item ${compaction} could not be verified. Reason: Encrypted ` +
      "content could not be decrypted or parsed.",
  };
  await assertRefused(recorded, "blob_altered", {
    api: responsesApi,
    client: compacting,
    read: openaiError,
    expected,
    served: 2,
  });
});
