/** Objects whose members hide those of JavaScript, at every place of a request: no rule and no canonical form throws. */
import assert from "node:assert/strict";
import { APIS } from "../../../src/apis/apis.ts";
import { chatViolations } from "../../../src/apis/chat/rules/known_good.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import { HOSTILE_OBJECTS, spoilt } from "../../support/hostile_json.ts";
import { checkMessagesRequest, checkResponsesRequest, RULE_GRADES } from "../../support/rule_checks.ts";

const REQUESTS: Readonly<Record<string, JsonObject>> = {
  responses: {
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
  },
  messages: {
    model: "claude-opus-4-8",
    max_tokens: 9,
    thinking: { type: "enabled", budget_tokens: 5 },
    tools: [{ name: "read", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Go", cache_control: { type: "ephemeral" } }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: "c2ln", cache_control: { type: "ephemeral" } },
          { type: "tool_use", id: "toolu_1", name: "read", input: {} },
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_2", content: [] },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a" }] },
    ],
  },
  chat: {
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
  },
};

function check(name: string, body: JsonValue): void {
  if (name === "chat") chatViolations(body, "openai");
  else if (name === "messages") checkMessagesRequest(body, { "anthropic-version": "2023-06-01" }, {});
  else for (const mode of ["openai", "azure"] as const) checkResponsesRequest(body, { mode });
}

for (const api of APIS.filter(({ name }) => REQUESTS[name] !== undefined)) {
  Deno.test(`objects with a member toString are values like any other in requests of ${api.name}`, () => {
    const names = { id: (id: JsonValue) => id, blob: (blob: string) => blob };
    let count = 0;
    for (const hostile of HOSTILE_OBJECTS) {
      for (const body of spoilt(REQUESTS[api.name] ?? {}, hostile)) {
        count++;
        check(api.name, body);
        const { canonical } = api;
        if (canonical === null || !isJsonObject(body)) continue;
        for (const [name, value] of Object.entries(body)) {
          if (name !== canonical.list) canonical.member(name, value ?? null);
        }
        const history = body[canonical.list];
        if (!Array.isArray(history)) continue;
        for (const item of canonical.inCallOrder(history).filter(isJsonObject)) {
          canonical.item(canonical.withoutOutputs(item), names);
        }
      }
    }
    assert.ok(count > 80, String(count));
  });
}

Deno.test("the refusal of an unknown value of include shows it as JSON", () => {
  const { refusals } = checkResponsesRequest({ model: "m", input: "a", include: [{ toString: 0 }] }, {
    mode: "openai",
    refuse: RULE_GRADES,
  });
  assert.match(refusals[0]?.body.error.message ?? "", /^Invalid value: '\{"toString":0\}'/);
});
