import assert from "node:assert/strict";
import { isJsonObject, type JsonValue } from "../../../src/domain/json.ts";
import { assertDifferences, type Difference, foldedBeside, recordedLoop, without } from "./recorded_loops.ts";
import { checkResponsesRequest } from "../../support/rule_checks.ts";

const GRADES = ["wire", "types", "docs", "third_party", "derived"] as const;

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);

const DIFFERENCES = {
  /** `{role, content: "…"}`; we send the whole message with its parts. */
  easy_message: {
    theirs: (item) =>
      item.role === "user" && typeof item.content === "string"
        ? { type: "message", role: "user", content: [{ type: "input_text", text: item.content }] }
        : item,
  },
  /** `fc_` and `ctc_` ids go along; we leave them out, because they make the server demand the reasoning. */
  call_id: { theirs: (item) => CALLS.has(String(item.type)) ? without(item, "id") : item },
  /** A `status` on what does not need it: `completed` on messages, `null` on calls. */
  status: { theirs: (item) => item.type === "web_search_call" ? item : without(item, "status") },
  /** The client's own model of a text part has no `logprobs`; we send the parts as they came. */
  logprobs: {
    ours: (item) =>
      Array.isArray(item.content)
        ? {
          ...item,
          content: item.content.map((part) => isJsonObject(part) ? without(part, "logprobs") : part),
        }
        : item,
  },
  /** The client keeps no `sources` of a search; we send hosted items as they came. */
  sources: {
    ours: (item) => isJsonObject(item.action) ? { ...item, action: without(item.action, "sources") } : item,
  },
  /** Arguments parsed and written again, with spaces; we send the model's own bytes. */
  arguments: {
    theirs: (item) =>
      typeof item.arguments === "string"
        ? { ...item, arguments: JSON.stringify(JSON.parse(item.arguments)) }
        : item,
  },
  /** Free text wrapped as JSON arguments; we send the model's own text. */
  custom_input: {
    theirs: (item) =>
      item.type === "custom_tool_call"
        ? { ...item, input: Object.values(JSON.parse(String(item.input)))[0] as JsonValue }
        : item,
  },
  /** A message without text before the calls, that no response held. */
  empty_message: { theirs: (item) => item.role === "assistant" && item.content === "" ? null : item },
} satisfies Record<string, Difference>;

/** Each recorded loop with exactly the differences that its client makes. */
const LOOPS: readonly (readonly [string, readonly (keyof typeof DIFFERENCES)[]])[] = [
  ["responses/encrypted_loop.yaml", ["easy_message", "arguments"]],
  ["responses/streamed_loop.yaml", ["easy_message", "arguments"]],
  ["responses/phase_loop.yaml", ["easy_message", "call_id", "status", "logprobs"]],
  ["responses/tool_loop.yaml", ["easy_message", "call_id"]],
  ["responses/web_search.yaml", [
    "easy_message",
    "status",
    "logprobs",
    "sources",
  ]],
  ["responses/custom_tool_loop.yaml", ["easy_message", "call_id", "custom_input"]],
  ["responses/retried_call.yaml", ["easy_message", "empty_message"]],
  ["responses/status_null.yaml", [
    "easy_message",
    "call_id",
    "status",
  ]],
];

for (const [file, differences] of LOOPS) {
  Deno.test(`the fold of the responses of ${file} gives the next recorded request`, async () => {
    const steps = await recordedLoop(file);
    assert.ok(steps.length >= 2);
    const pairs = foldedBeside(steps);
    assertDifferences(pairs, DIFFERENCES, differences);
    for (const [ours] of pairs) {
      assert.deepEqual(
        checkResponsesRequest({ store: false, input: [...ours] }, { mode: "azure", refuse: GRADES })
          .refusals,
        [],
      );
    }
  });
}

Deno.test("rules refuse the recorded request that the API refused, and accept our fold", async () => {
  const steps = await recordedLoop("responses/modified_history.yaml");
  const refused = steps.findIndex(({ status }) => status === 400);
  const theirs = steps[refused];
  assert.ok(theirs !== undefined);
  const options = { mode: "openai", refuse: GRADES } as const;
  assert.deepEqual(checkResponsesRequest(theirs.body, options).refusals[0]?.body, theirs.answer);
  const [ours] = foldedBeside(steps.slice(0, refused + 1)).at(-1) ?? [];
  assert.ok(ours !== undefined);
  assert.deepEqual(ours.map(({ type }) => type), ["message", "reasoning", "message", "message"]);
  assert.deepEqual(checkResponsesRequest({ ...theirs.body, input: [...ours] }, options).refusals, []);
});
