/** A recorded session with DeepSeek, whose client sends its own history first: what our fold would send instead. */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { EventDraft, Item } from "../../../src/domain/event.ts";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { FINGERPRINT, History, MODEL } from "../../support/history.ts";
import { recordedLoop } from "./recorded_loops.ts";

const FILE = "responses/deepseek_loop.yaml";
const DEEPSEEK = { ...FINGERPRINT, provider: "compatible" } as const;
const TARGET: FoldTarget = {
  fingerprint: DEEPSEEK,
  needs: foldNeedsOf(DEEPSEEK.provider),
  model: MODEL,
  replay: "exact",
};

/** Members that the recorded client writes in its own way. Nothing else differs. */
const DIFFERENCES: Readonly<
  Record<string, { theirs(item: JsonObject): JsonObject; ours?(item: JsonObject): JsonObject }>
> = {
  "user messages as a role and a string": {
    theirs: (item) =>
      item.role === "user"
        ? { type: "message", role: "user", content: [{ type: "input_text", text: item.content }] }
        : item,
  },
  "the answer as a role and a string; we send the message with its parts and its phase": {
    theirs: (item) => item.role === "assistant" ? { role: "assistant", text: item.content } : item,
    ours: (item) => {
      const [part] = Array.isArray(item.content) ? item.content : [];
      return item.role === "assistant" && isJsonObject(part) ? { role: "assistant", text: part.text } : item;
    },
  },
  "no token, but null; we send the token, and leave out what is null": {
    theirs: (item) => without(item, "encrypted_content"),
    ours: (item) => without(item, "encrypted_content"),
  },
};

Deno.test("the fold of DeepSeek's responses gives the next recorded request, reasoning without a blob included", async () => {
  const steps = await recordedLoop(FILE);
  assert.equal(steps.length, 2);
  const history = new History();
  const pairs = steps.map(({ body, items }, index) => {
    const theirs = elements(body);
    say(history, index === 0 ? theirs : theirs.slice(-1));
    const ours = elements(JSON.parse(built(history)));
    history.model(items, { fingerprint: DEEPSEEK });
    return [ours, theirs] as const;
  });
  for (const pair of pairs) assert.deepEqual(...alike(...pair, Object.keys(DIFFERENCES)));
  const [, [second] = []] = pairs;
  const reasoning = second?.filter(({ type }) => type === "reasoning") ?? [];
  assert.deepEqual(
    reasoning.map(({ encrypted_content: token }) => token),
    [undefined, undefined, steps[0]?.items[0]?.encrypted_content],
    "visible reasoning goes back with its token, and also where there is none",
  );
  // The list has only the necessary facts.
  for (const one of Object.keys(DIFFERENCES)) {
    const others = Object.keys(DIFFERENCES).filter((name) => name !== one);
    const needed = pairs.some((pair) => {
      const [left, right] = alike(...pair, others);
      return JSON.stringify(left) !== JSON.stringify(right);
    });
    assert.ok(needed, `no difference: ${one}`);
  }
});

/** Items that the client made up itself, as the response of an earlier turn. */
function say(history: History, input: readonly JsonObject[]): void {
  const made = input.filter(({ type }) => type === "reasoning" || type === "function_call") as Item[];
  if (made.length > 0) history.model(made, { fingerprint: DEEPSEEK });
  const calls = history.turns.at(-1)?.events.filter((event) => event.type === "tool_call") ?? [];
  const results = input.flatMap((item): EventDraft[] => {
    const call = calls.find((event) => event.item.call_id === item.call_id);
    if (call === undefined || item.type !== "function_call_output") return [];
    return [{
      type: "tool_result",
      call_id: String(item.call_id),
      call_seq: call.seq,
      tool: String(call.item.name),
      status: "ok",
      output: String(item.output),
    }];
  });
  if (results.length > 0) history.add({ kind: "tools", run: 1, events: results });
  for (const { role, content } of input) if (role === "user") history.user(String(content));
}

function built(history: History): string {
  const { entries } = foldHistory(history.turns, TARGET);
  return responsesApi.buildRequest({ model: "m", instructions: "", tools: [], entries, cacheKey: "s" })
    .body;
}

function elements(body: JsonObject): readonly JsonObject[] {
  return Array.isArray(body.input) ? body.input.filter(isJsonObject) : [];
}

function alike(
  ours: readonly JsonObject[],
  theirs: readonly JsonObject[],
  names: readonly string[],
): [readonly JsonObject[], readonly JsonObject[]] {
  const made = (side: "ours" | "theirs") => (item: JsonObject) =>
    names.reduce((before, name) => DIFFERENCES[name]?.[side]?.(before) ?? before, item);
  return [ours.map(made("ours")), theirs.map(made("theirs"))];
}

function without(item: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([member]) => member !== name));
}
