/** Chat Completions of many servers: what a timeline shows of their answers, and which requests are one request. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { recordingBytes, recordingNames } from "../../support/recordings.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { type Row, rows } from "./served.ts";
import { chat, user } from "./shapes.ts";

/** Recordings, and parts of the timeline of each exchange. */
const SHOWN: Readonly<Record<string, readonly (readonly string[])[]>> = {
  streamed_call: [[
    "[0] ivy_thistle call_DM0YZrVj7vr47gkyGPPGuMDe\n",
    '[0] "{\\"gazelle\\":\\"FA\\"}"\n',
    "finish_reason [0] tool_calls\n",
    "(45 tokens in, ",
  ], ["← ivy_thistle: returned · FA\n", "  Bay thistle ta bay FA wa Jasmin.\n", "[DONE]"]],
  parallel_calls: [
    [
      "[0] ivy_gazelle call_9tqAMzT8X33CNZqLRP1Q57zn\n",
      "[0] ivy_parsnip_lark call_Tt6JYVAHD95pQLy55FuLwpDp\n",
      '[0] part 2 "{}"\n',
    ],
    ["as in exchange 1", "ivy_ostrich"],
    ["larch_beaver"],
  ],
  parameter_error: [[
    "(answer: 400 ",
    "(Unsupported parameter: 'max_tokens' is not supported with this model.",
  ]],
  mistral_thinking: [[
    'delta.thinking ×57 [0] "Pear, bay oats wa spruce',
    'delta.content ×97 [0] "Xi larch bay magpie laurel',
    "(10 tokens in, ",
  ]],
  openrouter_error: [[
    "comment ×17\n",
    'delta.reasoning ×2 [0] "Ta pear xi chervil xi l starling. Bay oats"\n',
    "finish_reason ×2 [0] length\n",
    'error "Tapir poppy thistle"\n',
    "(37 tokens in",
  ]],
};

withHome(
  "a timeline shows the texts, calls, errors and tokens of chat answers as each server sends them",
  async (home) => {
    for (const [recording, exchanges] of Object.entries(SHOWN)) {
      const name = recordingNames("chat").find((name) => name.startsWith(`chat/${recording}.`));
      const file = name?.slice("chat/".length) ?? assert.fail(recording);
      home.file(file, recordingBytes(`chat/${file}`));
      await home.json(["import", file, recording]);
      const { stdout } = await home.verb(["show", recording]);
      const sections = stdout.slice(stdout.indexOf("── ")).split("\n── ");
      for (const [index, texts] of exchanges.entries()) {
        for (const part of texts) assert.ok(sections[index]?.includes(part), `${part}\nis not in\n${stdout}`);
      }
      const findings = await home.findings(recording);
      assert.deepEqual(findings.filter((line) => line.startsWith("error ")), [], recording);
    }
  },
  test.long,
);

const CHAT = "/v1/chat/completions";
const use = (id: string, name = "f") => ({ id, type: "function", function: { name, arguments: "{}" } });
const calls = (...tool_calls: readonly Json[]) => ({ role: "assistant", content: null, tool_calls });
const call = (id: string, more: Json = {}) => ({ ...calls(use(id)), ...more });
const { content: _, ...bare } = call("a");
const output = (tool_call_id: string, content = tool_call_id) => ({ role: "tool", tool_call_id, content });
const tools = (...names: readonly string[]) =>
  chat([user("Hi")], {
    tools: names.map((name) => {
      const [first = "", description = ""] = name.split(" ");
      return { type: "function", function: { name: first, description, parameters: {} } };
    }),
  });
const pair = (recorded: Json, received: Json, outcome = "1 semantic"): Row => ({
  ...{ path: CHAT, recorded: [recorded], asked: [[received, outcome]] },
});
const part = (text: string, more: Json = {}) => chat([user([{ type: "text", text, ...more }])]);

rows("requests of Chat Completions that are one request, and those that are two", {
  "who asks, the cache's key, metadata, and usage on request": pair(
    chat([user("Hi")], { user: "a", prompt_cache_key: "a", metadata: { a: "1" } }),
    chat([user("Hi")], { safety_identifier: "b", stream_options: { include_usage: true } }),
  ),
  "outputs without ids, which only their order pairs": pair(
    chat([calls(use(""), use("")), output("", "1"), output("", "2")]),
    chat([calls(use(""), use("")), output("", "2"), output("", "1")]),
    "miss 1 messages[1].content",
  ),
  "calls of a batch in another order": pair(
    chat([calls(use("a", "f"), use("b", "g"))]),
    chat([calls(use("a", "g"), use("b", "f"))]),
    "miss 1 messages[0].tool_calls[0].function.name",
  ),
  "a tool with another text, named by its place in the request": pair(
    tools("f a", "g z"),
    tools("g A", "f a"),
    "miss 1 tools[0].function.description",
  ),
  "null content and none": pair(chat([call("a")]), chat([bare])),
  "empty content": pair(chat([call("a")]), chat([call("a", { content: "" })]), "miss 1 messages[0].content"),
  "a mark for the cache in a part": pair(part("a", { cache_control: { type: "ephemeral" } }), part("a")),
  "other reasoning that goes back": pair(
    chat([call("a", { reasoning_content: "So" })]),
    chat([call("a", { reasoning_content: "Thus" })]),
    "miss 1 messages[0].reasoning_content",
  ),
}, { flags: ["--rules", "none"] });

const CALLED = [use("a"), { ...use("b"), function: { name: "g", arguments: '{"x":1}' } }];
withHome("calls of a stream that have no index are joined by their id", async (home) => {
  const asked = (...messages: readonly Json[]) => ({
    request: { path: CHAT, body: chat([user("Hi"), ...messages], { stream: true }) },
    body: [{ delta: { tool_calls: CALLED } }, { delta: {}, finish_reason: "tool_calls" }].map((choice) => {
      const chunk = { id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] };
      return `data: ${JSON.stringify(chunk)}\n\n`;
    }).join("") + "data: [DONE]\n\n",
  });
  home.fixture("f", [asked(), asked(calls(...CALLED), output("a"), output("b"))]);
  const { stdout } = await home.verb(["show", "f"]);
  assert.ok(stdout.includes("complete)\n  → f\n  → g x: 1\n"), stdout);
  assert.ok(stdout.includes("(1 item of earlier exchanges)"), stdout);
});
