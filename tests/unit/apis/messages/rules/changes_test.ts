import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject } from "../../../../../src/domain/json.ts";
import { MessagesIssuer } from "../../../../support/messages_server/issuer.ts";
import { HEADERS, request } from "./refused_requests.ts";
import { test } from "../../../../support/test.ts";
import { checkMessagesRequest } from "../../../../support/rule_checks.ts";

type Message = { readonly role: "user" | "assistant"; readonly content: readonly JsonObject[] };

const MODEL = "claude-opus-5-5";
const SYSTEM = "Be brief.";

/** Output of the model in one turn: optional text before each thought, then calls to answer. */
interface Turn {
  readonly thoughts: readonly ("thinking" | "redacted")[];
  readonly calls: number;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  thoughts: fc.array(fc.constantFrom("thinking", "redacted"), { minLength: 1, maxLength: 3 }),
  calls: fc.integer({ min: 1, max: 3 }),
});

/** A tool loop as a server of prefix-bound models answered it. */
function conversation(issuer: MessagesIssuer, turns: readonly Turn[]): Message[] {
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "go" }] }];
  for (const { thoughts, calls } of turns) {
    const content: JsonObject[] = [];
    thoughts.forEach((kind, index) => {
      const prefix = {
        model: MODEL,
        system: SYSTEM,
        tools: null,
        messages: [...messages, { role: "assistant", content: [...content] }],
      };
      content.push(issuer.thinking(kind === "redacted" ? null : `thought ${index}`, MODEL, prefix));
      content.push({ type: "text", text: `words ${messages.length}.${index}` });
    });
    const uses = Array.from({ length: calls }, (): JsonObject => ({
      type: "tool_use",
      id: issuer.toolUseId(),
      name: "f",
      input: {},
    }));
    messages.push({ role: "assistant", content: [...content, ...uses] });
    messages.push({
      role: "user",
      content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `${id}` })),
    });
  }
  return messages;
}

const isThought = ({ type }: JsonObject) => type === "thinking" || type === "redacted_thinking";

function refusalsOf(issuer: MessagesIssuer, messages: readonly Message[]) {
  const sent = messages.filter(({ content }) => content.length > 0).map(({ role, content }) => ({
    role,
    content,
  }));
  return checkMessagesRequest(request(sent, { model: MODEL, system: SYSTEM }), HEADERS, {
    judge: issuer.judge,
    refuse: ["wire", "types", "docs", "third_party"],
  }).refusals;
}

/** The messages with other blocks at `place`. */
function changed(messages: readonly Message[], place: number, blocks: readonly JsonObject[]): Message[] {
  return messages.map((message, index) => index === place ? { ...message, content: blocks } : message);
}

test.long("Messages rules find each block that is gone from a tool loop, or changed places with its neighbour", () => {
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      fc.boolean(),
      (turns, pick, swap) => {
        const issuer = new MessagesIssuer(() => true);
        const messages = conversation(issuer, turns);
        assert.deepEqual(refusalsOf(issuer, messages), []);
        const places = messages.flatMap(({ content }, message) =>
          content.map((_, block) => [message, block] as const)
        );
        const [message, block] = places[pick % places.length] ?? [0, 0];
        const content: readonly JsonObject[] = messages[message]?.content ?? [];
        const [one, two] = [content[block], content[block + 1]];
        if (one === undefined || (swap && two === undefined)) return;
        const blocks = swap && two !== undefined
          ? content.with(block, two).with(block + 1, one)
          : content.toSpliced(block, 1);
        const later = messages.flatMap(({ content }, index) =>
          content.filter((_, position) =>
            index > message || (index === message && position > block + (swap ? 1 : 0))
          )
        );
        const earlier = messages.flatMap(({ content }, index) =>
          content.filter((_, position) => index < message || (index === message && position < block))
        );
        const refused = refusalsOf(issuer, changed(messages, message, blocks)).length > 0;
        if (later.some(isThought)) {
          // Thinking may go from the start of a conversation (protocol §11); anything else was there when it was made.
          const fromStart = !swap && isThought(one) && !earlier.some(isThought);
          assert.equal(refused, !fromStart);
        } else if (swap) {
          // No later thought was made from it: only a thought itself has a place.
          assert.equal(refused, isThought(one) || isThought(two ?? one));
        } else assert.equal(refused, one.type === "tool_use" || one.type === "tool_result");
      },
    ),
    { seed: 20261121, numRuns: 300 },
  );
});

Deno.test("Messages rules allow thinking to be removed from the start, the end or all, and nowhere else", () => {
  const issuer = new MessagesIssuer(() => true);
  const messages = conversation(issuer, Array(4).fill({ thoughts: ["thinking"], calls: 1 }));
  const without = (...gone: readonly number[]) =>
    messages.map((message, index) =>
      gone.includes(index)
        ? { ...message, content: message.content.filter((block) => !isThought(block)) }
        : message
    );
  // The turns of the model are 1, 3, 5 and 7.
  for (const gone of [[1], [1, 3], [7], [5, 7], [1, 7], [1, 3, 5, 7]]) {
    assert.deepEqual(refusalsOf(issuer, without(...gone)), [], gone.join());
  }
  for (const gone of [[3], [5], [3, 5], [1, 5]]) {
    assert.equal(refusalsOf(issuer, without(...gone))[0]?.rule, "signature_bound", gone.join());
  }
});

Deno.test("Messages rules find edited thinking, and thinking that no model issued", () => {
  const issuer = new MessagesIssuer(() => false);
  const messages = conversation(issuer, [{ thoughts: ["thinking"], calls: 1 }]);
  const content: readonly JsonObject[] = messages[1]?.content ?? [];
  const [thought, ...rest] = content;
  assert(thought !== undefined);
  for (const other of [{ ...thought, thinking: "thought" }, { ...thought, signature: "gAAAAABq" }]) {
    assert.equal(refusalsOf(issuer, changed(messages, 1, [other, ...rest]))[0]?.rule, "signature");
  }
});
