import assert from "node:assert/strict";
import { paired } from "../../../../../src/cli/inspection/transcript/blocks.ts";
import { itemBlocks } from "../../../../../src/cli/inspection/transcript/items.ts";
import { BlockReader } from "../../../../../src/cli/inspection/transcript/session.ts";
import { anyUsage } from "../../../../../src/cli/inspection/transcript/usage.ts";
import type { JsonObject } from "../../../../../src/domain/json.ts";
import { shownTurn } from "../../../../../src/store/read/show.ts";

const FUNCTION = { name: "add", arguments: '{"path":"a.txt"}' };
/** One call, as each API writes it. */
const CALLS: readonly JsonObject[] = [
  { type: "function_call", call_id: "c1", ...FUNCTION },
  { type: "tool_use", id: "c1", name: "add", input: { path: "a.txt" } },
  { role: "assistant", content: null, tool_calls: [{ type: "function", id: "c1", function: FUNCTION }] },
  { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "add", input: { path: "a.txt" } }] },
];
/** Its result, as each API writes it. */
const RESULTS: readonly JsonObject[] = [
  { type: "function_call_output", call_id: "c1", output: "3" },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "3" }] }],
  },
  { role: "tool", tool_call_id: "c1", content: "3" },
];

Deno.test("a call of any API is beside its result, and only its first one", () => {
  for (const call of CALLS) {
    for (const result of RESULTS) {
      const [first = [], second] = paired([
        itemBlocks(call, "assistant"),
        [result, result].flatMap((each) => itemBlocks(each, "user")),
      ]);
      const [block] = first;
      assert.ok(block?.kind === "call", JSON.stringify(call));
      assert.deepEqual([block.name, block.subject, block.result?.text], ["add", "a.txt", "3"]);
      assert.deepEqual(second?.map(({ kind }) => kind), ["result"]);
    }
  }
});

Deno.test("the edits of our tools and of common agents are recognised, and nothing else", () => {
  const editOf = (name: string, args: unknown) => {
    const [block] = itemBlocks(
      { type: "function_call", call_id: "c", name, arguments: JSON.stringify(args) },
      "",
    );
    assert.ok(block?.kind === "call");
    return block.edit;
  };
  for (const [was, is] of [["old_text", "new_text"], ["old_string", "new_string"], ["old_str", "new_str"]]) {
    const edit = editOf("edit_file", { path: "a.ts", [was as string]: "one\n", [is as string]: "two\n" });
    assert.deepEqual(edit, { path: "a.ts", before: "one\n", after: "two\n" });
  }
  const file = { path: "b.ts", content: "one\n" };
  assert.deepEqual(editOf("write_file", file), { path: "b.ts", before: "", after: "one\n" });
  assert.equal(editOf("read_file", file), null);
  assert.equal(editOf("shell", { command: "ls" }), null);
});

Deno.test("a tool that the provider runs waits for no result", () => {
  for (
    const item of [
      { type: "web_search_call", id: "ws_1", action: { type: "search", query: "weather" } },
      { type: "server_tool_use", id: "s_1", name: "web_search", input: { query: "weather" } },
    ]
  ) {
    const [block] = itemBlocks(item, "assistant");
    assert.ok(block?.kind === "call" && block.key === null && block.subject.includes("weather"));
  }
});

Deno.test("reasoning of any API shows its summary, and of its opaque part the length", () => {
  for (
    const item of [
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "So." }],
        encrypted_content: "secret-part",
      },
      { type: "thinking", thinking: "So.", signature: "secret-part" },
      { role: "assistant", content: [{ type: "thinking", thinking: "So.", signature: "secret-part" }] },
    ]
  ) {
    const [block] = itemBlocks(item, "assistant");
    assert.ok(block?.kind === "reasoning");
    assert.deepEqual([block.about, block.text], ["reasoning, 11 bytes encrypted", "So."]);
  }
  const [spoken] = itemBlocks({ role: "assistant", reasoning_content: "So.", content: "4" }, "assistant");
  assert.ok(spoken?.kind === "reasoning" && spoken.about === "reasoning, not encrypted");
});

Deno.test("an image in a message is shown if it is data, and never if it is elsewhere", () => {
  const imageIn = (image_url: string) => {
    const turn = {
      events: [{ seq: 1, type: "user_message", content: [{ type: "input_image", image_url }] }],
    };
    const [block] = new BlockReader().blocksOf(shownTurn(1, turn, false));
    assert.ok(block?.kind === "note" && block.about === "input_image");
    return block.image;
  };
  assert.deepEqual(imageIn("data:image/png;base64,AAAA"), { src: "data:image/png;base64,AAAA" });
  for (
    const url of [
      "https://a.example/x.png",
      "data:image/svg+xml;base64,AAAA",
      "data:text/html,x",
      "javascript:x",
      'data:image/png;base64,AAAA" onload="x',
    ]
  ) assert.equal(imageIn(url), undefined, url);
});

const USAGES: readonly JsonObject[] = [
  {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 3 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
  },
  {
    prompt_tokens: 10,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens: 5,
    completion_tokens_details: { reasoning_tokens: 2 },
  },
  {
    input_tokens: 6,
    cache_read_input_tokens: 3,
    cache_creation_input_tokens: 1,
    output_tokens: 5,
    output_tokens_details: { thinking_tokens: 2 },
  },
];

Deno.test("token counts of every API have one meaning", () => {
  for (const usage of USAGES) {
    const { input_tokens, cached_tokens, output_tokens, reasoning_tokens } = anyUsage(usage);
    assert.deepEqual([input_tokens, cached_tokens, output_tokens, reasoning_tokens], [10, 3, 5, 2]);
  }
});
