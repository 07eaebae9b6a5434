import assert from "node:assert/strict";
import { parseExact } from "../../../src/domain/exact_json.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { withoutBlobs } from "../../../src/domain/without_blobs.ts";

const digest = (text: string) => ({ bytes: new TextEncoder().encode(text).length, sha256: sha256Hex(text) });

Deno.test("encrypted texts of every API become their length in bytes and their sha256, at any depth", () => {
  const items = [
    { type: "reasoning", encrypted_content: "gAAAé", summary: [] },
    { type: "thinking", thinking: "Hm", signature: "c2ln" },
    { type: "redacted_thinking", data: "ZGF0YQ==" },
    { type: "web_search_tool_result", content: [{ title: "A", encrypted_content: "x" }] },
  ];
  assert.deepEqual(withoutBlobs({ events: items.map((item) => ({ item })) }), {
    events: [
      { item: { type: "reasoning", encrypted_content: digest("gAAAé"), summary: [] } },
      { item: { type: "thinking", thinking: "Hm", signature: digest("c2ln") } },
      { item: { type: "redacted_thinking", data: digest("ZGF0YQ==") } },
      { item: { type: "web_search_tool_result", content: [{ title: "A", encrypted_content: digest("x") }] } },
    ],
  });
});

Deno.test("everything else stays: members of calls with the same names, null, and the spelling of numbers", () => {
  const text =
    '{"item":{"type":"tool_use","input":{"data":"d","signature":"s","10":1.0,"9":null}},"n":12345678901234567890}';
  assert.equal(JSON.stringify(withoutBlobs(parseExact(text) as JsonObject)), text);
  const empty = { type: "reasoning", encrypted_content: null };
  assert.deepEqual(withoutBlobs(empty), empty);
});
