/** Anthropic's own client beside ours: what it makes of a stream, and what it sends. */
import Anthropic from "@anthropic-ai/sdk";
import assert from "node:assert/strict";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import type { Json } from "../support/files.ts";
import { callHere } from "../support/in_process.ts";
import {
  redacted,
  says,
  startMessagesServer,
  text,
  thinking,
  toolUse,
} from "../support/scripted_api/messages.ts";
import { homeOfRecordings, serving } from "./support.ts";

const SCHEMA = { type: "object", properties: {}, required: [], additionalProperties: false };

/** The exchanges of a run with every kind of block, its flags, and the items of its first answer on disk. */
async function recordedRun() {
  const home = homeOfRecordings();
  await using upstream = startMessagesServer({
    script: [
      says([thinking("Let me see."), redacted(), text("I look."), toolUse("list_files", { path: null })]),
      says([text("{}")]),
    ],
  });
  await using recorder = await home.record(new URL(upstream.baseUrl).origin, {
    flags: ["--provider", "anthropic"],
  });
  Deno.writeTextFileSync(`${home.workspace}/schema.json`, JSON.stringify(SCHEMA));
  const flags = ["--effort", "high", "--summary", "auto", "--instructions", "Be brief."];
  const { code, stdout, stderr } = await callHere({
    args: [
      ...["run", "--json", "--new", "-s", "one", "-p", "anthropic", "-m", "claude-opus-5", ...flags],
      ...["--output-schema", "schema.json", "--base-url", recorder.origin, "List files"],
    ],
    cwd: home.workspace,
    env: { ...home.environment(), ANTHROPIC_API_KEY: "key-1" },
    stdin: new Uint8Array(0),
  });
  assert.equal(code, 0, stdout + stderr);
  await recorder.end(0);
  const turn = JSON.parse(Deno.readTextFileSync(`${home.home}/sessions/one/turns/000002.json`));
  const items = turn.events.flatMap(({ item }: Json) => item === undefined ? [] : [item]);
  return { path: recorder.out, exchanges: exchangesOf(recorder.out), items };
}

const RECORDED = await recordedRun();

Deno.test("Anthropic's client makes the same message of a stream as a run keeps", async () => {
  await using server = await serving(RECORDED.path);
  const client = new Anthropic({ apiKey: "test-key", baseURL: server.origin, maxRetries: 0 });
  const { content } = await client.messages.stream(RECORDED.exchanges[0]?.request.body).finalMessage();
  // The client adds the value that it parsed with the requested schema.
  const blocks = content.map((block: Json) => ({ ...block, parsed_output: undefined }));
  assert.deepEqual(JSON.parse(JSON.stringify(blocks)), RECORDED.items);
  assert.deepEqual(RECORDED.items.map(({ type }: Json) => type), [
    ...["thinking", "redacted_thinking", "text", "tool_use"],
  ]);
});

Deno.test("a run sends what Anthropic's client sends for the same request: body, path and version", async () => {
  const [first, second] = RECORDED.exchanges;
  const request = second?.request ?? assert.fail("two requests");
  const result = request.body.messages.at(-1).content[0];
  /** In the client's types, so that the compiler judges the shape. */
  const params: Anthropic.MessageCreateParamsStreaming = {
    model: "claude-opus-5",
    max_tokens: 32_000,
    stream: true,
    cache_control: { type: "ephemeral" },
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high", format: { type: "json_schema", schema: SCHEMA } },
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    tools: first?.request.body.tools.map(({ name, description, input_schema }: Anthropic.Tool) => ({
      ...{ name, description: description ?? "", input_schema, strict: true },
    })),
    messages: [
      { role: "user", content: [{ type: "text", text: "List files" }] },
      { role: "assistant", content: RECORDED.items },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: result.tool_use_id, content: result.content }],
      },
    ],
  };
  let sent: Json = null;
  const client = new Anthropic({
    apiKey: "test-key",
    maxRetries: 0,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers as HeadersInit);
      sent = { path: new URL(String(url)).pathname, headers, body: JSON.parse(String(init?.body)) };
      return Promise.resolve(new Response("", { headers: { "content-type": "text/event-stream" } }));
    },
  });
  await client.messages.create(params);
  assert.deepEqual(request.body, sent.body);
  assert.equal(request.path, sent.path);
  for (const name of ["anthropic-version", "content-type"]) {
    assert.equal(request.headers[name], sent.headers.get(name), name);
  }
});
