import assert from "node:assert/strict";
import fc from "fast-check";
import type { Item } from "../../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../../src/domain/folded.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { RequestSpec } from "../../../../src/apis/api.ts";
import { test } from "../../../support/test.ts";

const LONE = "\ud83d";
const SPEC: RequestSpec = {
  model: "gpt-5.6",
  instructions: "",
  tools: [],
  entries: [],
  cacheKey: "family-1",
};
const LS: JsonObject = {
  type: "function",
  name: "list_files",
  description: "Lists files",
  parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
  strict: true,
};

function inputOf(entries: readonly FoldedEntry[]): JsonObject[] {
  return JSON.parse(responsesApi.buildRequest({ ...SPEC, entries }).body).input;
}

function only(entry: FoldedEntry): string {
  return JSON.stringify(inputOf([entry])[0]);
}

Deno.test("the bytes of a whole request are fixed", () => {
  const request = responsesApi.buildRequest({
    model: "gpt-5.6",
    instructions: "You are a terminal agent.",
    tools: [LS],
    entries: [
      { kind: "user_message", content: [{ type: "input_text", text: "list files" }] },
      {
        kind: "reasoning",
        item: {
          id: "rs_1",
          type: "reasoning",
          summary: [],
          encrypted_content: "gAAAA",
          content: [],
          status: null,
        },
      },
      {
        kind: "assistant_message",
        keepId: true,
        item: {
          id: "msg_1",
          type: "message",
          status: "completed",
          content: [{ type: "output_text", annotations: [], text: "Looking" }],
          phase: "commentary",
          role: "assistant",
        },
      },
      {
        kind: "tool_call",
        callId: "call_1",
        item: {
          id: "fc_1",
          type: "function_call",
          status: "completed",
          arguments: "{}",
          call_id: "call_1",
          name: "list_files",
        },
      },
      { kind: "tool_result", callId: "call_1", callType: "function_call", output: "a.txt" },
    ],
    cacheKey: "fix-ci-7k2m",
    effort: "medium",
    summary: "auto",
    maxOutputTokens: 4096,
    outputSchema: { name: "answer", schema: { type: "object" }, strict: true },
  });
  assert.equal(
    request.body,
    '{"model":"gpt-5.6","store":false,"stream":true,"include":["reasoning.encrypted_content"],' +
      '"stream_options":{"include_obfuscation":false},"prompt_cache_key":"fix-ci-7k2m",' +
      '"instructions":"You are a terminal agent.","reasoning":{"effort":"medium","summary":"auto"},' +
      '"tools":[{"type":"function","name":"list_files","description":"Lists files",' +
      '"parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}],' +
      '"max_output_tokens":4096,' +
      '"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"},"strict":true}},' +
      '"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"list files"}]},' +
      '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAA"},' +
      '{"id":"msg_1","type":"message","content":[{"type":"output_text","annotations":[],"text":"Looking"}],' +
      '"phase":"commentary","role":"assistant"},' +
      '{"type":"function_call","arguments":"{}","call_id":"call_1","name":"list_files"},' +
      '{"type":"function_call_output","call_id":"call_1","output":"a.txt"}]}',
  );
  assert.equal(request.path, "/responses");
  assert.equal(request.items, 5);
  const { input: _, ...rest } = JSON.parse(request.body);
  assert.equal(JSON.stringify(request.fields), JSON.stringify(rest));
});

Deno.test("unset options are not in the body", () => {
  assert.equal(
    responsesApi.buildRequest(SPEC).body,
    '{"model":"gpt-5.6","store":false,"stream":true,"include":["reasoning.encrypted_content"],' +
      '"stream_options":{"include_obfuscation":false},"prompt_cache_key":"family-1","input":[]}',
  );
});

Deno.test("each item goes out with what every server accepts, in its own order", async (t) => {
  const reasoning = { type: "reasoning", summary: [], encrypted_content: "gAAAA", id: "rs_1" };
  const message = { type: "message", role: "assistant", content: "Hi", id: "msg_1" };
  const call = { type: "function_call", name: "ls", arguments: "{}", call_id: "c" };
  const custom = { type: "custom_tool_call", name: "sql", input: "SELECT 1", call_id: "c" };
  const rows: [string, FoldedEntry, JsonObject][] = [
    ["reasoning text of open models is kept", {
      kind: "reasoning",
      item: { ...reasoning, content: [{ type: "reasoning_text", text: "x" }], status: "completed" },
    }, { ...reasoning, content: [{ type: "reasoning_text", text: "x" }] }],
    ["an absent blob and summary (gpt-oss, Azure's null)", {
      kind: "reasoning",
      item: { type: "reasoning", id: "rs_1", encrypted_content: null },
    }, { type: "reasoning", id: "rs_1", summary: [] }],
    ["a message without its id", { kind: "assistant_message", item: message, keepId: false }, {
      type: "message",
      role: "assistant",
      content: "Hi",
    }],
    ["a null phase is no phase", {
      kind: "assistant_message",
      item: { ...message, phase: null },
      keepId: true,
    }, message],
    ["a call never has an id, and keeps its namespace", {
      kind: "tool_call",
      item: { id: "fc_1", ...call, namespace: "files", status: null },
      callId: "c",
    }, { ...call, namespace: "files" }],
    ["a name that no API takes is changed in place", {
      kind: "tool_call",
      item: { ...call, name: "functions.ls" },
      callId: "c",
    }, { ...call, name: "functions_ls" }],
    ["a repeated call id is replaced in place", { kind: "tool_call", item: call, callId: "c-2" }, {
      ...call,
      call_id: "c-2",
    }],
    ["missing arguments, which the API refuses", {
      kind: "tool_call",
      item: { type: "function_call", call_id: "c", name: "ls" },
      callId: "c",
    }, { type: "function_call", call_id: "c", name: "ls", arguments: "{}" }],
    ["arguments as an object", {
      kind: "tool_call",
      item: { ...call, arguments: { a: 1 } },
      callId: "c",
    }, { ...call, arguments: '{"a":1}' }],
    ["a custom call loses status and id", {
      kind: "tool_call",
      item: { ...custom, id: "ctc_1", status: "completed" },
      callId: "c",
    }, custom],
    ["the output of a custom call", {
      kind: "tool_result",
      callId: "c",
      callType: "custom_tool_call",
      output: "1",
    }, {
      type: "custom_tool_call_output",
      call_id: "c",
      output: "1",
    }],
    ["hosted tools keep the status that they require", {
      kind: "provider_item",
      item: {
        id: "ws_1",
        type: "web_search_call",
        status: "completed",
        created_by: "x",
        action: { query: "q" },
      },
    }, { id: "ws_1", type: "web_search_call", status: "completed", action: { query: "q" } }],
    ["older client tools too", {
      kind: "provider_item",
      item: { id: "lsh_1", type: "local_shell_call", status: "completed", call_id: "c", action: {} },
    }, { id: "lsh_1", type: "local_shell_call", status: "completed", call_id: "c", action: {} }],
    ["a compaction does not", {
      kind: "provider_item",
      item: { type: "compaction", id: "cmp_1", status: "completed", encrypted_content: "g", created_by: "x" },
    }, { type: "compaction", id: "cmp_1", encrypted_content: "g" }],
    ["unknown types are verbatim", {
      kind: "provider_item",
      item: { type: "new_call", zebra: 1, alpha: [null] },
    }, { type: "new_call", zebra: 1, alpha: [null] }],
  ];
  for (const [name, entry, expected] of rows) {
    await t.step(name, () => assert.equal(only(entry), JSON.stringify(expected)));
  }
});

Deno.test("no lone surrogate leaves the house, and blobs are not touched", () => {
  const body = responsesApi.buildRequest({
    ...SPEC,
    instructions: `a${LONE}`,
    tools: [{ ...LS, description: `b${LONE}` }],
    entries: [
      { kind: "tool_result", callId: "c", callType: "function_call", output: `c${LONE}` },
      { kind: "user_message", content: [{ type: "input_text", text: `d${LONE}` }] },
      { kind: "provider_item", item: { type: "x", [`e${LONE}`]: { f: [LONE] } } },
    ],
  }).body;
  assert.doesNotMatch(body, /\\ud/);
  assert.equal(body.split("\ufffd").length - 1, 6);
  const item: Item = { type: "reasoning", id: "rs_1", summary: [LONE], encrypted_content: `g${LONE}` };
  const sent = inputOf([{ kind: "reasoning", item }])[0] as JsonObject;
  assert.deepEqual([sent.summary, sent.encrypted_content], [["\ufffd"], `g${LONE}`]);
  // A backslash before "ud" in the text itself is no surrogate.
  const path = "C:\\udata\\ud83d";
  assert.equal(inputOf([{ kind: "tool_result", callId: "c", callType: "x", output: path }])[0]?.output, path);
});

const text = fc.string({ unit: "binary", maxLength: 30 });
const anyItem = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
const entry: fc.Arbitrary<FoldedEntry> = fc.oneof(
  fc.record({
    kind: fc.constant("user_message" as const),
    content: fc.array(itemOf("input_text"), { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant("assistant_message" as const),
    item: itemOf("message"),
    keepId: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("reasoning" as const), item: itemOf("reasoning") }),
  fc.record({
    kind: fc.constant("tool_call" as const),
    item: fc.oneof(itemOf("function_call"), itemOf("custom_tool_call")),
    callId: text,
  }),
  fc.record({
    kind: fc.constant("tool_result" as const),
    callId: text,
    callType: fc.constantFrom("function_call", "custom_tool_call"),
    output: text,
  }),
  fc.record({ kind: fc.constant("provider_item" as const), item: itemOf("web_search_call") }),
);

function itemOf(type: string): fc.Arbitrary<Item> {
  const known = fc.record({
    id: text,
    call_id: text,
    name: text,
    arguments: text,
    input: text,
    summary: fc.array(text),
  }, {
    requiredKeys: [],
  });
  return fc.tuple(known, anyItem, text).map(([a, b, blob]) =>
    ({ ...a, ...b, type, encrypted_content: blob }) as Item
  );
}

test.long("the input of a request is an exact byte prefix of the next one's", () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 8 }),
      fc.array(entry, { minLength: 1, maxLength: 4 }),
      (history, more) => {
        const spec = { ...SPEC, instructions: "x", effort: "low" };
        const first = responsesApi.buildRequest({ ...spec, entries: history });
        const second = responsesApi.buildRequest({ ...spec, entries: [...history, ...more] });
        const cut = first.body.slice(0, -2);
        assert.ok(first.body.endsWith("]}") && second.body.startsWith(cut));
        assert.match(second.body.slice(cut.length), history.length === 0 ? /^\{/ : /^,\{/);
        assert.equal(JSON.parse(second.body).input.length, second.items);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("a request built from parsed JSON equals the one built from the values it was written from", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
      const memory = responsesApi.buildRequest({ ...SPEC, entries }).body;
      const disk = responsesApi.buildRequest({ ...SPEC, entries: JSON.parse(JSON.stringify(entries)) }).body;
      assert.equal(disk, memory);
    }),
    { numRuns: 200 },
  );
});
