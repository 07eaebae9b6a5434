import assert from "node:assert/strict";
import type { Item } from "../../../../src/domain/event.ts";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { FinishedResponse } from "../../../../src/apis/api.ts";
import { readSse, type SseEvent } from "../../../../src/transport/sse.ts";
import { recordedLoop } from "../../fold/recorded_loops.ts";
import { HAS_RECORDINGS, recordedErrors, recordedStreams, RECORDINGS } from "./recorded_streams.ts";
import { test } from "../../../support/test.ts";

const NEEDED = HAS_RECORDINGS ? "" : ` (ignored: ${RECORDINGS} is not there)`;

/** Streams that do not assemble to what their terminal event lists, why, and how they end instead. */
const EXCEPTIONS: readonly {
  readonly name: string;
  readonly reason: string;
  readonly status: FinishedResponse["status"];
  /** Set where only the streams without listed output deviate. */
  readonly withoutOutput?: true;
}[] = [
  {
    name: "pydantic-ai/test_openai_responses_model_mcp_list_tools_stream_backfills_missing_results.yaml",
    reason: "two of its items have no output_item.done: only the terminal event holds them",
    status: "completed",
    withoutOutput: true,
  },
  {
    name: "vercel-ai/openai-issue-8562-missing-reasoning-summary.1.chunks.txt",
    reason: "abridged by its project: the terminal event was removed",
    status: "cut",
  },
  {
    name: "vercel-ai/parallel-tool-call-wrapper.1.chunks.txt",
    reason: "edited manually: its first and its last event lack a closing brace and are not JSON",
    status: "failed",
  },
];

function recorded(name: string, fn: () => void | Promise<void>): void {
  test.long({ name: name + NEEDED, ignore: !HAS_RECORDINGS, fn });
}

recorded("assembler rebuilds what the terminal event of every recorded stream lists", async () => {
  await checkAll((events) => events, EXCEPTIONS.filter(({ withoutOutput }) => !withoutOutput));
});

recorded("assembler rebuilds the same items when terminal events list none", async () => {
  await checkAll((events) => events.map(withoutOutput), EXCEPTIONS);
});

recorded("assembler rebuilds the same items when no event has an event: line", async () => {
  const unnamed = (events: readonly SseEvent[]) => events.map(({ data }) => ({ event: undefined, data }));
  await checkAll(unnamed, EXCEPTIONS.filter(({ withoutOutput }) => !withoutOutput));
});

recorded("recorded streams give the same events however their bytes are cut", async () => {
  const streams = recordedStreams().sort((a, b) => a.bytes.length - b.bytes.length).slice(0, 4);
  for (const { name, bytes } of streams) {
    const whole = JSON.stringify(await eventsOf([bytes]));
    const step = Math.ceil(bytes.length / 2000);
    for (let at = 0; at <= bytes.length; at += step) {
      const events = await eventsOf([bytes.subarray(0, at), bytes.subarray(at)]);
      assert.ok(JSON.stringify(events) === whole, `${name} cut at ${at}`);
    }
    const single = await eventsOf(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    assert.ok(JSON.stringify(single) === whole, `${name} in single bytes`);
  }
});

recorded("every recorded error body is judged by what it says", () => {
  const judged = recordedErrors().map(({ name, status, headers, body }) => {
    const failure = responsesApi.classify(status, headers, body);
    assert.ok(failure.message.length > 30 && failure.status === status, name);
    return [name, failure.code, failure.param] as const;
  });
  assert.ok(judged.length >= 12, `only ${judged.length} error bodies found`);
  const special = judged.filter(([, code]) => code !== "request_refused");
  assert.deepEqual(special, [
    ["vercel-ai/openai-error.1.json", "quota_exhausted", null],
    ["pydantic-ai/test_openrouter_errors_raised.yaml", "rate_limited", null],
    ["pydantic-ai/test_openrouter_errors_raised.yaml", "rate_limited", null],
    ["pydantic-ai/test_openrouter_errors_raised.yaml", "rate_limited", null],
  ]);
});

/**
 * Every recording of a server beside OpenAI: its items, the model that answered, and its tokens of input (and of these
 * from the cache), output (and of these for reasoning). Answers that are no stream are heard as a terminal event alone.
 */
const SERVERS: readonly (readonly [string, readonly string[], string, readonly number[]])[] = [
  ["vercel-ai/azure-tool-call.1.chunks.txt", ["function_call"], "gpt-5.1", [45, 0, 24, 0]],
  [
    "vercel-ai/azure-gpt5-reasoning-multi-summary-with-encryption.chunks.txt",
    ["reasoning", "message"],
    "gpt-5.4",
    [100, 0, 500, 300],
  ],
  [
    "pydantic-ai/test_azure_responses_reasoning_context_default_wire_contract(gpt-5.5).yaml",
    ["reasoning", "message"],
    "gpt-5.5",
    [18, 0, 16, 9],
  ],
  // Bare UUIDs as ids, and a token in place of a blob.
  [
    "pydantic-ai/test_deepseek_responses_replay_own_reasoning_history.yaml#1",
    ["reasoning", "message"],
    "deepseek-v4-flash",
    [180, 128, 40, 38],
  ],
  [
    "pydantic-ai/test_deepseek_responses_replay_own_reasoning_history.yaml#2",
    ["reasoning", "message"],
    "deepseek-v4-flash",
    [189, 128, 102, 100],
  ],
  // Its response has a bare UUID, and its reasoning a status beside the blob.
  [
    "vercel-ai/xai-text-with-reasoning-streaming-store-false.1.chunks.txt",
    ["reasoning", "message"],
    "grok-code-fast-1",
    [216, 192, 831, 253],
  ],
  // Reasoning as text without a blob; arguments without deltas.
  [
    "vercel-ai/lmstudio-tool-call.1.chunks.txt",
    ["reasoning", "message", "function_call"],
    "zai-org/glm-4.7-flash",
    [182, 2, 61, 48],
  ],
  // Bedrock: the reasoning's id begins with `msg_`, and the time has a fraction.
  ["pydantic-ai/test_gpt_oss_responses.yaml", ["reasoning", "message"], "openai.gpt-oss-120b", [
    72,
    0,
    45,
    0,
  ]],
];

recorded("each recorded server's responses are their items, model and usage", async () => {
  const streams = recordedStreams();
  for (const [name, types, model, [input, cached, output, reasoning]] of SERVERS) {
    const stream = streams.find((one) => one.name === name);
    const events = stream === undefined ? [await terminalOf(name)] : await eventsOf([stream.bytes]);
    const { items, response } = assemble(events);
    assert.deepEqual(items.map(({ type }) => type), types, name);
    assert.deepEqual(items.map(comparable), listedItems(events).map(comparable), name);
    assert.deepEqual([response.status, response.model], ["completed", model], name);
    const usage = responsesApi.usageOf(response.usage ?? {});
    assert.deepEqual(
      [usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens],
      [input, cached, output, reasoning],
      name,
    );
  }
});

/** An answer that is no stream as the one event that would end a stream. */
async function terminalOf(name: string): Promise<SseEvent> {
  const [file = "", number = "1"] = name.split("#");
  const answer = (await recordedLoop(file))[Number(number) - 1]?.answer;
  assert.ok(answer !== undefined && answer !== null, name);
  return { event: undefined, data: JSON.stringify({ type: "response.completed", response: answer }) };
}

recorded("DeepSeek's refusal, sent as bytes without a type, names the call that has no output", () => {
  const file = "pydantic-ai/test_deepseek_responses_rejects_interleaved_function_calls.yaml";
  const refused = recordedErrors().find(({ name }) => name === file);
  assert.ok(refused !== undefined);
  assert.equal(refused.headers.get("content-type"), "application/octet-stream");
  const failure = responsesApi.classify(refused.status, refused.headers, refused.body);
  assert.equal(failure.code, "request_refused");
  assert.deepEqual(responsesApi.refusalOf(failure, []), { kind: "call", callId: "call-a" });
});

async function checkAll(
  edit: (events: readonly SseEvent[]) => readonly SseEvent[],
  exceptions: typeof EXCEPTIONS,
): Promise<void> {
  const streams = recordedStreams();
  assert.ok(streams.length >= 50, `only ${streams.length} streams found`);
  const deviating: string[] = [];
  for (const { name, bytes } of streams) {
    const events = await eventsOf([bytes]);
    const { items, response } = assemble(edit(events));
    const same =
      JSON.stringify(items.map(comparable)) === JSON.stringify(listedItems(events).map(comparable));
    if (!same || response.status !== statusOf(events)) deviating.push(name);
    const exception = exceptions.find((other) => other.name === name);
    if (exception !== undefined) assert.equal(response.status, exception.status, name);
  }
  // Also fails when an exception is no longer needed.
  assert.deepEqual(deviating.sort(), exceptions.map(({ name }) => name).sort());
}

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

function statusOf(events: readonly SseEvent[]): string {
  const last = parsed(events.at(-1)?.data ?? "");
  return String(last?.type).replace("response.", "");
}

function withoutOutput(event: SseEvent): SseEvent {
  const payload = parsed(event.data);
  if (!/^response\.(completed|incomplete|failed)$/.test(String(payload?.type))) return event;
  const { output: _, ...response } = payload?.response as JsonObject;
  return { ...event, data: JSON.stringify({ ...payload, response }) };
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
