import assert from "node:assert/strict";
import type { EventDraft, Item } from "../../src/domain/event.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/json.ts";
import { foldHistory } from "../../src/fold/fold.ts";
import { openaiResponses } from "../../src/provider/openai/dialect.ts";
import { checkRequest } from "../../src/rules/check.ts";
import { HAS_RECORDINGS, RECORDINGS } from "../provider/openai/recorded_streams.ts";
import { History, TARGET } from "../support/history.ts";
import { recordedLoop, type RecordedStep } from "./recorded_loops.ts";

const NEEDED = HAS_RECORDINGS ? "" : ` (ignored: ${RECORDINGS} is not there)`;
const GRADES = ["wire", "types", "docs", "third_party", "derived"] as const;

/** How a recorded client writes an item that we write otherwise: its item, and ours, made alike. */
interface Difference {
  readonly theirs?: (item: JsonObject) => JsonObject | null;
  readonly ours?: (item: JsonObject) => JsonObject;
}

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
  /** Arguments parsed and written anew, with spaces; we send the model's own bytes. */
  arguments: {
    theirs: (item) =>
      typeof item.arguments === "string"
        ? { ...item, arguments: JSON.stringify(JSON.parse(item.arguments)) }
        : item,
  },
  /** Free text wrapped as JSON arguments; we send the model's own text. */
  custom_input: {
    theirs: (item) =>
      item.type === "custom_tool_call" ? { ...item, input: JSON.parse(String(item.input)).query } : item,
  },
  /** A message without text before the calls, that no response held. */
  empty_message: { theirs: (item) => item.role === "assistant" && item.content === "" ? null : item },
} satisfies Record<string, Difference>;

/** Each recorded loop with exactly the differences that its client makes. */
const LOOPS: readonly (readonly [string, readonly (keyof typeof DIFFERENCES)[]])[] = [
  ["llm/test_responses_round_trips_encrypted_reasoning.yaml", ["easy_message", "arguments"]],
  ["llm/test_responses_tool_use_streaming.yaml", ["easy_message", "arguments"]],
  ["pydantic-ai/test_openai_responses_phase_live.yaml", ["easy_message", "call_id", "status", "logprobs"]],
  ["pydantic-ai/test_openai_responses_thinking_with_tool_calls.yaml", ["easy_message", "call_id"]],
  ["pydantic-ai/test_openai_responses_model_web_search_tool_stream.yaml", [
    "easy_message",
    "status",
    "logprobs",
    "sources",
  ]],
  ["pydantic-ai/test_gpt5_freeform_text_sql_tool.yaml", ["easy_message", "call_id", "custom_input"]],
  ["pydantic-ai/test_openai_responses_model_retry.yaml", ["easy_message", "empty_message"]],
  ["pydantic-ai/test_openai_responses_requires_function_call_status_none.yaml", [
    "easy_message",
    "call_id",
    "status",
  ]],
];

for (const [file, differences] of LOOPS) {
  Deno.test({
    name: `the fold of the responses of ${file} gives the next recorded request${NEEDED}`,
    ignore: !HAS_RECORDINGS,
    fn: async () => {
      const steps = await recordedLoop(file);
      assert.ok(steps.length >= 2);
      const pairs = foldedBeside(steps);
      for (const [ours, theirs] of pairs) {
        const [left, right] = alike(ours, theirs, differences);
        assert.deepEqual(left, right);
        assert.deepEqual(
          checkRequest({ store: false, input: [...ours] }, { mode: "azure", refuse: GRADES }).refusals,
          [],
        );
      }
      // The list says no more than it has to.
      for (const one of differences) {
        const others = differences.filter((name) => name !== one);
        const needed = pairs.some(([ours, theirs]) => {
          const [a, b] = alike(ours, theirs, others);
          return JSON.stringify(a) !== JSON.stringify(b);
        });
        assert.ok(needed, `${one} makes no difference`);
      }
    },
  });
}

Deno.test({
  name:
    `where the API refused a recorded request, the rules refuse it too, and our fold is let through${NEEDED}`,
  ignore: !HAS_RECORDINGS,
  fn: async () => {
    const steps = await recordedLoop("pydantic-ai/test_openai_responses_thinking_with_modified_history.yaml");
    const refused = steps.findIndex(({ status }) => status === 400);
    const theirs = steps[refused];
    assert.ok(theirs !== undefined);
    const options = { mode: "openai", refuse: GRADES } as const;
    assert.deepEqual(checkRequest(theirs.body, options).refusals[0]?.body, theirs.answer);
    const [ours] = foldedBeside(steps.slice(0, refused + 1)).at(-1) ?? [];
    assert.ok(ours !== undefined);
    assert.deepEqual(ours.map(({ type }) => type), ["message", "reasoning", "message", "message"]);
    assert.deepEqual(checkRequest({ ...theirs.body, input: [...ours] }, options).refusals, []);
  },
});

/** Our input after each response, beside the recorded input of the request that followed. */
function foldedBeside(
  steps: readonly RecordedStep[],
): (readonly [readonly JsonObject[], readonly JsonObject[]])[] {
  const history = new History();
  return steps.map(({ body, items }, index) => {
    const known = steps[index - 1]?.body.input;
    const input = itemsIn(body.input);
    replies(history, input, Array.isArray(known) ? known.length : 0);
    const { entries } = foldHistory(history.turns, TARGET);
    const built = openaiResponses.buildRequest({
      model: "m",
      instructions: "",
      tools: [],
      entries,
      cacheKey: "s",
    });
    if (items.length > 0) history.model(items);
    return [JSON.parse(built.body).input, input] as const;
  });
}

/** What the client adds from its side: outputs of calls, and what the user says. */
function replies(history: History, input: readonly JsonObject[], from: number): void {
  const calls = history.turns.at(-1)?.events.filter((event) => event.type === "tool_call") ?? [];
  const added = input.slice(from);
  const events = added.flatMap((item): EventDraft[] => {
    const call = calls.find((event) => event.item.call_id === item.call_id);
    if (call === undefined || typeof item.output !== "string") return [];
    return [{
      type: "tool_result",
      call_id: String(item.call_id),
      call_seq: call.seq,
      tool: String(call.item.name),
      status: "ok",
      output: item.output,
    }];
  });
  if (events.length > 0) history.add({ kind: "tools", run: 1, events });
  for (const { role, content } of added) if (role === "user") history.user(String(content));
}

function itemsIn(input: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(input)) return [{ role: "user", content: input ?? null }];
  return input.filter(isJsonObject);
}

function alike(
  ours: readonly JsonObject[],
  theirs: readonly JsonObject[],
  names: readonly (keyof typeof DIFFERENCES)[],
): [JsonValue, JsonValue] {
  const chosen: readonly Difference[] = names.map((name) => DIFFERENCES[name]);
  const left = ours.map((item) => chosen.reduce((made, { ours = same }) => ours(made), item));
  const right = theirs.flatMap((item) => {
    let made: JsonObject | null = item;
    for (const { theirs = same } of chosen) if (made !== null) made = theirs(made);
    return made === null ? [] : [made];
  });
  return [sorted(left), sorted(right)];
}

function same(item: JsonObject): JsonObject {
  return item;
}

function without(item: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([member]) => member !== name));
}

/** Members in one order: a recording keeps its own. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value as Item).map(([name, member]) =>
    [name, sorted(member ?? null)] as const
  );
  return Object.fromEntries(members.sort(([a], [b]) => a < b ? -1 : 1));
}
