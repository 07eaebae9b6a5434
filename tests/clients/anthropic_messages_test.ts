/** Anthropic's own client beside the program: what it makes of a stream, and what it sends. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { says as answers, startMessagesServer, text, thinking } from "../support/scripted_api/messages.ts";
import { recordedStreams } from "../support/recorded_streams.ts";
import { said } from "../support/reprise.ts";
import { ID, SessionHome } from "../doors/sessions/home.ts";
import { Runs } from "../doors/wire/runs.ts";
import { asks, claude, neverRan, tell } from "../doors/wire/story.ts";
import { StreamHome } from "../doors/wire/streams.ts";
import { streamOf } from "../doors/wire/streams_answers.ts";
import { MESSAGES_STREAMS } from "../doors/wire/streams_messages.ts";

const { events = [], items = [] } = MESSAGES_STREAMS["blocks become items, verbatim and in order"] ?? {};
/** The client needs the usage that servers send at the end. */
const whole = events.map((event) =>
  event.type === "message_delta" ? { ...event, usage: { output_tokens: 30 } } : event
);
const WRITTEN = new TextEncoder().encode(streamOf(whole, true));

/** The request that follows from {@linkcode items}, in the client's types, so that the compiler judges its shape. */
const params = (content: Json, result: Json): Anthropic.MessageCreateParamsStreaming => ({
  model: "claude-sonnet-5",
  max_tokens: 32_000,
  stream: true,
  cache_control: { type: "ephemeral" },
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object" } } },
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: [{ type: "text", text: "list files" }] },
    { role: "assistant", content },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: result, is_error: true }],
    },
  ],
});
const PARAMS = params(items, "No such directory");

/** A client that answers itself with `bytes`, and what it sent. */
function clientOf(bytes: Uint8Array): { readonly client: Anthropic; readonly sent: Json[] } {
  const sent: Json[] = [];
  const client = new Anthropic({
    apiKey: "test-key",
    baseURL: "http://127.0.0.1:1",
    maxRetries: 0,
    fetch: (url, init) => {
      const headers = Object.fromEntries(new Headers(init?.headers as HeadersInit));
      sent.push({ path: new URL(String(url)).pathname, headers, body: JSON.parse(String(init?.body)) });
      const type = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(new Uint8Array(bytes), { headers: type }));
    },
  });
  return { client, sent };
}

const [recorded] = recordedStreams().filter(({ name }) => name === "messages/stream.yaml");

for (
  const [what, bytes] of [["of every kind of block", WRITTEN], [
    "that was recorded",
    recorded?.bytes,
  ]] as const
) {
  Deno.test(`Anthropic's client makes the same message of a stream ${what}`, async () => {
    assert.ok(bytes !== undefined);
    const message = await clientOf(bytes).client.messages.stream(PARAMS).finalMessage();
    await using home = new StreamHome();
    const received = await home.receive("messages", bytes);
    const content: Json[] = JSON.parse(JSON.stringify(message.content));
    // The client adds the value that it parsed with the requested schema.
    for (const block of content) delete block.parsed_output;
    assert.deepEqual(received.items, content);
    assert.deepEqual([received.response.id, received.response.model], [message.id, message.model]);
    const { input_tokens, output_tokens } = received.usage;
    assert.deepEqual([input_tokens, output_tokens], [
      message.usage.input_tokens,
      message.usage.output_tokens,
    ]);
  });
}

Deno.test("the body of a request is the one that Anthropic's client sends for the same request", async () => {
  await using home = new SessionHome();
  Deno.writeTextFileSync(`${home.workspace}/schema.json`, '{"type":"object"}');
  home.session(tell(asks("list files"), claude(items), neverRan("toolu_1")));
  const settings = ["--effort", "high", "--summary", "auto", "--instructions", "Be brief.", "--deny", "read"];
  const args = [
    "-s",
    ID,
    "-p",
    "anthropic",
    "-m",
    "claude-sonnet-5",
    "--output-schema",
    "schema.json",
    ...settings,
  ];
  const called = await home.call(["run", "--dry-run", "--body", ...args], {
    env: { ANTHROPIC_API_KEY: "k" },
  });
  assert.equal(called.code, 0, said(called));
  const ours = JSON.parse(called.stdout);
  const { client, sent } = clientOf(WRITTEN);
  await client.messages.create(params(items, ours.messages.at(-1).content[0].content));
  assert.deepEqual(ours, sent[0].body);
});

Deno.test("path, version and the wish to drop bound thinking are those that Anthropic's client sends", async () => {
  const server = startMessagesServer({ script: () => answers([thinking("Hm."), text("Done.")]) });
  await using runs = new Runs(server, ["-p", "anthropic", "-m", "claude-opus-5-5"]);
  await runs.run();
  await runs.run({ flags: ["--instructions", "Be thorough."] });
  const { client, sent } = clientOf(WRITTEN);
  await client.beta.messages.create({
    ...PARAMS as Anthropic.Beta.MessageCreateParamsStreaming,
    thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    betas: ["thinking-binding-controls-2026-08-01"],
  });
  const ours = server.requests.at(-1) as Json;
  assert.deepEqual([ours.path, ours.body.thinking], [sent[0].path, sent[0].body.thinking]);
  for (const name of ["anthropic-version", "anthropic-beta", "content-type"]) {
    assert.equal(ours.headers[name], sent[0].headers[name], name);
  }
});
