/** Recordings, imported, and replayed to the official clients. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { exchangesOf, headerOf, type ReadExchange } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import { recordingBytes, recordingNames } from "../support/recordings.ts";
import { assertEnded, homeOfRecordings, reported, serving } from "./support.ts";

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
