/** Chat Completions of many servers, from real recordings: import, record, serve, show and lint. */
import assert from "node:assert/strict";
import { chatStream } from "../../../../src/apis/chat/stream.ts";
import { issuedBy } from "../../../../src/fixture/answer_events.ts";
import { lintFixture } from "../../../../src/fixture/inspect/lint.ts";
import { timelineOf, timelineText } from "../../../../src/fixture/inspect/timeline.ts";
import type { Fixture, FixtureExchange } from "../../../../src/fixture/read.ts";
import { denoFiles } from "../../../../src/store/deno_files.ts";
import { Replay } from "../../../clients/support.ts";
import { planned, written } from "../../fixture/import/support.ts";
import { type Answer, RawUpstream, Recording, write } from "../../fixture/record/recording.ts";
import { RECORDINGS } from "../responses/recorded_streams.ts";
import { test } from "../../../support/test.ts";

const FOLDER = `${RECORDINGS}/chat`;
const HAS_CHAT = (() => {
  try {
    return Deno.statSync(FOLDER).isDirectory;
  } catch {
    return false;
  }
})();
const ABSENT = HAS_CHAT ? "" : " (ignored: ../shared/recordings/chat is absent)";

/** A recording, and what its timeline has to say of each exchange. */
const CASES: readonly (readonly [what: string, file: string, ...shown: readonly (readonly string[])[]])[] = [
  ["OpenAI, a streamed call and its answer", "test_run_stream_sync_streams_real_model.yaml", [
    "[0] get_capital call_ZR5UUuTt3pf61kjwAJIYdVMj\n",
    '[0] "{\\"country\\":\\"UK\\"}"\n',
    "finish_reason [0] tool_calls\n",
    "usage       prompt_tokens 53,",
  ], [
    'message assistant "get_capital({\\"country\\":\\"UK\\"})"',
    '"The capital of the UK is London."',
    "[DONE]",
  ]],
  [
    "OpenAI, parallel calls in a stream",
    "test_complex_agent_run_in_workflow.yaml",
    [
      "[0] get_country call_3rqTYrA6H21AYUaRGP4F66oq\n",
      "[0] get_product_name call_Xw9XMKBJU48kAAd78WgIswDx\n",
      '[0] part 2 "{}"\n',
    ],
    ["as in exchange 1", "get_weather"],
    ["final_result"],
  ],
  ["OpenAI, parallel calls in a document", "test_chat_completion_tool_calls_with_content.yaml", [
    'answered    message assistant "get_current_weather({\\"location\\": \\"Seattle, WA\\"}) get_current',
  ], ['answered    message assistant "Today, the weather in Seattle']],
  [
    "OpenAI, a refusal",
    "test_parsed_refused_completion.yaml",
    [
      "answered    message assistant \"I'm very sorry, but",
    ],
    ['answered    message assistant "'],
    ['answered    message assistant "'],
  ],
  ["OpenAI, a refused parameter", "reasoning-model-legacy-parameter-error.json", [
    "status      400",
    "error       \"Unsupported parameter: 'max_tokens' is not supported with this model.",
  ]],
  ["Azure, filters around a stream", "azure-model-router.1.chunks.txt", [
    " chunk\n",
    '[0] "Capital of Denmark."\n',
    "finish_reason [0] stop\n",
    "usage       completion_tokens 78,",
  ]],
  [
    "Azure, a limit",
    "chat_real_error_scenarios_azure_grok-4-1-fast-non-reasoning_handles_context_length_exceeded_errors.yml",
    [
      "status      429 application/json",
      'error       "Your requests to grok-4-1-fast-non-reasoning',
    ],
  ],
  ["DeepSeek, reasoning and a call", "deepseek-tool-call.chunks.txt", [
    'delta.reasoning_content ×39 [0] "The user is asking',
    '[0] "{\\"location\\": \\"San Francisco\\"}"\n',
    "usage       prompt_tokens 339,",
  ]],
  [
    "DeepSeek, an error in octets",
    "chat_real_error_scenarios_deepseek_deepseek-chat_handles_context_length_exceeded_errors.yml",
    [
      "status      400 application/octet-stream",
      "error       \"This model's maximum context length is 1048565 tokens.",
    ],
  ],
  [
    "DeepSeek, a refused key",
    "chat_error_handling_with_deepseek_deepseek-chat_raises_appropriate_auth_error.yml",
    [
      "status      401 application/json",
    ],
  ],
  [
    "Groq, an error that breaks off a stream, and calls whole in one delta",
    "test_tool_use_failed_error_streaming.yaml",
    [
      'delta.reasoning ×93 [0] "We need to call',
      'error "Tool call validation failed',
    ],
    [
      'get_something_by_name fc_bfb39741-3748-4def-9886-a93fc9c64a90 "{\\"name\\":\\"example\\"}"\n',
      "usage       queue_time",
    ],
    ['"The tool returned the expected result'],
  ],
  ["Mistral, thinking in lists", "test_mistral_model_thinking_part_iter.yaml", [
    'delta.thinking ×57 [0] "Okay, the user is asking',
    'delta.content ×97 [0] "To cross the street safely',
    "usage       prompt_tokens 10,",
  ]],
  ["OpenRouter, an error after a finish", "test_openrouter_stream_error.yaml", [
    "comment ×17\n",
    'delta.reasoning ×2 [0] "We need to respond to a greeting. The user"\n',
    "finish_reason ×2 [0] length\n",
    'error "Token limit reached"\n',
    "usage       prompt_tokens 43,",
  ]],
  ["OpenRouter, reasoning and a usage chunk with a choice", "test_openrouter_streaming_reasoning.yaml", [
    'delta.reasoning ×2 [0] " is a simple arithmetic question. 2+2 equals 4."\n',
    'delta.content ×2 [0] "2 + 2 = 4"\n',
    "usage       prompt_tokens 43,",
  ]],
];

async function importedFrom(file: string): Promise<Fixture> {
  const [fixture] = written(await planned(file, Deno.readFileSync(`${FOLDER}/${file}`)));
  return fixture ?? assert.fail(`${file} has no fixture`);
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

for (const [what, file, ...shown] of CASES) {
  test.long({
    name: `chat: ${what}: import, record, serve, show and lint keep every byte${ABSENT}`,
    ignore: !HAS_CHAT,
    async fn() {
      const imported = await importedFrom(file);
      assert.equal(imported.exchanges.length, shown.length);
      assert(imported.exchanges.every(({ request }) => request.api?.name === "chat"));
      await using upstream = new RawUpstream(playing(imported.exchanges));
      await using recording = new Recording(upstream, { provider: imported.provider });
      const requests = imported.exchanges.map(({ request }) => ({
        path: request.path,
        body: request.json ?? { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
      }));
      for (const { path, body } of requests) await (await recording.post(path, body)).text();
      await recording.reported(requests.length);
      assert.deepEqual(
        recording.events.map(({ reason, terminal }) => [reason, terminal]),
        requests.map(() => [null, true]),
      );
      const fixture = await recording.fixture();
      const original = imported.exchanges.map(({ response: { status, body } }) => [status, body]);
      assert.deepEqual(fixture.exchanges.map(({ response: { status, body } }) => [status, body]), original);

      const timelines = fixture.exchanges.map(timelineOf);
      shown.forEach((texts, index) => {
        const text = timelineText(timelines[index] ?? assert.fail(), timelines[index - 1]);
        for (const part of texts) assert(text.includes(part), `${part}\nis not in\n${text}`);
      });

      const options = {
        now: Date.UTC(2026, 10, 21),
        maxAgeDays: null,
        values: [],
        checkArguments: () => null,
      };
      const { findings } = await lintFixture(denoFiles, recording.out, options as never);
      assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);

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
    },
  });
}

test.long({
  name: `chat: every recorded stream is complete with its last chunks only${ABSENT}`,
  ignore: !HAS_CHAT,
  async fn() {
    for (const [, file] of CASES) {
      for (const { request, response } of (await importedFrom(file)).exchanges) {
        if (!response.headers["content-type"]?.startsWith("text/event-stream")) continue;
        const { accepted } = issuedBy({ request, response });
        const text = new TextDecoder().decode(response.body);
        const end = chatStream.watchEnd(request.json);
        const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
        const ended = lines.map((line) => {
          end.take(chatStream.readEvent(JSON.parse(line.slice(6))));
          return end.ended;
        });
        assert.equal(ended.at(-1), true, file);
        // OpenRouter repeats the finish, and sends an error after it.
        const last = Math.max(
          ...['finish_reason":"', '"usage":{', '"error":{'].map((mark) =>
            lines.findLastIndex((line) => line.includes(mark))
          ),
        );
        assert(ended.slice(0, last - 2).every((isEnded) => !isEnded), file);
        assert.equal(!accepted, text.includes('"error":{'), file);
      }
    }
  },
});
