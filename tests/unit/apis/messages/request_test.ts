import assert from "node:assert/strict";
import type { Item } from "../../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../../src/domain/folded.ts";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import type { RequestSpec } from "../../../../src/apis/api.ts";

const LONE = "\ud83d";
const SPEC: RequestSpec = {
  model: "claude-sonnet-5",
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

function user(text: string): FoldedEntry {
  return { kind: "user_message", content: [{ type: "input_text", text }] };
}

function said(text: string): FoldedEntry {
  return { kind: "assistant_message", item: { type: "text", text }, keepId: false };
}

function called(callId: string, item: Partial<Item> = {}): FoldedEntry {
  return {
    kind: "tool_call",
    callId,
    item: { type: "tool_use", id: callId, name: "ls", input: {}, ...item },
  };
}

function result(callId: string, output = `output of ${callId}`): FoldedEntry {
  return { kind: "tool_result", callId, callType: "tool_use", output };
}

function reasoning(item: Item): FoldedEntry {
  return { kind: "reasoning", item };
}

interface SentMessage {
  readonly role: string;
  readonly content: readonly JsonObject[];
}

function sent(entries: readonly FoldedEntry[]): readonly SentMessage[] {
  return JSON.parse(messagesApi.buildRequest({ ...SPEC, entries }).body).messages;
}

/** The blocks that one entry becomes, after a user message. */
function only(entry: FoldedEntry): JsonValue {
  return sent([entry])[0]?.content as JsonValue ?? null;
}

Deno.test("the bytes of a whole request are fixed", () => {
  const entries: FoldedEntry[] = [
    user("list files"),
    reasoning({ type: "thinking", thinking: "Look first.", signature: "EqEE", extra: 1 }),
    reasoning({ type: "redacted_thinking", data: "EmwK" }),
    said("Looking"),
    called("toolu_1", { input: { path: "." }, caller: { type: "direct" } }),
    result("toolu_1", "a.txt"),
  ];
  const request = messagesApi.buildRequest({
    model: "claude-sonnet-5",
    instructions: "You are a terminal agent.",
    tools: [LS, { ...LS, name: "read", strict: false }],
    entries,
    cacheKey: "fix-ci-7k2m",
    effort: "medium",
    summary: "auto",
    maxOutputTokens: 4096,
    outputSchema: { name: "answer", schema: { type: "object" }, strict: true },
  });
  const schema = '{"type":"object","properties":{},"required":[],"additionalProperties":false}';
  assert.equal(
    request.body,
    '{"model":"claude-sonnet-5","max_tokens":4096,"stream":true,"cache_control":{"type":"ephemeral"},' +
      '"thinking":{"type":"adaptive","display":"summarized"},' +
      '"output_config":{"effort":"medium","format":{"type":"json_schema","schema":{"type":"object"}}},' +
      '"system":[{"type":"text","text":"You are a terminal agent.","cache_control":{"type":"ephemeral"}}],' +
      `"tools":[{"name":"list_files","description":"Lists files","input_schema":${schema},"strict":true},` +
      `{"name":"read","description":"Lists files","input_schema":${schema}}],` +
      '"messages":[{"role":"user","content":[{"type":"text","text":"list files"}]},' +
      '{"role":"assistant","content":[{"type":"thinking","thinking":"Look first.","signature":"EqEE"},' +
      '{"type":"redacted_thinking","data":"EmwK"},{"type":"text","text":"Looking"},' +
      '{"type":"tool_use","id":"toolu_1","name":"ls","input":{"path":"."}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]}]}',
  );
  assert.equal(request.path, "/messages");
  assert.equal(request.items, 6);
  assert.equal(request.headers, undefined);
  assert.deepEqual(Object.keys(request.fields), [
    "model",
    "max_tokens",
    "stream",
    "cache_control",
    "thinking",
    "output_config",
    "instructions",
    "tools",
  ]);
  assert.equal(request.fields.instructions, "You are a terminal agent.");
  assert.deepEqual(request.fields.tools, [LS, { ...LS, name: "read", strict: false }]);
  assert.equal(messagesApi.bodyOf(JSON.parse(JSON.stringify(request.fields)), entries), request.body);
});

Deno.test("unset options are not in the body", () => {
  assert.equal(
    messagesApi.buildRequest({ ...SPEC, model: "claude-3-5-haiku", instructions: " \n" }).body,
    '{"model":"claude-3-5-haiku","max_tokens":8192,"stream":true,"cache_control":{"type":"ephemeral"},' +
      '"messages":[]}',
  );
});

Deno.test("each entry goes out as the blocks that the API takes", async (t) => {
  const call = { type: "function_call", call_id: "c", name: "ls", arguments: '{"a":[1]}', id: "fc_1" };
  const asked = (item: Item): FoldedEntry => ({ kind: "tool_call", item, callId: "c" });
  const use = (input: JsonObject, more: JsonObject = {}) => [
    { type: "tool_use", id: "c", name: "ls", input, ...more },
  ];
  const cite = [{ type: "char_location", cited_text: "x" }];
  const rows: [string, FoldedEntry, JsonValue][] = [
    ["text that the user gave", {
      kind: "user_message",
      content: [
        { type: "input_text", text: "a", prompt_cache_breakpoint: {} },
        { type: "input_image", image_url: "data:" },
        { type: "input_text", text: "" },
      ],
    }, [
      { type: "text", text: "a" },
      { type: "text", text: '[A part of type "input_image" is left out here]' },
    ]],
    ["own text with what it cites", {
      kind: "assistant_message",
      keepId: false,
      item: { type: "text", text: "a", citations: cite, extra: 1 },
    }, [{ type: "text", text: "a", citations: cite }]],
    ["own text that cites nothing", {
      kind: "assistant_message",
      keepId: false,
      item: { type: "text", text: "a", citations: null },
    }, [{ type: "text", text: "a" }]],
    ["blank text, which the API refuses", said("\n\n"), null],
    ["a message of the other API", {
      kind: "assistant_message",
      keepId: true,
      item: {
        type: "message",
        id: "msg_1",
        role: "assistant",
        phase: "commentary",
        content: [
          { type: "output_text", text: "a", annotations: [] },
          { type: "output_text", text: "" },
          { type: "refusal", refusal: "b" },
        ],
      },
    }, [{ type: "text", text: "a" }, { type: "text", text: "b" }]],
    ["a message whose content is text", {
      kind: "assistant_message",
      keepId: true,
      item: { type: "message", role: "assistant", content: "a" },
    }, [{ type: "text", text: "a" }]],
    ["own thinking without text", reasoning({ type: "thinking", thinking: "", signature: "E", id: "x" }), [
      { type: "thinking", thinking: "", signature: "E" },
    ]],
    ["thinking without a signature", reasoning({ type: "thinking", thinking: "a" }), null],
    [
      "thinking of the other API, whatever it carries",
      reasoning({
        type: "reasoning",
        id: "rs_1",
        summary: [],
        thinking: "t",
        encrypted_content: "gAAA",
        signature: "E",
        data: "E",
      }),
      null,
    ],
    ["a call of the other API", asked(call), use({ a: [1] })],
    ["arguments that are not JSON", asked({ ...call, arguments: '{"a":' }), use({ INVALID_JSON: '{"a":' })],
    ["arguments that are no object", asked({ ...call, arguments: "[1]" }), use({ INVALID_JSON: "[1]" })],
    [
      "own input that is not JSON",
      asked({ type: "tool_use", name: "ls", input: '{"a":' }),
      use({
        INVALID_JSON: '{"a":',
      }),
    ],
    [
      "own input that is no object",
      asked({ type: "tool_use", name: "ls", input: [1] }),
      use({
        INVALID_JSON: "[1]",
      }),
    ],
    ["no arguments", asked({ type: "function_call", name: "ls" }), use({})],
    [
      "a custom call",
      asked({ type: "custom_tool_call", name: "ls", input: "SELECT 1" }),
      use({ input: "SELECT 1" }),
    ],
    [
      "a name that the API does not take",
      asked({ ...call, name: "functions.ls" }),
      use({ a: [1] }, {
        name: "functions_ls",
      }),
    ],
    ["a result", result("c", "a"), [{ type: "tool_result", tool_use_id: "c", content: "a" }]],
    ["a result without text", result("c", ""), [{ type: "tool_result", tool_use_id: "c" }]],
    ["a result that is an error", {
      kind: "tool_result",
      callId: "c",
      callType: "x",
      output: "a",
      isError: true,
    }, [
      { type: "tool_result", tool_use_id: "c", content: "a", is_error: true },
    ]],
    ["other blocks verbatim, but for what was refused", {
      kind: "provider_item",
      item: { zebra: 1, type: "server_tool_use", id: "srvtoolu_1", input: {}, caller: null },
      omit: ["caller"],
    }, [{ zebra: 1, type: "server_tool_use", id: "srvtoolu_1", input: {} }]],
  ];
  for (const [name, entry, expected] of rows) {
    await t.step(name, () => assert.equal(JSON.stringify(only(entry)), JSON.stringify(expected)));
  }
});

Deno.test("an id that the API does not take is changed alike on the call and on its result", () => {
  const [asking, answering] = sent([called("functions.ls:0"), result("functions.ls:0")]);
  const id = asking?.content[0]?.id;
  assert.match(String(id), /^call_[0-9a-f]{24}$/);
  assert.equal(answering?.content[0]?.tool_use_id, id);
});

Deno.test("neighbours of one role share a message, and results come first and in call order", async (t) => {
  const shape = (entries: readonly FoldedEntry[]) =>
    sent(entries).map(({ role, content }) =>
      `${role[0]}: ${content.map((block) => block.text ?? block.id ?? `=${block.tool_use_id}`).join(" ")}`
    );
  const rows: [string, FoldedEntry[], string[]][] = [
    ["alternating", [user("a"), said("b"), said("c"), user("d"), user("e")], ["u: a", "a: b c", "u: d e"]],
    ["results out of order", [user("a"), called("A"), called("B"), result("B"), result("A")], [
      "u: a",
      "a: A B",
      "u: =A =B",
    ]],
    ["a question between call and result", [
      called("A"),
      called("B"),
      user("q"),
      result("B"),
      result("A"),
      said("z"),
    ], [
      "a: A B",
      "u: =A =B q",
      "a: z",
    ]],
    ["answers of two responses", [called("A"), result("A"), called("B"), result("B"), user("q")], [
      "a: A",
      "u: =A",
      "a: B",
      "u: =B q",
    ]],
    ["a late result", [called("A"), user("q"), said("b"), user("r"), result("A")], [
      "a: A",
      "u: =A q",
      "a: b",
      "u: r",
    ]],
    ["a result before its call", [user("q"), result("A"), called("A")], ["u: q", "a: A", "u: =A"]],
    ["text after the calls of one response", [called("A"), said("b"), result("A")], ["a: A b", "u: =A"]],
    ["a result without its call stays where it is", [user("q"), said("b"), result("X"), user("r")], [
      "u: q",
      "a: b",
      "u: =X r",
    ]],
    ["nothing to say is no message", [user(""), said(" "), user("q"), said(""), user("r")], ["u: q r"]],
  ];
  for (const [name, entries, expected] of rows) {
    await t.step(name, () => assert.deepEqual(shape(entries), expected));
  }
});

Deno.test("no lone surrogate leaves the house, and signatures and data are not touched", () => {
  const { body } = messagesApi.buildRequest({
    ...SPEC,
    instructions: `a${LONE}`,
    tools: [{ ...LS, description: `b${LONE}` }],
    entries: [
      user(`c${LONE}`),
      { kind: "provider_item", item: { type: "x", [`d${LONE}`]: { e: [LONE] } } },
      called("toolu_1", { input: { [`f${LONE}`]: LONE } }),
      result("toolu_1", `g${LONE}`),
    ],
  });
  assert.doesNotMatch(body, /\\ud/);
  assert.equal(body.split("\ufffd").length - 1, 8);
  assert.deepEqual(only(reasoning({ type: "thinking", thinking: LONE, signature: LONE })), [
    { type: "thinking", thinking: "\ufffd", signature: LONE },
  ]);
  assert.deepEqual(only(reasoning({ type: "redacted_thinking", data: LONE })), [
    { type: "redacted_thinking", data: LONE },
  ]);
});
