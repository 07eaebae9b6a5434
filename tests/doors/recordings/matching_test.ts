/** Pairs of a recorded and a received request that are one request to the API of their path, or two. */
import type { Json } from "../../support/files.ts";
import { type Row, rows, sent } from "./served.ts";
import { ask, call, chat, claude, output, says, talk, user } from "./shapes.ts";

const FLAGS = ["--rules", "none"];
const CLAUDE = "/v1/messages";

/** A pair, with what the received request is answered. */
const pair = (recorded: Json, received: Json, outcome: string, path = "/v1/responses"): Row => ({
  ...{ path, recorded: [recorded], asked: [[received, outcome]] },
  ...(path.startsWith(CLAUDE)
    ? { header: { provider: "anthropic", base_url: "https://api.anthropic.com" } }
    : {}),
});

const gemini = (calls: readonly string[], results = calls): Json => ({
  contents: [
    { role: "model", parts: calls.map((id) => ({ functionCall: { name: "ls", args: { id: "a" }, id } })) },
    {
      role: "user",
      parts: results.map((id) => ({ functionResponse: { name: "ls", response: { output: "a" }, id } })),
    },
  ],
});
const GEMINI = "/v1beta/models/m:generateContent";
const approval = (approval_request_id: string) =>
  talk(
    { type: "mcp_approval_request", id: "a" },
    { type: "mcp_approval_request", id: "b" },
    { type: "mcp_approval_response", approval_request_id },
  );
const thought = (more: Json) => talk({ type: "reasoning", ...more });
const uses = (...ids: string[]) => says(ids.map((id) => ({ type: "tool_use", id, name: "x", input: {} })));
const result = (tool_use_id: string, content = tool_use_id) => ({
  type: "tool_result",
  tool_use_id,
  content,
});
const text = (text: string, more: Json = {}) => ({ type: "text", text, ...more });
const tool = (name: string, more: Json = {}) => ({ type: "function", name, ...more });
const two = (...ids: readonly string[]) =>
  talk(user("Hi"), call("a"), call("b"), ...ids.map((id) => output(id, id)));

rows("members and ids count, or do not", {
  "another order of members": pair({ model: "m", input: [user("Hi")] }, {
    input: [{ content: "Hi", role: "user" }],
    model: "m",
  }, "1 semantic"),
  "what names the client, its session and its cache": pair(
    ask("Hi", { prompt_cache_key: "a", metadata: { a: "1" }, client_metadata: {}, user: "a" }),
    ask("Hi", {
      prompt_cache_key: "b",
      safety_identifier: "b",
      stream_options: { include_obfuscation: false },
    }),
    "1 semantic",
  ),
  "a call without its id": pair(
    talk(call("c", { id: "fc_1" }), output("c")),
    talk(call("c"), output("c")),
    "1 semantic",
  ),
  "call ids renamed in both places": pair(
    talk(call("c"), output("c")),
    talk(call("d"), output("d")),
    "1 semantic",
  ),
  "a call id renamed in one place": pair(
    talk(call("c"), output("c")),
    talk(call("d"), output("c")),
    "miss 1 input[1].call_id",
  ),
  "calls joined": pair(talk(call("c"), call("d")), talk(call("c"), call("c")), "miss 1 input[1].call_id"),
  "a reference to another item": pair(
    talk({ type: "item_reference", id: "a" }),
    talk({ type: "item_reference", id: "b" }),
    "miss 1 input[0].id",
  ),
  "a reference in its short form": pair(talk({ id: "a" }), talk({ id: "b" }), "miss 1 input[0].id"),
  "another continued response": pair(
    ask("Hi", { previous_response_id: "a" }),
    ask("Hi", { previous_response_id: "b" }),
    "miss 1 previous_response_id",
  ),
  "an approval of another request": pair(approval("a"), approval("b"), "miss 1 input[2].approval_request_id"),
  "an unknown blob": pair(
    thought({ encrypted_content: "a" }),
    thought({ encrypted_content: "b" }),
    "miss 1 input[0].encrypted_content",
  ),
  "a summary": pair(
    thought({ summary: [] }),
    thought({ summary: [{ text: "x" }] }),
    "miss 1 input[0].summary[0]",
  ),
  "a phase": pair(talk({ ...says("a"), phase: "commentary" }), talk(says("a")), "miss 1 input[0].phase"),
  "what a model's item has without a value": pair(
    talk({
      ...says([{ type: "output_text", text: "a", annotations: [], logprobs: [] }]),
      status: "completed",
      type: "message",
    }),
    talk({ ...says([{ type: "output_text", text: "a" }]), type: "message", phase: null }),
    "1 semantic",
  ),
  "a tool's parameter called metadata": pair(
    ask("Hi", { tools: [{ parameters: { metadata: 1 } }] }),
    ask("Hi", { tools: [{ parameters: {} }] }),
    "miss 1 tools[0].parameters.metadata",
  ),
  "a breakpoint of the cache": pair(
    ask([{ type: "input_text", text: "a", prompt_cache_breakpoint: { mode: "explicit" } }]),
    ask([{ type: "input_text", text: "a" }]),
    "1 semantic",
  ),
  "the input as text": pair({ model: "m", input: "Hi" }, { model: "m", input: "Ho" }, "miss 1 input"),
  "an item more": pair(talk(user("Hi")), talk(user("Hi"), user("Hi")), "miss 1 input[1]"),
  "an item less at the front": pair(talk(call("c"), user("Hi")), ask("Hi"), "miss 1 input[0]"),
  "a member called __proto__": pair(
    '{"model":"m","input":[],"__proto__":{"a":1}}',
    '{"model":"m","input":[]}',
    "miss 1 __proto__",
  ),
  "a member with an odd name": pair(
    ask("Hi", { "odd name": 1 }),
    ask("Hi", { "odd name": 2 }),
    'miss 1 ["odd name"]',
  ),
  "an item of another kind": pair(
    talk(user("Hi"), { id: "rs_1", summary: [], type: "reasoning" }),
    talk(user("Hi"), call("c")),
    "miss 1 input[1].type",
  ),
  "Gemini: ids of calls from a clock": pair(
    gemini(["ls_1_0", "ls_1_1"]),
    gemini(["ls_9_0", "ls_9_1"]),
    "1 semantic",
    GEMINI,
  ),
  "Gemini: results changed for each other": pair(
    gemini(["ls_1_0", "ls_1_1"]),
    gemini(["ls_2_0", "ls_2_1"], ["ls_2_1", "ls_2_0"]),
    "miss 1 contents[1].parts[0].functionResponse.id",
    GEMINI,
  ),
  "Messages: moved breakpoints": pair(
    claude([user([text("a")])], { system: [text("s", { cache_control: {} })] }),
    claude([user([text("a", { cache_control: {} })])], { system: [text("s")], cache_control: {} }),
    "1 semantic",
    CLAUDE,
  ),
  "Messages: renamed uses": pair(
    claude([uses("a"), user([result("a", "x")])]),
    claude([uses("b"), user([result("b", "x")])]),
    "1 semantic",
    CLAUDE,
  ),
  "Messages: another signature": pair(
    claude([says([{ type: "thinking", thinking: "a", signature: "a" }])]),
    claude([says([{ type: "thinking", thinking: "a", signature: "b" }])]),
    "miss 1 messages[0].content[0].signature",
    CLAUDE,
  ),
  "Chat: null where there is nothing": pair(
    chat([user("Hi"), { role: "assistant", content: "a", refusal: null, audio: null }]),
    chat([user("Hi"), { role: "assistant", content: "a" }]),
    "1 semantic",
    "/v1/chat/completions",
  ),
}, { flags: FLAGS });

rows("the order of results and tools is free, any other order counts", {
  "results of a batch": pair(two("a", "b"), two("b", "a"), "1 semantic"),
  "results that change their outputs": pair(
    two("a", "b"),
    talk(user("Hi"), call("a"), call("b"), output("a", "b"), output("b", "a")),
    "miss 1 input[3].output",
  ),
  "results that text parts": pair(
    talk(call("a"), call("b"), output("a", "1"), user("x"), output("b", "2")),
    talk(call("a"), call("b"), output("b", "2"), user("x"), output("a", "1")),
    "miss 1 input[2].call_id",
  ),
  "results without calls": pair(
    talk(output("a", "1"), output("b", "2")),
    talk(output("b", "2"), output("a", "1")),
    "miss 1 input[0].output",
  ),
  "results of a batch of Messages, before text": pair(
    claude([uses("a", "b"), user([result("a"), result("b"), text("x")])]),
    claude([uses("a", "b"), user([result("b"), result("a"), text("x")])]),
    "1 semantic",
    CLAUDE,
  ),
  "results after text in a message": pair(
    claude([uses("a", "b"), user([text("x"), result("a"), result("b")])]),
    claude([uses("a", "b"), user([text("x"), result("b"), result("a")])]),
    "miss 1 messages[1].content[1].tool_use_id",
    CLAUDE,
  ),
  "messages": pair(talk(user("a"), user("b")), talk(user("b"), user("a")), "miss 1 input[0].content"),
  "parts of a text": pair(ask(["a", "b"]), ask(["b", "a"]), "miss 1 input[0].content[0]"),
  "tools, also in a namespace": pair(
    ask("Hi", {
      tools: [tool("a"), tool("b"), { type: "namespace", name: "n", tools: [tool("c"), tool("d")] }],
    }),
    ask("Hi", {
      tools: [{ type: "namespace", name: "n", tools: [tool("d"), tool("c")] }, tool("b"), tool("a")],
    }),
    "1 semantic",
  ),
  "a tool with another description, in another order": pair(
    ask("Hi", { tools: [tool("a"), tool("b")] }),
    ask("Hi", { tools: [tool("b", { description: "x" }), tool("a")] }),
    "miss 1 tools[0].description",
  ),
  "a missing tool has its recorded place": pair(
    ask("Hi", { tools: [tool("c"), tool("b"), tool("a")] }),
    ask("Hi", { tools: [tool("a"), tool("c")] }),
    "miss 1 tools[1]",
  ),
  "a result that differs has its received place": pair(
    two("a", "b"),
    talk(user("Hi"), call("a"), call("b"), output("b", "b"), output("a", "changed")),
    "miss 1 input[4].output",
  ),
  "tools of one name": pair(
    claude([user("Hi")], { tools: [{ name: "a", cache_control: {} }, { name: "a", x: 1 }] }),
    claude([user("Hi")], { tools: [{ name: "a", x: 1, cache_control: {} }, { name: "a" }] }),
    "1 semantic",
    CLAUDE,
  ),
  "other lists": pair(
    ask("Hi", { include: ["a", "b"] }),
    ask("Hi", { include: ["b", "a"] }),
    "miss 1 include[0]",
  ),
  "tools of an unknown API": pair(
    { tools: ["a", "b"] },
    { tools: ["b", "a"] },
    "miss 1 tools[0]",
    "/v1/other",
  ),
}, { flags: FLAGS });

/** Texts of one member in two requests, and what the second is answered. */
const NUMBERS: readonly (readonly [recorded: string, received: string, isSame: boolean])[] = [
  ['"n":9007199254740992', '"n":9007199254740993', false],
  ['"n":1e400', '"n":1e500', false],
  ['"n":1e400', '"n":null', false],
  ['"n":0.1', '"n":0.10000000000000000001', false],
  ['"n":1e-400', '"n":0', false],
  ['"n":{"rawJSON":"1e400"}', '"n":1e400', false],
  ['"n":1', '"n":1.0', true],
  ['"n":-0', '"n":0', true],
  ['"n":100', '"n":1.0E2', true],
  // Servers differ in which member they read.
  ['"n":1,"n":2', '"n":2', false],
  ['"n":1,"n":2', '"n":3,"n":2', false],
  ['"a":{"n":1,"\\u006e":2}', '"a":{"n":2}', false],
];
const BODIES: Readonly<Record<string, (text: string) => string>> = {
  "member": (text) => `{"model":"m",${text},"messages":[]}`,
  "item": (text) => `{"model":"m","messages":[{"role":"user","content":"Hi",${text}}]}`,
  "tool's arguments": (text) =>
    `{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{"y":1,${text}}}]}]}`,
};
for (const match of ["exact", "semantic", "conversation"]) {
  rows(
    `a request never gets the answer of another with another number or a member twice: ${match}`,
    Object.fromEntries(
      Object.entries(BODIES).flatMap(([place, bodyOf]) =>
        NUMBERS.map(([recorded, received, isSame]) => [`${recorded} and ${received} in a ${place}`, {
          ...pair(bodyOf(recorded), bodyOf(received), isSame && match !== "exact" ? "1" : "miss", CLAUDE),
        }])
      ),
    ),
    {
      flags: [...FLAGS, "--match", match],
      outcome: ({ events: [event] }) =>
        event.type === "miss" && event.differences.length > 0 ? "miss" : String(event.number),
    },
  );
}

rows("paths and queries", {
  "parameters in another order": {
    recorded: [sent("", { method: "GET", path: "/v1/files?a=1&b=2" })],
    asked: [
      [sent("", { method: "GET", path: "/v1/files?b=2&a=1" }), "1 semantic"],
    ],
  },
  "parameters of one name in another order": {
    recorded: [sent("", { method: "GET", path: "/v1/files?a=1&a=2" })],
    asked: [
      [sent("", { method: "GET", path: "/v1/files?a=2&a=1" }), "miss"],
    ],
  },
  "another method or query": {
    recorded: ["/v1/models", "/v1/models?limit=2"].map((path) => sent("", { method: "GET", path })),
    asked: [
      [sent("", { method: "GET", path: "/v1/models?limit=3" }), "miss"],
      [sent("", { method: "DELETE", path: "/v1/models" }), "miss"],
      [sent("", { method: "GET", path: "/v1/models?limit=2" }), "2 exact"],
      [sent("", { method: "GET", path: "/v1/models" }), "1 exact"],
    ],
  },
  "the query of beta requests of Messages": {
    recorded: [sent(claude([user("Hi")]), { path: "/v1/messages?beta=true&q=a?b" })],
    asked: [
      ...["/v1/messages?q=a?c", "/v1/messages?q=a", "/v1/messages?beta=false&q=a?b"].map((path) =>
        [sent(claude([user("Hi")]), { path }), "miss"] as const
      ),
      [sent(claude([user("Hi")]), { path: "/v1/messages?q=a?b" }), "1 semantic"],
    ],
  },
  "the API that a recording names for its path": {
    header: { provider: "compatible", base_url: "https://gateway.example" },
    recorded: [
      sent(claude([user([text("a", { cache_control: {} })])]), {
        path: "/gateway/claude?beta=true",
        api: "messages",
      }),
    ],
    asked: [[
      sent(claude([user([text("a")])], { metadata: {} }), { path: "/gateway/claude?beta=true" }),
      "1 semantic",
    ]],
  },
  "the same query where the API is none of a model": {
    header: { provider: "compatible", base_url: "http://127.0.0.1:8080" },
    recorded: [sent({ text: "Hi" }, { path: "/chat/messages?beta=true" })],
    asked: [[sent({ text: "Hi" }, { path: "/chat/messages" }), "miss"]],
  },
}, { flags: FLAGS });
