/** Clients of Chat Completions in front of what they recorded. */
import assert from "node:assert/strict";
import {
  aiGenerated,
  aiStreamed,
  chainInvoked,
  chainStreamed,
  chatError,
  creating,
  streaming,
} from "./chat.ts";
import { chatApi, chatMisses, chatRefusals, reasoningChatApi } from "./chat_script.ts";
import { assertEnded, assertReplays, type Client, conversationTests, record, serving } from "./support.ts";

const CLIENTS: readonly (readonly [name: string, client: Client, api: typeof chatApi, isRaw: boolean])[] = [
  ["openai, chat.completions streamed", streaming, chatApi, true],
  ["openai, chat.completions not streamed", creating, chatApi, true],
  ["ai with @ai-sdk/openai-compatible, streamText", aiStreamed, reasoningChatApi, false],
  ["ai with @ai-sdk/openai-compatible, generateText", aiGenerated, reasoningChatApi, false],
  ["@langchain/openai, stream", chainStreamed, chatApi, false],
  ["@langchain/openai, invoke", chainInvoked, chatApi, false],
];

for (const [name, client, api, isRaw] of CLIENTS) {
  conversationTests({
    name: `${name}, with parallel calls of a tool`,
    client,
    provider: "openai",
    api,
    requests: 3,
    read: chatError,
    ...(isRaw ? { refusals: (fixture) => chatRefusals(fixture, (words) => `400 ${words}`) } : {}),
    misses: chatMisses(),
  });

  Deno.test(`${name}: other users, metadata and cache keys, and requests without usage replay the same objects`, async () => {
    const recorded = await record(api, client, "openai");
    await using server = await serving(recorded.path);
    assert.deepEqual(await client(server.origin, { noise: true }), recorded.report);
    await assertEnded(server, [3], { warned: 0, unused: [] });
  });

  Deno.test(`${name}: the objects of a recorded and a replayed conversation equal those of the API itself`, async () => {
    await using upstream = api();
    const raw = await client(new URL(upstream.baseUrl).origin);
    const recorded = await record(api, client, "openai");
    assert.deepEqual(recorded.report, raw);
    await assertReplays(recorded, client);
  });
}
