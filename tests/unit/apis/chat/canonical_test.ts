/** Requests of Chat Completions that mean the same, and those that do not (protocol §15.1, §15.2, §15.7). */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { chatApi } from "../../../../src/apis/chat/api.ts";
import { chatCanonical } from "../../../../src/apis/chat/canonical.ts";
import { listDifferences } from "../../../../src/fixture/match/difference.ts";
import { requestKey } from "../../../../src/fixture/match/request_key.ts";

const user = (content: string) => ({ role: "user", content });
const call = (id: string, name = "f", more: JsonObject = {}) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }],
  ...more,
});
const output = (tool_call_id: string, content = "ok") => ({ role: "tool", tool_call_id, content });
const talk = (...messages: readonly JsonObject[]): JsonObject => ({ model: "m", messages });
const batch = (a: string, b: string, f = "f", g = "g") => ({
  role: "assistant",
  tool_calls: [...call(a, f).tool_calls, ...call(b, g).tool_calls],
});
const tool = (name: string) => ({ type: "function", function: { name, parameters: {} } });
const { content: _content, ...withoutContent } = call("a");

/** Two requests, and whether they are the same. */
const PAIRS: readonly (readonly [what: string, a: JsonObject, b: JsonObject, same: boolean])[] = [
  ...["user", "safety_identifier", "prompt_cache_key"].map((name) =>
    [`another ${name}`, { ...talk(), [name]: "a" }, { ...talk(), [name]: "b" }, true] as const
  ),
  ["other metadata", { ...talk(), metadata: { a: "1" } }, talk(), true],
  ["the usage requested", { ...talk(), stream_options: { include_usage: true } }, talk(), true],
  ["a stream instead of a document", { ...talk(), stream: true }, talk(), false],
  ["another prompt", talk(user("a")), talk(user("b")), false],
  ["another model", talk(), { ...talk(), model: "n" }, false],
  ["another temperature", { ...talk(), temperature: 0 }, { ...talk(), temperature: 1 }, false],
  ["ids of calls renamed in both places", talk(call("a"), output("a")), talk(call("b"), output("b")), true],
  ["an id renamed in one place", talk(call("a"), output("a")), talk(call("a"), output("b")), false],
  [
    "parallel calls whose outputs are exchanged",
    talk(call("a"), call("b"), output("a", "1"), output("b", "2")),
    talk(call("a"), call("b"), output("b", "1"), output("a", "2")),
    false,
  ],
  [
    "outputs of a batch in another order",
    talk(batch("a", "b"), output("a", "1"), output("b", "2"), user("c")),
    talk(batch("x", "y"), output("y", "2"), output("x", "1"), user("c")),
    true,
  ],
  [
    "outputs of a batch exchanged",
    talk(batch("a", "b"), output("a", "1"), output("b", "2")),
    talk(batch("a", "b"), output("b", "1"), output("a", "2")),
    false,
  ],
  [
    "outputs of two batches with the same ids",
    talk(batch("a", "b"), output("a"), output("b"), batch("a", "b"), output("a", "1"), output("b", "2")),
    talk(batch("a", "b"), output("a"), output("b"), batch("a", "b"), output("b", "2"), output("a", "1")),
    true,
  ],
  [
    "outputs without ids, which only their order pairs",
    talk(batch("", ""), output("", "1"), output("", "2")),
    talk(batch("", ""), output("", "2"), output("", "1")),
    false,
  ],
  [
    "calls of a batch in another order",
    talk(batch("a", "b", "f", "g")),
    talk(batch("a", "b", "g", "f")),
    false,
  ],
  ["tools in another order", { ...talk(), tools: [tool("f"), tool("g")] }, {
    ...talk(),
    tools: [tool("g"), tool("f")],
  }, true],
  ["another tool", { ...talk(), tools: [tool("f")] }, { ...talk(), tools: [tool("g")] }, false],
  ["another tool called", talk(call("a")), talk(call("a", "g")), false],
  ["null content and none", talk(call("a")), talk(withoutContent), true],
  ["empty content", talk(call("a")), talk(call("a", "f", { content: "" })), false],
  [
    "members of a message that are null",
    talk(call("a")),
    talk(call("a", "f", { refusal: null, audio: null })),
    true,
  ],
  ["another refusal", talk(call("a", "f", { refusal: "No" })), talk(call("a")), false],
  [
    "a mark for the cache in a part",
    talk({ role: "user", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] }),
    talk({ role: "user", content: [{ type: "text", text: "a" }] }),
    true,
  ],
  [
    "another text in a part",
    talk({ role: "user", content: [{ type: "text", text: "a" }] }),
    talk({ role: "user", content: [{ type: "text", text: "b" }] }),
    false,
  ],
  [
    "other reasoning that goes back",
    talk(call("a", "f", { reasoning_content: "So" })),
    talk(call("a", "f", { reasoning_content: "Thus" })),
    false,
  ],
];

const ASKED = { method: "POST", path: "/v1/chat/completions", api: chatApi };

for (const [what, a, b, same] of PAIRS) {
  Deno.test(`chat: ${what}: ${same ? "the same request" : "another request"}`, () => {
    const [was, is] = [a, b].map((json) => {
      const body = new TextEncoder().encode(JSON.stringify(json));
      return requestKey({ ...ASKED, body, json }, (blob) => blob).semantic;
    });
    assert.equal(was === is, same);
  });
}

Deno.test("chat: only messages with the result of a tool are left without their content", () => {
  assert.deepEqual(chatCanonical.withoutOutputs(output("a")), { role: "tool", tool_call_id: "a" });
  for (const message of [user("a"), call("a"), { role: "assistant", content: "a" }]) {
    assert.deepEqual(chatCanonical.withoutOutputs(message), message);
  }
});

Deno.test("chat: a difference names the place that the tool has in the request", () => {
  const asked = (json: JsonObject) => ({ ...ASKED, body: new Uint8Array(), json });
  const described = (name: string, description: string) => ({
    type: "function",
    function: { name, description },
  });
  const [recorded, received] = [[described("f", "a"), described("g", "z")], [
    described("g", "A"),
    described("f", "a"),
  ]]
    .map((tools) => asked({ ...talk(), tools }));
  assert(recorded !== undefined && received !== undefined);
  const found = listDifferences(recorded, received, { semantic: true, nameOf: (blob) => blob });
  assert.deepEqual(found.map(({ path, recorded, received }) => [path, recorded, received]), [
    ["tools[0].function.description", '"z"', '"A"'],
  ]);
});
