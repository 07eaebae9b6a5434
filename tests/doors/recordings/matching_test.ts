/** Pairs of a recorded and a received request that are one request to the API of their path, or two. */
import type { Json } from "../../support/files.ts";
import { type Row, rows, sent } from "./served.ts";
import { ask, call, called, claude, output, says, talk, user } from "./shapes.ts";

const FLAGS = ["--rules", "none"];
const CLAUDE = "/v1/messages";

/** A pair, with what the received request is answered. */
const pair = (recorded: Json, received: Json, outcome: string, path = "/v1/responses"): Row => ({
  ...{ path, recorded: [recorded], asked: [[received, outcome]] },
  ...(path.startsWith(CLAUDE)
    ? { header: { provider: "anthropic", base_url: "https://api.anthropic.com" } }
    : {}),
});

const members = (recorded: Json, received: Json, outcome: string) =>
  pair(ask("Hi", recorded), ask("Hi", received), outcome);
const items = (recorded: readonly Json[], received: readonly Json[], outcome: string) =>
  pair(talk(...recorded), talk(...received), outcome);
const messages = (
  recorded: readonly Json[],
  received: readonly Json[],
  outcome: string,
  more: readonly Json[] = [],
) => pair(claude(recorded, more[0]), claude(received, more[1]), outcome, CLAUDE);

const gemini = (calls: readonly string[], results = calls): Json => {
  const parts = calls.map((id) => ({ functionCall: { name: "ls", args: { id: "a" }, id } }));
  const responses = results.map((id) => ({
    functionResponse: { name: "ls", response: { output: "a" }, id },
  }));
  return { contents: [{ role: "model", parts }, { role: "user", parts: responses }] };
};
const GEMINI = "/v1beta/models/m:generateContent";
const approval = (approval_request_id: string) => [
  ...["a", "b"].map((id) => ({ type: "mcp_approval_request", id })),
  { type: "mcp_approval_response", approval_request_id },
];
const uses = (...ids: string[]) => says(ids.map((id) => ({ type: "tool_use", id, name: "x", input: {} })));
const result = (tool_use_id: string, content = tool_use_id) => ({
  type: "tool_result",
  tool_use_id,
  content,
});
const text = (text: string, more: Json = {}) => ({ type: "text", text, ...more });
const tool = (name: string, more: Json = {}) => ({ type: "function", name, ...more });
const space = (...tools: readonly Json[]) => ({ type: "namespace", name: "n", tools });
const BATCH = [user("Hi"), call("a"), call("b")];
const [A, B] = [output("a", "a"), output("b", "b")];
const part = (more: Json) => [{ type: "input_text", text: "a", ...more }];
const said = (more: Json, text: Json = {}) => ({
  ...says([{ type: "output_text", text: "a", ...text }]),
  ...{ type: "message", ...more },
});

rows("members and ids count, or do not", {
  "another order of members": pair({ model: "m", input: [user("Hi")] }, {
    input: [{ content: "Hi", role: "user" }],
    model: "m",
  }, "1 semantic"),
  "what names the client, its session and its cache": members(
    { prompt_cache_key: "a", metadata: { a: "1" }, client_metadata: {}, user: "a" },
    { prompt_cache_key: "b", safety_identifier: "b", stream_options: { include_obfuscation: false } },
    "1 semantic",
  ),
  "a call without its id": items(
    [call("c", { id: "fc_1" }), output("c")],
    [call("c"), output("c")],
    "1 semantic",
  ),
  "call ids renamed in both places": items([call("c"), output("c")], [call("d"), output("d")], "1 semantic"),
  "a call id renamed in one place": items(called("c"), [call("d"), output("c")], "miss 1 input[1].call_id"),
  "another continued response": members(
    { previous_response_id: "a" },
    { previous_response_id: "b" },
    "miss 1 previous_response_id",
  ),
  "an approval of another request": items(
    approval("a"),
    approval("b"),
    "miss 1 input[2].approval_request_id",
  ),
  "what a model's item has without a value": items(
    [said({ status: "completed" }, { annotations: [], logprobs: [] })],
    [said({ phase: null })],
    "1 semantic",
  ),
  "a tool's parameter called metadata": members(
    { tools: [{ parameters: { metadata: 1 } }] },
    { tools: [{ parameters: {} }] },
    "miss 1 tools[0].parameters.metadata",
  ),
  "a breakpoint of the cache": pair(
    ask(part({ prompt_cache_breakpoint: { mode: "explicit" } })),
    ask(part({})),
    "1 semantic",
  ),
  "a member called __proto__": pair(
    '{"model":"m","input":[],"__proto__":{"a":1}}',
    '{"model":"m","input":[]}',
    "miss 1 __proto__",
  ),
  "Gemini: ids of calls from a clock": pair(
    gemini(["ls_1", "ls_2"]),
    gemini(["ls_8", "ls_9"]),
    "1 semantic",
    GEMINI,
  ),
  "Gemini: results changed for each other": pair(
    gemini(["ls_1", "ls_2"]),
    gemini(["ls_8", "ls_9"], ["ls_9", "ls_8"]),
    ...["miss 1 contents[1].parts[0].functionResponse.id", GEMINI] as const,
  ),
  "Messages: moved breakpoints": messages(
    [user([text("a")])],
    [user([text("a", { cache_control: {} })])],
    "1 semantic",
    [{ system: [text("s", { cache_control: {} })] }, { system: [text("s")], cache_control: {} }],
  ),
  "Messages: another signature": messages(
    [says([{ type: "thinking", thinking: "a", signature: "a" }])],
    [says([{ type: "thinking", thinking: "a", signature: "b" }])],
    "miss 1 messages[0].content[0].signature",
  ),
}, { flags: FLAGS });

rows("the order of results and tools is free, any other order counts", {
  "results of a batch": items([...BATCH, A, B], [...BATCH, B, A], "1 semantic"),
  "results that change their outputs": items(
    [...BATCH, A, B],
    [...BATCH, output("a", "b"), output("b", "a")],
    "miss 1 input[3].output",
  ),
  "results that text parts": items(
    [...BATCH, A, user("x"), B],
    [...BATCH, B, user("x"), A],
    "miss 1 input[3].call_id",
  ),
  "results of a batch of Messages, before text": messages(
    [uses("a", "b"), user([result("a"), result("b"), text("x")])],
    [uses("a", "b"), user([result("b"), result("a"), text("x")])],
    "1 semantic",
  ),
  "messages": items([user("a"), user("b")], [user("b"), user("a")], "miss 1 input[0].content"),
  "tools, also in a namespace": members(
    { tools: [tool("a"), tool("b"), space(tool("c"), tool("d"))] },
    { tools: [space(tool("d"), tool("c")), tool("b"), tool("a")] },
    "1 semantic",
  ),
  "a result that differs has its received place": items(
    [...BATCH, A, B],
    [...BATCH, B, output("a", "changed")],
    "miss 1 input[4].output",
  ),
  "tools of one name": messages([user("Hi")], [user("Hi")], "1 semantic", [
    { tools: [{ name: "a", cache_control: {} }, { name: "a", x: 1 }] },
    { tools: [{ name: "a", x: 1, cache_control: {} }, { name: "a" }] },
  ]),
  "other lists": members({ include: ["a", "b"] }, { include: ["b", "a"] }, "miss 1 include[0]"),
}, { flags: FLAGS });

/** Texts of one member in two requests, and what the second is answered. */
const NUMBERS: readonly (readonly [recorded: string, received: string, isSame: boolean])[] = [
  ['"n":9007199254740992', '"n":9007199254740993', false],
  ['"n":1e400', '"n":1e500', false],
  ['"n":{"rawJSON":"1e400"}', '"n":1e400', false],
  ['"n":1', '"n":1.0', true],
  ['"n":-0', '"n":0', true],
  // Servers differ in which member they read.
  ['"n":1,"n":2', '"n":2', false],
  ['"n":1,"n":2', '"n":3,"n":2', false],
  ['"a":{"n":1,"\\u006e":2}', '"a":{"n":2}', false],
];
const BODIES: Readonly<Record<string, (text: string) => string>> = {
  "member": (text) => `{"model":"m",${text},"messages":[]}`,
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

const get = (path: string, method = "GET") => sent("", { method, path });
const hi = (path: string) => sent(claude([user("Hi")]), { path });
rows("paths and queries", {
  "parameters in another order": {
    recorded: [get("/v1/files?a=1&b=2")],
    asked: [[get("/v1/files?b=2&a=1"), "1 semantic"]],
  },
  "parameters of one name in another order": {
    recorded: [get("/v1/files?a=1&a=2")],
    asked: [[get("/v1/files?a=2&a=1"), "miss"]],
  },
  "another method or query": {
    recorded: [get("/v1/models"), get("/v1/models?limit=2")],
    asked: [
      [get("/v1/models?limit=3"), "miss"],
      [get("/v1/models", "DELETE"), "miss"],
      [get("/v1/models?limit=2"), "2 exact"],
      [get("/v1/models"), "1 exact"],
    ],
  },
  "the query of beta requests of Messages": {
    recorded: [hi("/v1/messages?beta=true&q=a?b")],
    asked: [
      [hi("/v1/messages?q=a?c"), "miss"],
      [hi("/v1/messages?q=a"), "miss"],
      [hi("/v1/messages?beta=false&q=a?b"), "miss"],
      [hi("/v1/messages?q=a?b"), "1 semantic"],
    ],
  },
  "the API that a recording names for its path": {
    header: { provider: "compatible", base_url: "https://gateway.example" },
    path: "/gateway/claude?beta=true",
    recorded: [sent(claude([user([text("a", { cache_control: {} })])]), { api: "messages" })],
    asked: [[claude([user([text("a")])], { metadata: {} }), "1 semantic"]],
  },
}, { flags: FLAGS });
