/** Chat Completions of many servers, from recordings: import, record, serve, show and lint. */
import assert from "node:assert/strict";
import { chatStream } from "../../../../src/apis/chat/stream.ts";
import { issuedBy } from "../../../../src/fixture/answer_events.ts";
import { type Fixture, type FixtureExchange, readFixture } from "../../../../src/fixture/read.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { Replay } from "../../../clients/support.ts";
import { RecordingHome } from "../../../doors/recordings/home.ts";
import { importedFixtures } from "../../../support/imported.ts";
import { type Answer, RawUpstream, write } from "../../../support/raw_upstream.ts";
import { areOwnRecordings, recordingBytes } from "../../../support/recordings.ts";
import { test } from "../../../support/test.ts";

/** A recording, and what its timeline has to say of each exchange. */
const CASES: readonly (readonly [what: string, name: string, ...shown: readonly (readonly string[])[]])[] = [
  ["OpenAI, a streamed call and its answer", "chat/streamed_call.yaml", [
    "[0] ivy_thistle call_DM0YZrVj7vr47gkyGPPGuMDe\n",
    '[0] "{\\"gazelle\\":\\"FA\\"}"\n',
    "finish_reason [0] tool_calls\n",
    "(45 tokens in, ",
  ], [
    "← ivy_thistle: returned · FA\n",
    "  Bay thistle ta bay FA wa Jasmin.\n",
    "[DONE]",
  ]],
  [
    "OpenAI, parallel calls in a stream",
    "chat/parallel_calls.yaml",
    [
      "[0] ivy_gazelle call_9tqAMzT8X33CNZqLRP1Q57zn\n",
      "[0] ivy_parsnip_lark call_Tt6JYVAHD95pQLy55FuLwpDp\n",
      '[0] part 2 "{}"\n',
    ],
    ["as in exchange 1", "ivy_ostrich"],
    ["larch_beaver"],
  ],
  ["OpenAI, parallel calls in a document", "chat/calls.yaml", [
    "  → ivy_juniper_ostrich Cypress, LO\n  → ivy_juniper_ostrich Gnu Aldermoth, TA\n",
  ], ["complete)\n  Lilac, bay ostrich ra Cypress"]],
  [
    "OpenAI, a refusal",
    "chat/refusal.yaml",
    [
      "complete)\n  T'x sage hazel, bay",
    ],
    ["complete)\n  "],
    ["complete)\n  "],
  ],
  ["OpenAI, a refused parameter", "chat/parameter_error.json", [
    "(answer: 400 ",
    "(Unsupported parameter: 'max_tokens' is not supported with this model.",
  ]],
  ["Azure, filters around a stream", "chat/azure_filters.chunks.txt", [
    " chunk\n",
    '[0] "Thistle ta Panther."\n',
    "finish_reason [0] stop\n",
    "tokens in, 66 out",
  ]],
  ["Azure, a limit", "chat/azure_limit.yml", [
    "(answer: 429 application/json",
    "(Beet primrose xi lark-7-6-tern-keg-lemurrush",
  ]],
  ["DeepSeek, reasoning and a call", "chat/deepseek_call.chunks.txt", [
    'delta.reasoning_content ×39 [0] "Bay oats wa spruce',
    '[0] "{\\"primrose\\": \\"Gnu Aldermoth\\"}"\n',
    "(298 tokens in",
  ]],
  ["DeepSeek, an error in octets", "chat/deepseek_context.yml", [
    "(answer: 400 application/octet-stream",
    "(This model's maximum context length is 6954188 radish.",
  ]],
  ["DeepSeek, a refused key", "chat/deepseek_key.yml", [
    "(answer: 401 application/json",
  ]],
  [
    "Groq, an error that breaks off a stream, and calls whole in one delta",
    "chat/groq_error.yaml",
    [
      'delta.reasoning ×93 [0] "Ta pear xi oats',
      'error "Rook oats ravenbirch magpie',
    ],
    [
      'ivy_lilacmole_pi_lark fc_dfa47889-3754-5aec-9574-e91af2b09d73 "{\\"lark\\":\\"gazelle\\"}"\n',
      " tokens in",
    ],
    ['"Bay rook pheasant bay cucumber beaver'],
  ],
  ["Mistral, thinking in lists", "chat/mistral_thinking.yaml", [
    'delta.thinking ×57 [0] "Pear, bay oats wa spruce',
    'delta.content ×97 [0] "Xi larch bay magpie laurel',
    "(10 tokens in, ",
  ]],
  ["OpenRouter, an error after a finish", "chat/openrouter_error.yaml", [
    "comment ×17\n",
    'delta.reasoning ×2 [0] "Ta pear xi chervil xi l starling. Bay oats"\n',
    "finish_reason ×2 [0] length\n",
    'error "Tapir poppy thistle"\n',
    "(37 tokens in",
  ]],
  ["OpenRouter, reasoning and a usage chunk with a choice", "chat/openrouter_reasoning.yaml", [
    'delta.reasoning ×2 [0] " wa l puffin craneclove bluebell. 1+1 acacia 7."\n',
    'delta.content ×2 [0] "1 + 1 = 7"\n',
    "(37 tokens in",
  ]],
];

async function importedFrom(name: string): Promise<Fixture> {
  const [fixture] = await importedFixtures(name, recordingBytes(name));
  return fixture ?? assert.fail(`${name} has no fixture`);
}

/** Answers with the recorded bytes, one exchange after the other. */
function playing(exchanges: readonly FixtureExchange[]): Answer {
  let next = 0;
  return async (connection) => {
    const { response: { status, headers, body } } = exchanges[next++] ?? assert.fail("a request too many");
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await write(
      connection,
      `HTTP/1.1 ${status} Recorded\r\n${lines}content-length: ${body.length}\r\nconnection: close\r\n\r\n`,
    );
    await write(connection, body);
  };
}

for (const [what, name, ...shown] of CASES) {
  test.long(`chat: ${what}: import, record, serve, show and lint keep every byte`, async () => {
    const imported = await importedFrom(name);
    assert.equal(imported.exchanges.length, shown.length);
    assert(imported.exchanges.every(({ request }) => request.api?.name === "chat"));
    await using upstream = new RawUpstream(playing(imported.exchanges));
    await using home = new RecordingHome();
    await using recording = await home.record(upstream.origin, { flags: ["--provider", imported.provider] });
    const requests = imported.exchanges.map(({ request }) => ({
      path: request.path,
      body: request.json ?? { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
    }));
    for (const { path, body } of requests) await (await recording.post(path, body)).text();
    await recording.reported(requests.length);
    assert.deepEqual(
      recording.exchanges.map(({ reason, terminal }) => [reason, terminal]),
      requests.map(() => [null, true]),
    );
    await recording.end(0);
    const fixture = readFixture(denoFiles, recording.out);
    const original = imported.exchanges.map(({ response: { status, body } }) => [status, body]);
    assert.deepEqual(fixture.exchanges.map(({ response: { status, body } }) => [status, body]), original);

    const { stdout } = await home.verb(["show", "recorded"]);
    const sections = stdout.slice(stdout.indexOf("── ")).split("\n── ");
    shown.forEach((texts, index) => {
      const text = sections[index] ?? assert.fail();
      if (!areOwnRecordings()) return;
      for (const part of texts) assert(text.includes(part), `${part}\nis not in\n${text}`);
    });

    const findings = await home.findings("recorded");
    assert.deepEqual(findings.filter((line) => line.startsWith("error ")), []);

    await using replay = new Replay(fixture);
    const played: [number, Uint8Array][] = [];
    for (const { path, body } of requests) {
      const init = { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${replay.origin}${path}`, init);
      played.push([response.status, await response.bytes()]);
    }
    assert.deepEqual(played, original);
    assert.deepEqual(replay.replayer.summary.unused, []);
    assert.deepEqual([replay.replayer.summary.missed, replay.replayer.summary.warned], [0, 0]);
  });
}

for (const [, name] of CASES) {
  Deno.test(`chat: a stream in ${name} is complete with its last chunks only`, async () => {
    for (const { request, response } of (await importedFrom(name)).exchanges) {
      if (!response.headers["content-type"]?.startsWith("text/event-stream")) continue;
      const { accepted } = issuedBy({ request, response });
      const text = new TextDecoder().decode(response.body);
      const end = chatStream.watchEnd(request.json);
      const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
      const ended = lines.map((line) => {
        end.take(chatStream.readEvent(JSON.parse(line.slice(6))));
        return end.ended;
      });
      assert.equal(ended.at(-1), true);
      // OpenRouter repeats the finish, and sends an error after it.
      const last = Math.max(
        ...['finish_reason":"', '"usage":{', '"error":{'].map((mark) =>
          lines.findLastIndex((line) => line.includes(mark))
        ),
      );
      assert(ended.slice(0, last - 2).every((isEnded) => !isEnded));
      assert.equal(!accepted, text.includes('"error":{'));
    }
  });
}
