import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../../../src/domain/json.ts";
import { MESSAGES_RULES } from "../../../../../src/apis/messages/rules/rule.ts";
import type { BlockPrefix } from "../../../../../src/apis/messages/rules/signatures.ts";
import {
  assistant,
  BINDING,
  found,
  HEADERS,
  OLD_VERSION,
  request,
  result,
  results,
  ROWS,
  search,
  secret,
  thought,
  tool,
  use,
  user,
  words,
} from "./refused_requests.ts";
import { test } from "../../../../support/test.ts";
import {
  checkMessagesRequest,
  type MessagesChecks,
  type Refusal,
  REFUSING_GRADES,
  RULE_GRADES,
} from "../../../../support/rule_checks.ts";

const strict = (
  body: JsonValue,
  options: Partial<MessagesChecks> = {},
  headers: Readonly<Record<string, string>> = HEADERS,
): readonly Refusal[] => checkMessagesRequest(body, headers, { refuse: RULE_GRADES, ...options }).refusals;

const ephemeral: JsonObject = { cache_control: { type: "ephemeral", ttl: "5m" } };
const other: JsonObject = { ...use, id: "toolu_2" };
const DROP: JsonObject = {
  thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
};

Deno.test("Messages rules take a turn of a thread that the server holds, whose uses lie there", () => {
  const headers = { ...HEADERS, "anthropic-beta": "message-threads-2026-08-12" };
  const turn = (type: string) =>
    request([results(result)], { thread: { type, previous_message_id: "msg_1" } });
  assert.deepEqual(strict(turn("continue"), {}, headers), []);
  assert.deepEqual(strict(turn("create"), {}, headers).map(({ rule }) => rule), ["result_without_tool_use"]);
  assert.deepEqual(strict(turn("continue")).map(({ rule }) => rule), ["unknown_field"]);
});

Deno.test("Messages rules let through what the API accepts", () => {
  const accepted: readonly JsonValue[] = [
    request([user]),
    // 0 only warms the cache.
    request([user], { max_tokens: 0 }),
    request([
      user,
      assistant(thought, secret, words, use, other),
      results({ ...result, tool_use_id: "toolu_2" }, result, words),
    ]),
    // Neighbours of one role are merged.
    request([
      user,
      user,
      assistant(thought),
      assistant(use, other),
      results(result),
      results({ ...result, tool_use_id: "toolu_2" }),
    ]),
    request([user, { role: "system", content: "Be brief." }, user]),
    request([user, assistant(search, found, words), user]),
    request([
      user,
      assistant({ ...use, caller: { type: "direct" } }),
      results({ tool_use_id: "toolu_1", type: "tool_result" }),
    ]),
    request([
      user,
      assistant(use),
      results({ ...result, is_error: true, content: [words, { type: "image", source: {} }] }),
    ]),
    request([user, assistant({ type: "compaction", content: "So far.", any: 1 }, words), user]),
    request([results({ ...words, ...ephemeral })], {
      ...ephemeral,
      system: [{ type: "text", text: "Be brief.", ...ephemeral }],
      tools: [{ ...tool, description: "", strict: true, ...ephemeral }, {
        type: "web_search_20260318",
        name: "web_search",
      }],
      tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
      output_config: { effort: "xhigh", format: { type: "json_schema", schema: {} } },
      metadata: { user_id: "u" },
      stop_sequences: ["."],
    }),
    ...["adaptive", "disabled", "between_tools"].map((type) => request([user], { thinking: { type } })),
  ];
  for (const body of accepted) assert.deepEqual(strict(body), [], JSON.stringify(body));
  assert.deepEqual(strict(request([user], DROP), {}, BINDING), []);
  const older = request([
    results({ ...words, citations: [] }),
    assistant({ type: "document", source: {} }),
    user,
  ], {
    temperature: 1,
    top_p: 0.99,
  });
  assert.deepEqual(strict(older, {}, OLD_VERSION), []);
});

Deno.test("Messages rules refuse with the API's status and words", () => {
  for (const { rule, body, message, options, headers } of ROWS) {
    const [refusal, ...others] = strict(body, options, headers);
    assert.equal(refusal?.rule, rule, message);
    assert.deepEqual(refusal?.body, { type: "error", error: { type: "invalid_request_error", message } });
    assert.equal(refusal?.status, 400);
    assert(others.every((another) => another.rule === rule), `${rule}: ${JSON.stringify(others)}`);
  }
});

Deno.test("Messages rules are each shown by a refused request", () => {
  const shown = new Set<string>(ROWS.map(({ rule }) => rule));
  assert.deepEqual(MESSAGES_RULES.map(({ name }) => name).filter((name) => !shown.has(name)), []);
  assert.equal(new Set(MESSAGES_RULES.map(({ name }) => name)).size, MESSAGES_RULES.length);
});

Deno.test("Messages rules refuse violations of the API's types by default, and warn of the rest", () => {
  for (const { body, options, headers = HEADERS } of ROWS) {
    const { refusals, warnings } = checkMessagesRequest(body, headers, options);
    assert(refusals.every(({ grade }) => REFUSING_GRADES.includes(grade)));
    assert(warnings.every(({ grade }) => !REFUSING_GRADES.includes(grade)));
    assert(refusals.length + warnings.length > 0);
  }
});

Deno.test("Messages rules answer in the order of their table", () => {
  const body = request([
    assistant({ ...thought, foo: 1 }, use),
    results({ type: "text", text: "" }),
    assistant(words),
  ], { temperature: 1, thinking: { type: "enabled", budget_tokens: 1 } });
  const rules = strict(body, { judge: () => "forged" }).map(({ rule }) => rule);
  assert.deepEqual(rules, [
    "unknown_field",
    "version_2026_10_21",
    "thinking_config",
    "first_message",
    "empty_content",
    "tool_use_without_result",
    "signature",
    "prefill",
  ]);
  const places = rules.map((rule) => MESSAGES_RULES.findIndex(({ name }) => name === rule));
  assert.deepEqual(places, places.toSorted((a, b) => a - b));
});

Deno.test("Messages rules allow a last message of the assistant where the option says so", () => {
  assert.deepEqual(strict(request([user, assistant(search, found)]), { allowPrefill: true }), []);
  // The API stopped before the result of its own tool.
  assert.deepEqual(strict(request([user, assistant(search)]), { allowPrefill: true }), []);
  assert.equal(
    strict(request([user, assistant(use)]), { allowPrefill: true })[0]?.rule,
    "tool_use_without_result",
  );
});

Deno.test("Messages rules show the judge each block and what was said before it, as the API reads it", () => {
  const seen: BlockPrefix[] = [];
  const judge: MessagesChecks["judge"] = (_, prefix) => {
    seen.push(prefix);
    return "ok";
  };
  const body = request([user, results(words), assistant(thought), assistant(words, secret)], {
    system: "Be brief.",
  });
  assert.deepEqual(strict(body, { judge, allowPrefill: true }), []);
  const said = { role: "user", content: [{ type: "text", text: "go" }, words] };
  assert.deepEqual(seen, [
    {
      model: "claude-opus-5-5",
      system: "Be brief.",
      tools: null,
      messages: [said, { role: "assistant", content: [] }],
    },
    {
      model: "claude-opus-5-5",
      system: "Be brief.",
      tools: null,
      messages: [said, { role: "assistant", content: [thought, words] }],
    },
  ]);
});

Deno.test("Messages rules let blocks of another conversation be dropped, never forged ones", () => {
  const second = { ...thought, signature: "c2Vjb25k" };
  const body = request(
    [user, assistant(thought, use), results(result), assistant(second, words), user],
    DROP,
  );
  const before: number[] = [];
  const judged = strict(body, {
    judge: (block, { messages }) => {
      before.push(
        messages.flatMap(({ content }) => content).filter(({ type }) => type === "thinking").length,
      );
      return block === thought ? "bound" : "ok";
    },
  }, BINDING);
  assert.deepEqual(judged, []);
  // A dropped block does not count for later ones.
  assert.deepEqual(before, [0, 0]);
  assert.equal(strict(body, { judge: () => "forged" }, BINDING)[0]?.rule, "signature");
});

test.long("Messages rules never throw, whatever the body", () => {
  const member = fc.oneof(
    fc.constantFrom(
      "text",
      "thinking",
      "tool_use",
      "tool_result",
      "server_tool_use",
      "enabled",
      "user",
      null,
    ),
    fc.jsonValue(),
  );
  const block = fc.dictionary(
    fc.constantFrom(
      "type",
      "text",
      "id",
      "name",
      "input",
      "tool_use_id",
      "content",
      "cache_control",
      "signature",
    ),
    member,
  );
  const message = fc.record({
    role: fc.oneof(fc.constantFrom("user", "assistant", "system"), fc.jsonValue()),
    content: fc.oneof(fc.array(block), fc.jsonValue()),
  });
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      model: fc.jsonValue(),
      max_tokens: fc.jsonValue(),
      messages: fc.oneof(fc.array(message), fc.jsonValue()),
      tools: fc.oneof(fc.array(block), fc.jsonValue()),
      thinking: fc.oneof(block, fc.jsonValue()),
      output_config: fc.oneof(block, fc.jsonValue()),
      cache_control: fc.jsonValue(),
    }, { requiredKeys: [] }),
  );
  fc.assert(fc.property(body, (value) => {
    for (const { body } of strict(value as JsonValue, { judge: () => "bound" })) {
      assert.deepEqual(Object.keys(body.error), ["type", "message"]);
    }
  }));
});
