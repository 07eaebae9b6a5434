import assert from "node:assert/strict";
import type { Item } from "../../../../src/domain/event.ts";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { FinishedResponse } from "../../../../src/apis/api.ts";
import { readSse, type SseEvent } from "../../../../src/transport/sse.ts";
import { interactionsIn } from "../../../support/recordings.ts";
import { recordedErrors, streamsIn } from "../../../support/recorded_streams.ts";

Deno.test("every recorded error body is judged by what it says", () => {
  const judged = recordedErrors().map(({ name, status, headers, body }) => {
    const failure = responsesApi.classify(status, headers, body);
    assert.ok(failure.message.length > 30 && failure.status === status, name);
    return [name, failure.code, failure.param] as const;
  });
  assert.ok(judged.length >= 9, `only ${judged.length} error bodies found`);
  const special = judged.filter(([, code]) => code !== "request_refused");
  assert.deepEqual(special, [
    ["responses/quota_error.json", "quota_exhausted", null],
    ["responses/rate_limited.yaml", "rate_limited", null],
    ["responses/rate_limited.yaml", "rate_limited", null],
    ["responses/rate_limited.yaml", "rate_limited", null],
  ]);
});

/**
 * Every recording of a server beside OpenAI: its items, and the model that answered. Answers that are no stream are heard
 * as a terminal event alone.
 */
const SERVERS: readonly (readonly [name: string, types: readonly string[], model: string])[] = [
  ["responses/azure_call.chunks.txt", ["function_call"], "gpt-5.1"],
  ["responses/azure_summaries.chunks.txt", ["reasoning", "message"], "gpt-5.4"],
  ["responses/azure.yaml", ["reasoning", "message"], "gpt-5.5"],
  // Bare UUIDs as ids, and a token in place of a blob.
  ["responses/deepseek_loop.yaml#1", ["reasoning", "message"], "deepseek-v4-flash"],
  ["responses/deepseek_loop.yaml#2", ["reasoning", "message"], "deepseek-v4-flash"],
  // Its response has a bare UUID, and its reasoning a status beside the blob.
  ["responses/xai.chunks.txt", ["reasoning", "message"], "grok-code-fast-1"],
  // Reasoning as text without a blob; arguments without deltas.
  ["responses/lm_studio.chunks.txt", ["reasoning", "message", "function_call"], "zai-org/glm-4.7-flash"],
  // Bedrock: the reasoning's id begins with `msg_`, and the time has a fraction.
  ["responses/bedrock.yaml", ["reasoning", "message"], "openai.gpt-oss-120b"],
];

for (const [name, types, model] of SERVERS) {
  Deno.test(`responses in ${name} are their items, model and usage`, async () => {
    const [recording = "", number = "1"] = name.split("#");
    const stream = streamsIn(recording)[Number(number) - 1];
    const events = stream === undefined ? [terminalOf(name)] : await eventsOf([stream.bytes]);
    const { items, response } = assemble(events);
    assert.deepEqual(items.map(({ type }) => type), types);
    assert.deepEqual(items.map(comparable), listedItems(events).map(comparable));
    assert.deepEqual([response.status, response.model], ["completed", model]);
    const usage = responsesApi.usageOf(response.usage ?? {});
    const said = /"usage":(\{.*\})/.exec(events.at(-1)?.data ?? "")?.[1] ?? "";
    assert.deepEqual(
      [usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens],
      ["input", "cached", "output", "reasoning"].map((kind) =>
        Number(new RegExp(`"${kind}_tokens":(\\d+)`).exec(said)?.[1] ?? 0)
      ),
    );
    assert.ok(Number(usage.input_tokens) > 0 && Number(usage.output_tokens) > 0);
  });
}

/** An answer that is no stream as the one event that would end a stream. */
function terminalOf(name: string): SseEvent {
  const [file = "", number = "1"] = name.split("#");
  const response = interactionsIn(file)[Number(number) - 1]?.response;
  const answer = response?.parsed_body ?? JSON.parse(String(response?.body?.string));
  return { event: undefined, data: JSON.stringify({ type: "response.completed", response: answer }) };
}

Deno.test("DeepSeek's refusal, sent as bytes without a type, names the call that has no output", () => {
  const file = "responses/deepseek_refusal.yaml";
  const refused = recordedErrors().find(({ name }) => name === file);
  assert.ok(refused !== undefined);
  assert.equal(refused.headers.get("content-type"), "application/octet-stream");
  const [, callId] = /tool call (call-[a-z])\./.exec(refused.body) ?? [];
  const failure = responsesApi.classify(refused.status, refused.headers, refused.body);
  assert.equal(failure.code, "request_refused");
  assert.deepEqual(responsesApi.refusalOf(failure, []), { kind: "call", callId });
});

interface Assembled {
  /** In the order of their positions: an item that only the terminal event lists comes last. */
  readonly items: readonly Item[];
  readonly response: FinishedResponse;
}

function assemble(events: readonly SseEvent[]): Assembled {
  const assembler = responsesApi.newAssembler();
  const updates = [...events.flatMap((event) => assembler.feed(event)), ...assembler.end()];
  const items = updates.filter((update) => update.kind === "item")
    .sort((a, b) => a.outputIndex - b.outputIndex)
    .map(({ item }) => item);
  const finished = updates.filter((update) => update.kind === "finished");
  assert.equal(finished.length, 1);
  return { items, response: (finished[0] as typeof finished[0] & object).response };
}

async function eventsOf(chunks: readonly Uint8Array[]): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const batch of readSse(ReadableStream.from(chunks))) events.push(...batch);
  return events;
}

/** Items that the last event lists, read without any code of the project. */
function listedItems(events: readonly SseEvent[]): readonly Item[] {
  const last = parsed(events.at(-1)?.data ?? "");
  return (last?.response as { output?: readonly Item[] } | undefined)?.output ?? [];
}

function parsed(data: string): JsonObject | undefined {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** Members sorted, and without what the server encrypts afresh each time it writes an item (protocol §4.1). */
function comparable(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((member) => comparable(member) ?? null);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "encrypted_content" && name !== "fingerprint")
      .map(([name, member]) => [name, comparable(member)] as const)
      .sort(([a], [b]) => a < b ? -1 : 1),
  );
}
