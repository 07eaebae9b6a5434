import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../../../src/domain/json.ts";
import { RESPONSES_RULES } from "../../../../../src/apis/responses/rules/rule.ts";
import { call, reply, result, ROWS, stateless, thought, user } from "./refused_requests.ts";
import {
  checkResponsesRequest,
  type Refusal,
  REFUSING_GRADES,
  type ResponsesChecks,
  RULE_GRADES,
} from "../../../../support/rule_checks.ts";

const strict = (body: JsonValue, options: Partial<ResponsesChecks> = {}): readonly Refusal[] =>
  checkResponsesRequest(body, { mode: "openai", refuse: RULE_GRADES, ...options }).refusals;

function only(refusals: readonly Refusal[]): Refusal {
  assert.equal(refusals.length, 1, JSON.stringify(refusals));
  return refusals[0] as Refusal;
}

Deno.test("rules let through what the API was seen to accept", () => {
  const accepted: JsonValue[] = [
    { model: "m", input: "hello" },
    stateless([user, thought, call, result]),
    // One reasoning item for two calls, answered after both or one by one (protocol §2.4).
    stateless([user, thought, call, { ...call, call_id: "call_2" }, result, {
      ...result,
      call_id: "call_2",
    }]),
    stateless([user, thought, call, result, { ...call, call_id: "call_2" }, {
      ...result,
      call_id: "call_2",
    }]),
    // Several reasoning items in one response.
    stateless([user, thought, { ...thought, id: "rs_2" }, call, result]),
    stateless([user, thought, reply, user]),
    // `status` and ids are tolerated by OpenAI itself (protocol §2.2).
    stateless([user, thought, { ...call, id: "fc_1", status: null }, result]),
    // A field of Codex CLI, which it sends to OpenAI alone (protocol §2.2).
    stateless([{ ...user, internal_chat_message_metadata_passthrough: { turn_id: "t" } }]),
    // A call id may come again once it was answered.
    stateless([user, call, result, call, result]),
    stateless([user, { type: "compaction", encrypted_content: "x" }, { type: "compaction_trigger" }]),
    stateless([{ type: "web_search_call", id: "ws_1", status: "completed", action: {} }, user]),
    { model: "m", previous_response_id: "resp_1", input: [result] },
    { model: "m", store: true, input: [user, { type: "reasoning", id: "rs_1", summary: [] }, reply] },
    { model: "m", input: [user, { type: "item_reference", id: "msg_1" }] },
    stateless([user], { reasoning: { effort: "none" }, temperature: 0.5 }),
  ];
  for (const body of accepted) assert.deepEqual(strict(body), [], JSON.stringify(body));
});

Deno.test("rules refuse with the API's status, words, param and code", () => {
  for (const { rule, body, message, param, code, status, options } of ROWS) {
    const [refusal, ...others] = strict(body, options);
    assert.equal(refusal?.rule, rule, message);
    assert.deepEqual(refusal?.body, { error: { message, type: "invalid_request_error", param, code } });
    assert.equal(refusal?.status, status ?? 400);
    assert(others.every((other) => other.rule === rule), `${rule}: ${JSON.stringify(others)}`);
  }
});

Deno.test("rules are each shown by a refused request", () => {
  const shown = new Set<string>(ROWS.map(({ rule }) => rule));
  assert.deepEqual(RESPONSES_RULES.map(({ name }) => name).filter((name) => !shown.has(name)), []);
  assert.equal(new Set(RESPONSES_RULES.map(({ name }) => name)).size, RESPONSES_RULES.length);
});

Deno.test("rules refuse by default violations that were seen on the wire or break the API's types, and warn of the rest", () => {
  for (const { body, options } of ROWS) {
    const { refusals, warnings } = checkResponsesRequest(body, { mode: "openai", ...options });
    assert(refusals.every(({ grade }) => REFUSING_GRADES.includes(grade)));
    assert(warnings.every(({ grade }) => !REFUSING_GRADES.includes(grade)));
    assert(refusals.length + warnings.length > 0);
  }
  const { refusals, warnings } = checkResponsesRequest(stateless([user, { ...thought, id: "x" }, reply]), {
    mode: "openai",
  });
  assert.deepEqual(refusals, []);
  assert.equal(only(warnings).rule, "id_prefix");
});

Deno.test("rules only warn of a message without its id after reasoning where nothing is stored, as clients send it", () => {
  const body = (store: boolean) =>
    stateless([user, thought, { role: "assistant", content: "hi" }], { store });
  for (const options of [{}, { followingOf: () => "msg_1" }]) {
    const { refusals, warnings } = checkResponsesRequest(body(false), { mode: "openai", ...options });
    assert.deepEqual(refusals, []);
    assert(warnings.length > 0 && warnings.every(({ rule }) => rule === "reasoning_following"));
    assert.equal(
      checkResponsesRequest(body(true), { mode: "openai", ...options }).refusals[0]?.grade,
      "wire",
    );
  }
  // The message of another answer is not what came next, with whatever id.
  const other = checkResponsesRequest(stateless([user, thought, reply]), {
    mode: "openai",
    followingOf: () => "msg_2",
  });
  assert.equal(only(other.refusals).grade, "wire");
});

Deno.test("rules answer in the order of the API's validators", () => {
  const body = stateless([user, { ...thought, id: "x1" }, { ...thought, id: "x1" }, call, thought]);
  const rules = strict(body, { decode: () => "undecodable" }).map(({ rule }) => rule);
  assert.deepEqual([...new Set(rules)], [
    "id_prefix",
    "duplicate_id",
    "encrypted_content",
    "reasoning_following",
    "call_without_output",
  ]);
});

Deno.test("rules name the organization's blobs before the model's", () => {
  const body = stateless([user, thought, { ...thought, id: "rs_2" }, reply]);
  const verdicts = strict(body, { decode: ({ id }) => id === "rs_1" ? "other_model" : "other_organization" });
  assert.deepEqual(verdicts.map(({ rule }) => rule), ["encrypted_content", "encrypted_content_model"]);
});

Deno.test("rules refuse `status` on Azure only where the type can do without", () => {
  const patch: JsonObject = { type: "apply_patch_call", call_id: "c", status: "completed", operation: {} };
  const patched: JsonObject = { type: "apply_patch_call_output", call_id: "c", status: "completed" };
  assert.deepEqual(strict(stateless([user, patch, patched]), { mode: "azure" }), []);
  const refusal = only(strict(stateless([user, reply]), { mode: "azure" }));
  assert.equal(refusal.body.error.param, "input[1].status");
  assert.equal(refusal.grade, "third_party");
});

Deno.test("rules know the field of Codex CLI as unknown to Azure", () => {
  const item = { ...user, internal_chat_message_metadata_passthrough: { turn_id: "t" } };
  const refusal = only(strict(stateless([item]), { mode: "azure" }));
  assert.equal(refusal.body.error.param, "input[0].internal_chat_message_metadata_passthrough");
});

Deno.test("rules take an output only for a call of its own kind", () => {
  const custom: JsonObject = { type: "custom_tool_call_output", call_id: "call_1", output: "done" };
  assert.deepEqual(strict(stateless([user, call, custom])).map(({ body }) => body.error.message), [
    "No tool call found for custom tool call output with call_id call_1.",
    "No tool output found for function call call_1.",
  ]);
});

Deno.test("rules find a lone surrogate however deep it lies, in names too", () => {
  assert.equal(strict({ model: "m", input: "x", metadata: { "\ud800": "y" } })[0]?.rule, "well_formed");
  let nested: JsonValue = "\udc00";
  for (let depth = 0; depth < 100_000; depth++) nested = [nested];
  assert.equal(strict({ model: "m", input: "x", metadata: nested })[0]?.rule, "well_formed");
});

Deno.test("rules pair calls and outputs one to one, in order, whatever the arrangement", () => {
  const ids = fc.constantFrom("a", "b", "c");
  const step = fc.record({ kind: fc.constantFrom("call", "output"), id: ids });
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
    const input = steps.map(({ kind, id }) =>
      kind === "call" ? { ...call, call_id: id } : { ...result, call_id: id }
    );
    const open = { a: 0, b: 0, c: 0 } as Record<string, number>;
    let early = 0;
    for (const { kind, id } of steps) {
      if (kind === "call") open[id] = (open[id] ?? 0) + 1;
      else if ((open[id] ?? 0) > 0) open[id] = (open[id] ?? 0) - 1;
      else early++;
    }
    const rules = strict(stateless(input)).map(({ rule }) => rule);
    assert.equal(rules.filter((rule) => rule === "output_without_call").length, early);
    const unanswered = Object.values(open).reduce((sum, count) => sum + count, 0);
    assert.equal(rules.filter((rule) => rule === "call_without_output").length, unanswered);
  }));
});

Deno.test("rules match reasoning with what follows it by place and by id", () => {
  const message = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
  const other: JsonObject = { ...reply, id: "msg_2" };
  const rows: readonly (readonly [string, JsonValue, Partial<ResponsesChecks>, boolean, boolean])[] = [
    ["the item itself, in its place", [user, thought, reply], { followingOf: () => "msg_1" }, true, true],
    [
      "a call is known by its call id",
      [user, thought, call, result],
      { followingOf: () => "call_1" },
      true,
      true,
    ],
    ["another item in its place", [user, thought, other], { followingOf: () => "msg_1" }, true, false],
    ["the item itself, elsewhere", [user, thought, user, reply], { followingOf: () => "msg_1" }, false, true],
    ["the item itself, before it", [user, reply, thought], { followingOf: () => "msg_1" }, false, false],
    [
      "reasoning that the server does not know",
      [user, thought, reply],
      { followingOf: () => undefined },
      true,
      true,
    ],
  ];
  for (const [name, input, options, positional, byId] of rows) {
    const said = (known: Partial<ResponsesChecks>) =>
      strict(stateless(input), known).map(({ error }) => error.message);
    const byPlace = positional ? [] : [message];
    assert.deepEqual(said({}), byPlace, name);
    assert.deepEqual(said(options), [...byPlace, ...byId ? [] : [message]], name);
  }
  const orphan = stateless([user, { ...call, id: "fc_1" }, result]);
  assert.deepEqual(strict(orphan), []);
  assert.equal(only(strict(orphan, { reasoningOf: () => "rs_1" })).rule, "reasoning_required");
});

Deno.test("rules never throw, whatever the body", () => {
  const item = fc.dictionary(
    fc.constantFrom(
      "type",
      "id",
      "call_id",
      "role",
      "content",
      "summary",
      "encrypted_content",
      "status",
      "output",
    ),
    fc.oneof(fc.constantFrom("reasoning", "message", "function_call", "", null), fc.jsonValue()),
  );
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      model: fc.jsonValue(),
      input: fc.oneof(fc.jsonValue(), fc.array(item)),
      include: fc.jsonValue(),
    }),
  );
  fc.assert(fc.property(body, fc.constantFrom("openai", "azure"), (value, mode) => {
    for (
      const { body } of strict(value as JsonValue, {
        mode,
        decode: () => "ok",
        reasoningOf: () => undefined,
      })
    ) {
      assert.deepEqual(Object.keys(body.error), ["message", "type", "param", "code"]);
    }
  }));
});
