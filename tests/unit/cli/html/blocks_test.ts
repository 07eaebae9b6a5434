import assert from "node:assert/strict";
import { itemBlocks } from "../../../../src/cli/html/any_item.ts";
import { eventBlocks, type EventContext } from "../../../../src/cli/html/event_blocks.ts";
import { anyUsage } from "../../../../src/cli/html/usage.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { shown } from "./session_turns.ts";

const CONTEXT: EventContext = {
  results: new Map(),
  decisions: new Map(),
  fates: new Map(),
  omitted: new Set(),
  imageOf: (sha256) => sha256 === "there" ? "iVBORw0KGgo=" : null,
};
const blocksOf = (...events: object[]) =>
  eventBlocks(shown(JSON.stringify({ turn: 1, kind: "user", events })), CONTEXT);
const attached = (media_type: string, sha256: string) => ({
  seq: 1,
  type: "attachment",
  name: "a.png",
  media_type,
  blob: { sha256, bytes: 8 },
});

Deno.test("an attached image is part of the page; other files, lost ones and other types are named", () => {
  assert.deepEqual(blocksOf(attached("image/png", "there")), [
    { type: "image", seq: 1, name: "a.png", src: "data:image/png;base64,iVBORw0KGgo=" },
  ]);
  for (const [type, sha256] of [["image/png", "lost"], ["image/svg+xml", "there"], ["text/html", "there"]]) {
    const [block] = blocksOf(attached(type ?? "", sha256 ?? ""));
    assert.deepEqual(block, {
      ...{ type: "note", seq: 1, tone: "plain" },
      text: `attached file a.png: ${type}, 8 bytes`,
    });
  }
});

Deno.test("an image in a message is shown if it is data, and never if it is elsewhere", () => {
  const content = (image_url: string) => [{ type: "input_image", image_url }];
  const [inside] = blocksOf({ seq: 1, type: "user_message", content: content("data:image/png;base64,AAAA") });
  assert.equal(inside?.type, "image");
  for (
    const url of [
      "https://a.example/x.png",
      "data:image/svg+xml;base64,AAAA",
      "data:text/html,x",
      "javascript:x",
    ]
  ) {
    const [block] = blocksOf({ seq: 1, type: "user_message", content: content(url) });
    assert.equal(block?.type, "raw", url);
  }
});

Deno.test("an event of a later version, or without its members, is shown verbatim", () => {
  const [unknown] = blocksOf({ seq: 7, type: "from_the_future", text: "x" });
  assert.ok(
    unknown?.type === "raw" && unknown.name === "from_the_future" && unknown.text.includes('"text": "x"'),
  );
  for (
    const type of [
      "user_message",
      "assistant_message",
      "reasoning",
      "tool_call",
      "tool_result",
      "history_compaction",
      "session_fork",
      "replay_notice",
      "run_ended",
    ]
  ) {
    assert.doesNotThrow(() => blocksOf({ seq: 1, type }), type);
    assert.doesNotThrow(
      () => blocksOf({ seq: 1, type, item: 3, content: 4, summary: [null], error: "x", limitations: 5 }),
      type,
    );
  }
});

Deno.test("calls of every API are beside their results, and opaque parts are only a length and a hash", () => {
  const result = { seq: null, status: "", tone: "plain", text: "3", whole: null, took: null } as const;
  const links = { resultOf: (id: string) => id === "c1" ? result : null, fateOf: () => [] };
  const calls: readonly JsonObject[] = [
    { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":1}' },
    { type: "tool_use", id: "c1", name: "add", input: { a: 1 } },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ type: "function", id: "c1", function: { name: "add", arguments: '{"a":1}' } }],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "add", input: { a: 1 } }] },
  ];
  for (const item of calls) {
    const [block] = itemBlocks(item, "assistant", links);
    assert.ok(block?.type === "call", JSON.stringify(item));
    assert.deepEqual([block.tool, JSON.parse(block.args), block.result], ["add", { a: 1 }, result]);
  }
  for (
    const item of [
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "So." }],
        encrypted_content: "secret-part",
      },
      { type: "thinking", thinking: "So.", signature: "secret-part" },
    ]
  ) {
    const [block] = itemBlocks(item, "assistant", links);
    assert.ok(block?.type === "reasoning");
    assert.deepEqual([block.summary, block.blob?.length], [{ html: "<p>So.</p>" }, 11]);
    assert.ok(!JSON.stringify(block).includes("secret-part"));
  }
});

Deno.test("token counts of every API have one meaning", () => {
  assert.deepEqual(
    anyUsage({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
    }),
    { input: 10, cached: 4, output: 5, reasoning: 2 },
  );
  assert.deepEqual(
    anyUsage({
      prompt_tokens: 10,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens: 5,
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
    { input: 10, cached: 4, output: 5, reasoning: 2 },
  );
  assert.deepEqual(
    anyUsage({
      input_tokens: 6,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 1,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 2 },
    }),
    { input: 10, cached: 3, output: 5, reasoning: 2 },
  );
});
