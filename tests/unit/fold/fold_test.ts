import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { Item } from "../../../src/domain/event.ts";
import type { FoldedEntry } from "../../../src/domain/folded.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { ORPHAN_OUTPUT } from "../../../src/fold/history_fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { call, History, message, reasoning, TARGET } from "../../support/history.ts";
import { test } from "../../support/test.ts";

function outputs(entries: readonly FoldedEntry[]): string[] {
  return entries.flatMap((entry) => entry.kind === "tool_result" ? [`${entry.callId}: ${entry.output}`] : []);
}

function body(turns: readonly Turn[]): string {
  const { entries } = foldHistory(turns, TARGET);
  return responsesApi.buildRequest({ model: "m", instructions: "i", tools: [], entries, cacheKey: "s" })
    .body;
}

Deno.test("a call without a recorded result is answered in the request, after the results of its batch", () => {
  const history = new History().user("x").model([call("a"), call("b"), call("c")]).results(["b"]).user("y");
  const { entries, repairs } = foldHistory(history.turns, TARGET);
  assert.deepEqual(outputs(entries), ["b: output of b", `a: ${ORPHAN_OUTPUT}`, `c: ${ORPHAN_OUTPUT}`]);
  assert.deepEqual(repairs.map(({ kind, callId }) => `${kind} ${callId}`), [
    "orphan_answered a",
    "orphan_answered c",
  ]);
  assert.equal(entries.at(-1)?.kind, "user_message");
});

Deno.test("an orphan call is answered before the next response begins", () => {
  const history = new History().user("x").model([call("a")]).model([message("msg_1", "done")]);
  const kinds = foldHistory(history.turns, TARGET).entries.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["user_message", "tool_call", "tool_result", "assistant_message"]);
});

Deno.test("an orphan call at the end of the history is answered too", () => {
  const { entries } = foldHistory(new History().user("x").model([call("a")]).turns, TARGET);
  assert.deepEqual(outputs(entries), [`a: ${ORPHAN_OUTPUT}`]);
});

Deno.test("a repeated call id gets a suffix on the wire, and its result with it", () => {
  const history = new History().user("x")
    .model([call("a"), call("a")]).results()
    .model([call("a"), call("a-2")]).results();
  const { entries } = foldHistory(history.turns, TARGET);
  const calls = entries.flatMap((entry) => entry.kind === "tool_call" ? [entry.callId] : []);
  assert.deepEqual(calls, ["a", "a-2", "a-3", "a-2-2"]);
  assert.equal(new Set(calls).size, calls.length);
  assert.deepEqual(outputs(entries).map((text) => text.split(":")[0]), calls);
});

test.long("results answer by the call's seq: each call has exactly one output after it", () => {
  fc.assert(
    fc.property(fc.array(historyStep(), { maxLength: 12 }), (steps) => {
      const { entries } = foldHistory(build(steps).turns, TARGET);
      const open = new Set<string>();
      const seen = new Set<string>();
      for (const entry of entries) {
        if (entry.kind === "tool_call") {
          assert.ok(!seen.has(entry.callId), `call id ${entry.callId} is sent twice`);
          seen.add(entry.callId);
          open.add(entry.callId);
        } else if (entry.kind === "tool_result") {
          assert.ok(open.delete(entry.callId), `output without an open call ${entry.callId}`);
        } else if (entry.kind === "user_message") {
          assert.equal(open.size, 0, "a user message comes before the outputs");
        }
      }
      assert.equal(open.size, 0);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test.long("the request folded from memory equals the request folded from disk, byte for byte", () => {
  fc.assert(
    fc.property(fc.array(historyStep(), { maxLength: 10 }), (steps) => {
      const history = build(steps);
      const fromDisk = history.files.map((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Turn);
      assert.equal(body(fromDisk), body(history.turns));
    }),
    { seed: 11, numRuns: 500 },
  );
});

test.long("each request of a tool loop has the one before as an exact prefix of its input", () => {
  fc.assert(
    fc.property(fc.array(fc.array(item(), { minLength: 1, maxLength: 4 }), { maxLength: 6 }), (responses) => {
      const history = new History().user("x");
      let before = inputOf(body(history.turns));
      for (const items of responses) {
        // A response that ends in reasoning is no step of a loop: the loop ends with it. A server that uses an id of
        // reasoning again makes the older item go.
        const step = history.turns.length;
        const own = items.map((each, index) =>
          each.type === "reasoning" ? { ...each, id: `rs_${step}_${index}` } : each
        );
        history.model([...own, call("next")]).results();
        const now = inputOf(body(history.turns));
        assert.equal(now.slice(0, before.length), before);
        before = now;
      }
    }),
    { seed: 13, numRuns: 300 },
  );
});

/** The elements of `input` as sent, without the closing brackets. */
function inputOf(text: string): string {
  return text.slice(text.indexOf('"input":[')).slice(0, -2);
}

type Step = { readonly kind: "user" | "none" | "some" | "all"; readonly items: readonly Item[] };

function historyStep(): fc.Arbitrary<Step> {
  return fc.record({
    kind: fc.constantFrom("user" as const, "none" as const, "some" as const, "all" as const),
    items: fc.array(item(), { minLength: 1, maxLength: 5 }),
  });
}

function build(steps: readonly Step[]): History {
  const history = new History().user("start");
  for (const { kind, items } of steps) {
    if (kind === "user") history.user("more");
    else history.model(items);
    if (kind === "all") history.results();
    if (kind === "some") history.results(["c1", "c3"]);
  }
  return history;
}

/** Items with awkward members: unknown fields, odd keys, numbers that JSON rewrites, text outside ASCII. */
function item(): fc.Arbitrary<Item> {
  return fc.oneof(
    fc.integer({ min: 1, max: 6 }).map((n) => reasoning(`rs_${n}`)),
    fc.integer({ min: 1, max: 4 }).map((n) => call(`c${n}`)),
    fc.string({ unit: "binary" }).map((text) => message("msg_1", text)),
    fc.json().map((extra): Item => ({
      ...JSON.parse(`{"__proto__":1,"10":"ten","2":"two","extra":${extra}}`),
      type: "mystery_item",
      id: "my_1",
    })),
  );
}
