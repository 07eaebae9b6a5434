import assert from "node:assert/strict";
import fc from "fast-check";
import type { Item } from "../../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../../src/domain/folded.ts";
import { isJsonObject, type JsonObject } from "../../../../src/domain/json.ts";
import { messagesApi } from "../../../../src/apis/messages/api.ts";
import { test } from "../../../support/test.ts";

const SEED = 20261121;
const FOREIGN = "gAAAA-foreign";
const PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;

interface SentMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly JsonObject[];
}

function bodyOf(entries: readonly FoldedEntry[]): string {
  return messagesApi.buildRequest({
    model: "claude-sonnet-5",
    instructions: "x",
    tools: [],
    entries,
    cacheKey: "s",
  }).body;
}

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom("", " \n", "Hello"));
const name = fc.oneof(text, fc.constantFrom("ls", "functions.ls", "x".repeat(90)));
const input = fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }) as fc.Arbitrary<JsonObject>;

const spoken: fc.Arbitrary<FoldedEntry> = fc.oneof(
  fc.record({
    kind: fc.constant("user_message" as const),
    content: fc.array(fc.record({ type: fc.constantFrom("input_text", "input_image"), text }), {
      maxLength: 2,
    }),
  }),
  fc.record({
    kind: fc.constant("assistant_message" as const),
    keepId: fc.boolean(),
    item: fc.oneof<fc.Arbitrary<Item>[]>(
      fc.record({ type: fc.constant("text"), text }),
      fc.record({
        type: fc.constant("message"),
        role: fc.constant("assistant"),
        content: fc.array(fc.record({ type: fc.constant("output_text"), text }), { maxLength: 2 }),
      }),
    ),
  }),
  fc.record({
    kind: fc.constant("reasoning" as const),
    item: fc.oneof<fc.Arbitrary<Item>[]>(
      fc.record({ type: fc.constant("thinking"), thinking: text, signature: text }),
      fc.record({ type: fc.constant("redacted_thinking"), data: text }),
      fc.constantFrom("encrypted_content", "signature", "data", "thinking").map((member) => ({
        type: "reasoning",
        id: `rs_${FOREIGN}`,
        summary: [],
        [member]: FOREIGN,
      })),
    ),
  }),
  fc.record({
    kind: fc.constant("provider_item" as const),
    item: fc.record({ type: fc.constant("server_tool_use"), id: text, input }),
  }),
);

/** Members of a call, without its id. */
const calledItem: fc.Arbitrary<Item> = fc.oneof<fc.Arbitrary<Item>[]>(
  fc.record({ type: fc.constant("tool_use"), name, input: fc.oneof(input, text) }),
  fc.record({
    type: fc.constant("function_call"),
    name,
    arguments: fc.oneof(fc.json({ maxDepth: 1 }), text),
  }),
  fc.record({ type: fc.constant("custom_tool_call"), name, input: text }),
);

interface Call {
  readonly item: Item;
  readonly output: string;
  readonly at: number;
  readonly later: number;
}

/** Entries as a fold gives them: every call with one result somewhere after it. */
const session: fc.Arbitrary<readonly FoldedEntry[]> = fc.tuple(
  fc.array(spoken, { maxLength: 10 }),
  fc.array(fc.record({ item: calledItem, output: text, at: fc.nat(40), later: fc.nat(4) }), { maxLength: 5 }),
).map(([entries, calls]) => withCalls(entries, calls));

function withCalls(entries: readonly FoldedEntry[], calls: readonly Call[]): readonly FoldedEntry[] {
  const all = [...entries];
  calls.forEach(({ item, output, at, later }, number) => {
    // Some ids fit the API's pattern, others are of servers that write what they like.
    const callId = number % 2 === 0 ? `toolu_${number}` : `functions.ls:${number}`;
    const place = at % (all.length + 1);
    all.splice(place, 0, { kind: "tool_call", callId, item });
    const result: FoldedEntry = { kind: "tool_result", callId, callType: item.type, output };
    all.splice(Math.min(all.length, place + 1 + later), 0, result);
  });
  return all;
}

test.long("whatever the history, roles alternate and every result follows its call directly", () => {
  fc.assert(
    fc.property(session, (entries) => {
      const body = bodyOf(entries);
      const messages = JSON.parse(body).messages as readonly SentMessage[];
      assert.ok(!body.includes(FOREIGN), "foreign reasoning");
      assert.doesNotMatch(body.replaceAll(/"(?:signature|data)":"(?:[^"\\]|\\.)*"/g, ""), /[^\\]\\ud/);
      const ids = new Set<unknown>();
      messages.forEach(({ role, content }, at) => {
        assert.ok(content.length > 0, "an empty message");
        assert.notEqual(role, messages[at - 1]?.role, "two messages of one role");
        const calls = content.filter(({ type }) => type === "tool_use");
        for (const { id, name, input } of calls) {
          assert.match(String(id), PATTERN);
          assert.match(String(name), PATTERN);
          assert.ok(isJsonObject(input) && !ids.has(id), "an id twice, or no object");
          ids.add(id);
        }
        const next = messages[at + 1]?.content.slice(0, calls.length) ?? [];
        if (role === "assistant") {
          assert.deepEqual(
            next.map((one) => one.tool_use_id),
            calls.map(({ id }) => id),
          );
        }
        for (const block of content) {
          assert.equal(block.type === "tool_result", role === "user" && "tool_use_id" in block);
          if (block.type === "text") assert.notEqual(String(block.text).trim(), "");
        }
      });
      const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"));
      assert.equal(results.length, ids.size);
      assert.equal(results.length, entries.filter(({ kind }) => kind === "tool_result").length);
    }),
    { numRuns: 500, seed: SEED },
  );
});

test.long("a history that continues keeps the bytes of all it had, up to the end of its last message", () => {
  fc.assert(
    fc.property(session, session, fc.array(spoken, { maxLength: 3 }), (first, more, tail) => {
      const renamed = more.map((entry) =>
        "callId" in entry ? { ...entry, callId: `b_${entry.callId}` } : entry
      );
      const before = [...first, ...tail];
      const cut = bodyOf(before).slice(0, -"]}]}".length);
      const longer = bodyOf([...before, ...renamed]);
      // A history without any message ends in `"messages":[]}`.
      const known = JSON.parse(bodyOf(before)).messages.length === 0 ? bodyOf(before).slice(0, -2) : cut;
      assert.ok(longer.startsWith(known));
      assert.match(longer.slice(known.length), /^(?:\]\}\]\}$|\]\},\{"role":|,\{"|\{"role":|\]\}$)/);
    }),
    { numRuns: 300, seed: SEED },
  );
});

test.long("a request built from parsed JSON equals the one built from the values it was written from", () => {
  fc.assert(
    fc.property(session, (entries) => {
      assert.equal(bodyOf(JSON.parse(JSON.stringify(entries))), bodyOf(entries));
    }),
    { numRuns: 200, seed: SEED },
  );
});
