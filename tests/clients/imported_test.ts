/** Recordings, imported, and replayed to the official clients. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import OpenAI from "openai";
import type { ResponseInput, ResponseInputItem } from "openai/resources/responses/responses";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/json.ts";
import type { Fixture, FixtureExchange } from "../../src/fixture/read.ts";
import { sseEventsIn } from "../../src/transport/sse.ts";
import { importedFixtures } from "../support/imported.ts";
import { recordingBytes, recordingNames } from "../support/recordings.ts";
import { openaiError } from "./openai.ts";
import { altered, assertMissed, type Change, type Client, Replay, reported, thrownBy } from "./support.ts";

/** Paths that the clients request by a method of their own. */
const ASKABLE = /^\/(?:openai\/)?v1\/(?:responses(?:\/compact)?|messages\?beta=true)$/;

/** All cassettes with several requests that are all askable. */
async function conversations(): Promise<Fixture[]> {
  const names = recordingNames("messages", "responses").filter((name) => name.endsWith(".yaml"));
  const fixtures: Fixture[] = [];
  for (const name of names) {
    const imported = await importedFixtures(name, recordingBytes(name));
    fixtures.push(...imported.map((fixture) => ({ ...fixture, path: name })));
  }
  return fixtures.filter(({ exchanges, provider }) =>
    provider !== "compatible" && exchanges.length > 1 &&
    exchanges.every(({ request }) => request.method === "POST" && ASKABLE.test(request.path))
  );
}

/** Returns the answer to a recorded request as a client parses it, without the members that the client adds. */
async function ask(origin: string, { request }: FixtureExchange): Promise<JsonValue> {
  // Recorded bodies are what the types describe; they were written by other clients.
  // deno-lint-ignore no-explicit-any
  const body = request.json as any;
  const prefix = request.path.replace(/\/(?:responses.*|messages.*)$/, "");
  try {
    if (request.path.includes("/messages")) {
      const client = new Anthropic({ baseURL: origin, apiKey: "key-1" });
      return await answered(client.beta.messages.create(body));
    }
    const client = new OpenAI({ baseURL: `${origin}${prefix}`, apiKey: "key-1" });
    if (request.path.endsWith("/compact")) return await answered(client.responses.compact(body));
    return await answered(client.responses.create(body));
  } catch (error) {
    if (!(error instanceof OpenAI.APIError) && !(error instanceof Anthropic.APIError)) throw error;
    return reported({ status: error.status, error: error.error });
  }
}

async function answered(answer: PromiseLike<unknown>): Promise<JsonValue> {
  const value = await answer as JsonObject & Partial<AsyncIterable<unknown>>;
  if (value[Symbol.asyncIterator] === undefined) {
    // Computed by the client, for the answers that have an output.
    const { output_text: _, ...response } = value;
    return reported(response);
  }
  const heard: unknown[] = [];
  for await (const event of value as unknown as AsyncIterable<unknown>) heard.push(event);
  return reported(heard);
}

/** Returns the recorded answer: a document, its events, or an error. */
function recordedAnswer({ response }: FixtureExchange): JsonValue {
  if (response.headers["content-type"]?.includes("event-stream")) {
    return [...sseEventsIn(response.body)].map(({ data }) => JSON.parse(data));
  }
  const document = JSON.parse(new TextDecoder().decode(response.body));
  if (response.status >= 400) return { status: response.status, error: document.error };
  const { output_text: _, ...rest } = document;
  return rest;
}

Deno.test(
  "every imported conversation replays to the official clients: the same items, texts, usage and errors",
  async (t) => {
    const fixtures = await conversations();
    assert(fixtures.length >= 15, `${fixtures.length} conversations`);
    for (const fixture of fixtures) {
      await t.step(fixture.path, async () => {
        await using replay = new Replay(fixture);
        for (const exchange of fixture.exchanges) {
          assert.deepEqual(await ask(replay.origin, exchange), recordedAnswer(exchange));
        }
        const { served, missed, refused, unused } = replay.replayer.summary;
        assert.deepEqual([served, missed, refused, unused], [fixture.exchanges.length, 0, 0, []]);
      });
    }
  },
);

const ROUND_TRIPS = "responses/encrypted_loop.yaml";

/** The loop of the recording, held by `openai` itself: what it sends back is what it was given now. */
function loopOf(fixture: Fixture): Client {
  const bodies = fixture.exchanges.map(({ request }) => request.json).filter(isJsonObject);
  const [first, last] = [bodies[0] ?? {}, bodies.at(-1) ?? {}];
  const history = last.input as JsonObject[];
  return async (origin, { prompt, mistake }: Change = {}) => {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: "key-1" });
    const report: unknown[] = [];
    let input = structuredClone(first.input) as unknown as ResponseInput;
    if (prompt !== undefined) input = [{ role: "user", content: prompt }];
    for (;;) {
      const body = { ...first, input, stream: false } as OpenAI.Responses.ResponseCreateParamsNonStreaming;
      const { output, output_text, usage } = await client.responses.create(body);
      report.push({ output, output_text, usage });
      const calls = output.filter(({ type }) => type === "function_call");
      if (calls.length === 0) return reported(report);
      input = [
        ...input,
        ...output.flatMap((item): ResponseInputItem[] => {
          if (item.type === "reasoning") {
            const { type, id, summary, encrypted_content: blob } = item;
            const sent = mistake === "blob_altered" ? altered(blob ?? "") : blob ?? "";
            return [{ type, id, summary, encrypted_content: sent }];
          }
          if (item.type !== "function_call") return [];
          // The client of the recording wrote arguments in its own way.
          const [call, result] = history.filter(({ call_id }) => call_id === item.call_id)
            .map((found) => found as unknown as ResponseInputItem);
          assert(call?.type === "function_call" && result !== undefined);
          assert.deepEqual(JSON.parse(call.arguments), JSON.parse(item.arguments));
          return mistake === "output_forgotten" ? [call] : [call, result];
        }),
      ];
    }
  };
}

Deno.test(
  "a recorded loop with encrypted reasoning goes the same way when a client holds it again",
  async (t) => {
    const [fixture] = await importedFixtures(ROUND_TRIPS, recordingBytes(ROUND_TRIPS));
    assert(fixture !== undefined);
    const client = loopOf(fixture);
    const first = recordedAnswer(fixture.exchanges[0] as FixtureExchange) as JsonObject;
    const [reasoning, call] = first.output as JsonObject[];

    await t.step("item by item", async () => {
      await using replay = new Replay(fixture);
      const steps = await client(replay.origin) as JsonObject[];
      const recorded = fixture.exchanges.map(recordedAnswer) as JsonObject[];
      assert.deepEqual(steps.map(({ output }) => output), recorded.map(({ output }) => output));
      assert.deepEqual(steps.map(({ usage }) => usage), recorded.map(({ usage }) => usage));
      const { served, missed, refused, unused } = replay.replayer.summary;
      assert.deepEqual([served, missed, refused, unused], [3, 0, 0, []]);
    });
    const rows = [
      [
        "blob_altered",
        `400 The encrypted content for item ${reasoning?.id} could not be verified. Reason: Encrypted content could ` +
        "not be decrypted or parsed.",
      ],
      ["output_forgotten", `400 No tool output found for function call ${call?.call_id}.`],
    ] as const;
    for (const [mistake, message] of rows) {
      await t.step(`${mistake} is refused`, async () => {
        await using replay = new Replay(fixture);
        const thrown = await thrownBy(client, replay.origin, { mistake }, openaiError);
        assert.deepEqual([thrown.status, thrown.message], [400, message]);
        const { served, missed, refused } = replay.replayer.summary;
        assert.deepEqual([served, missed, refused], [1, 0, 1]);
      });
    }
    await t.step("another prompt is a miss", async () => {
      const recorded = { fixture, report: null };
      const expected = { path: "input[0].content", recorded: "Sage l cherry gazelle", received: "Pick none" };
      await assertMissed(recorded, { prompt: "Pick none" }, { client, read: openaiError, ...expected });
    });
  },
);
