/** Objects whose members hide those of JavaScript, at every place of a request: they are values like any other. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { HOSTILE_OBJECTS, spoilt } from "../../support/hostile_json.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";
import { HEADERS } from "./messages_rules.ts";
import { exchangeOf, sent, Served } from "./served.ts";

/** By path, with the header of its fixture. */
const REQUESTS: Readonly<Record<string, readonly [body: Json, header: Json]>> = {
  "/v1/responses": [{
    model: "gpt-5.6",
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high" },
    tools: [{ type: "function", name: "read" }],
    input: [
      { role: "user", content: [{ type: "input_text", text: "Go" }] },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "a" }] },
    ],
  }, {}],
  "/v1/messages": [{
    model: "claude-opus-4-8",
    max_tokens: 9,
    thinking: { type: "enabled", budget_tokens: 5 },
    tools: [{ name: "read", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Go", cache_control: { type: "ephemeral" } }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: "c2ln" },
          { type: "tool_use", id: "toolu_1", name: "read", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [] }] },
    ],
  }, { provider: "anthropic", base_url: "https://api.anthropic.com" }],
  "/v1/chat/completions": [{
    model: "gpt-5.6",
    reasoning_effort: "high",
    tools: [{ type: "function", function: { name: "read" } }],
    messages: [
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "read" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "a" }] },
    ],
  }, {}],
};

for (const [path, [body, header]] of Object.entries(REQUESTS)) {
  // A request that was recorded breaks no rule, so that the rules see a recording of the good one alone.
  for (const byRules of [false, true]) {
    withHome(
      `${path}: objects with a member toString ${byRules ? "are judged" : "match"} like any other`,
      async (home) => {
        const bodies = HOSTILE_OBJECTS.flatMap((hostile) => [...spoilt(body, hostile)]);
        assert.ok(bodies.length > 80);
        const request = (body: Json) => sent(body, { path, headers: path === "/v1/messages" ? HEADERS : {} });
        home.fixture("a", (byRules ? [body] : bodies).map((each) => exchangeOf(request(each))), header);
        const flags = ["--repeat", ...(byRules ? [] : ["--rules", "none"])];
        await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
        for (const each of bodies) {
          // Other bytes, so that the canonical form decides.
          const { status, text } = await server.ask(
            request(Object.fromEntries(Object.entries(each).reverse())),
          );
          const known = byRules ? status < 500 && JSON.parse(text).error !== undefined : status === 200;
          assert.ok(known, `${JSON.stringify(each)}: ${text}`);
        }
      },
      test.long,
    );
  }
}
