/** Recordings, imported, and replayed to the official clients. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import OpenAI from "openai";
import type { ResponseInput, ResponseInputItem } from "openai/resources/responses/responses";
import { exchangesOf, headerOf, type ReadExchange } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import { recordingBytes, recordingNames } from "../support/recordings.ts";
import { openaiError } from "./openai.ts";
import {
  altered,
  assertEnded,
  assertMissed,
  type Change,
  type Client,
  homeOfRecordings,
  reported,
  serving,
  thrownBy,
} from "./support.ts";

/** Paths that the clients request by a method of their own. */
const ASKABLE = /^\/(?:openai\/)?v1\/(?:responses(?:\/compact)?|messages\?beta=true)$/;

/** An imported recording. */
interface Imported {
  readonly path: string;
  readonly exchanges: readonly ReadExchange[];
}

/** Imports a recording of the tests. */
async function imported(name: string): Promise<Imported[]> {
  const home = homeOfRecordings();
  const file = `sources/${name}`;
  home.file(file, recordingBytes(name));
  const to = Deno.makeTempDirSync({ dir: home.directory });
  const { imported } = await home.json(["import", file, `${to}/imported/${name}`]);
  return imported[0].fixtures.map(({ path }: Json) => {
    const whole = path.startsWith("/") ? path : `${home.directory}/${path}`;
    return { path: whole, exchanges: exchangesOf(whole) };
  });
}

/** All cassettes with several requests that are all askable. */
async function conversations(): Promise<Imported[]> {
  const names = recordingNames("messages", "responses").filter((name) => name.endsWith(".yaml"));
  const fixtures: Imported[] = [];
  for (const name of names) fixtures.push(...await imported(name));
  return fixtures.filter(({ path, exchanges }) =>
    headerOf(path).provider !== "compatible" && exchanges.length > 1 &&
    exchanges.every(({ request }) => request.method === "POST" && ASKABLE.test(request.path))
  );
}

/** Returns the answer to a recorded request as a client parses it, without the members that the client adds. */
async function ask(origin: string, { request: { path, body } }: ReadExchange): Promise<Json> {
  const prefix = path.replace(/\/(?:responses.*|messages.*)$/, "");
  try {
    if (path.includes("/messages")) {
      const client = new Anthropic({ baseURL: origin, apiKey: "key-1" });
      return await answered(client.beta.messages.create(body));
    }
    const client = new OpenAI({ baseURL: `${origin}${prefix}`, apiKey: "key-1" });
    if (path.endsWith("/compact")) return await answered(client.responses.compact(body));
    return await answered(client.responses.create(body));
  } catch (error) {
    if (!(error instanceof OpenAI.APIError) && !(error instanceof Anthropic.APIError)) throw error;
    return reported({ status: error.status, error: error.error });
  }
}

async function answered(answer: PromiseLike<unknown>): Promise<Json> {
  const value = await answer as Json;
  if (value[Symbol.asyncIterator] === undefined) {
    // Computed by the client, for the answers that have an output.
    const { output_text: _, ...response } = value;
    return reported(response);
  }
  const heard: unknown[] = [];
  for await (const event of value) heard.push(event);
  return reported(heard);
}

/** Returns the recorded answer: a document, its events, or an error. */
function recordedAnswer({ response: { status = 200, headers }, text }: ReadExchange): Json {
  if (headers["content-type"]?.includes("event-stream")) {
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
  }
  const document = JSON.parse(text);
  if (status >= 400) return { status, error: document.error };
  const { output_text: _, ...rest } = document;
  return rest;
}

Deno.test(
  "every imported conversation replays to the official clients: the same items, texts, usage and errors",
  async (t) => {
    const fixtures = await conversations();
    assert(fixtures.length >= 15, `${fixtures.length} conversations`);
    for (const { path, exchanges } of fixtures) {
      await t.step(path.slice(path.indexOf("/imported/") + 10), async () => {
        await using server = await serving(path);
        for (const exchange of exchanges) {
          assert.deepEqual(await ask(server.origin, exchange), recordedAnswer(exchange));
        }
        await assertEnded(server, [exchanges.length], { unused: [] });
      });
    }
  },
);

const ROUND_TRIPS = "responses/encrypted_loop.yaml";

/** The loop of the recording, held by `openai` itself: what it sends back is what it was given now. */
function loopOf({ exchanges }: Imported): Client {
  const bodies = exchanges.map(({ request }) => request.body);
  const [first, last] = [bodies[0], bodies.at(-1)];
  const history: Json[] = last.input;
  return async (origin, { prompt, mistake }: Change = {}) => {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: "key-1" });
    const report: unknown[] = [];
    let input: ResponseInput = structuredClone(first.input);
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
          const [call, result] = history.filter(({ call_id }) => call_id === item.call_id);
          assert(call.type === "function_call");
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
    const [fixture] = await imported(ROUND_TRIPS);
    assert(fixture !== undefined);
    const client = loopOf(fixture);
    const first = recordedAnswer(fixture.exchanges[0] as ReadExchange);
    const [reasoning, call] = first.output;

    await t.step("item by item", async () => {
      await using server = await serving(fixture.path);
      const steps = await client(server.origin);
      const seen = (answers: Json) => answers.map(({ output, usage }: Json) => ({ output, usage }));
      assert.deepEqual(seen(steps), seen(fixture.exchanges.map(recordedAnswer)));
      await assertEnded(server, [3], { unused: [] });
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
        await using server = await serving(fixture.path);
        const thrown = await thrownBy(client, server.origin, { mistake }, openaiError);
        assert.deepEqual([thrown.status, thrown.message], [400, message]);
        await assertEnded(server, [1, 0, 1]);
      });
    }
    await t.step("another prompt is a miss", async () => {
      const expected = { path: "input[0].content", recorded: "Sage l cherry gazelle", received: "Pick none" };
      await assertMissed(fixture, { prompt: "Pick none" }, { client, read: openaiError, ...expected });
    });
  },
);
