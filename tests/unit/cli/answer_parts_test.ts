/** Calls and texts of answers, whole and cut, of each API: what `certify` takes for sent and finished. */
import assert from "node:assert/strict";
import { answerParts, historyOf } from "../../../src/cli/certify/calls.ts";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { answerEvents, chat, framed, message } from "../../doors/recordings/answers.ts";
import { type GivenExchange, writeFixture } from "../../doors/recordings/recording_files.ts";

const CALLED = { tool_calls: [{ index: 0, function: { arguments: '{"city":"Oslo"}' } }] };
const BEGUN = {
  tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } }],
};
const RESPONSES: GivenExchange = { request: { path: "/v1/responses" }, body: framed(answerEvents("m")) };
const CHAT = chat("a", { content: "I look" }, BEGUN, CALLED, { finish_reason: "tool_calls" });

/** An answer, the text before which it is cut, and the finished calls and text that are left. */
const rows:
  readonly (readonly [name: string, given: GivenExchange, before: string, calls: number, text: string])[] = [
    ["Responses", RESPONSES, "", 1, "I look it up."],
    ["Responses inside the text", RESPONSES, '"delta":"it up."', 0, "I look "],
    [
      "Responses before the end of the call",
      RESPONSES,
      '"type":"response.output_item.done","output_index":2',
      0,
      "I look it up.",
    ],
    ["Responses before its last event", RESPONSES, '"type":"response.completed"', 1, "I look it up."],
    ["Messages", message("Oslo"), "", 1, "In Oslo"],
    [
      "Messages before the end of the call",
      message("Oslo"),
      '"type":"content_block_stop","index":2',
      0,
      "In Oslo",
    ],
    ["Messages before the stop reason", message("Oslo"), '"type":"message_delta"', 1, "In Oslo"],
    ["Chat Completions", CHAT, "", 1, "I look"],
    ["Chat Completions before its usage", CHAT, '"choices":[],', 1, "I look"],
    ["Chat Completions before the finish reason", CHAT, '"finish_reason":"tool_calls"', 0, "I look"],
    [
      "Chat Completions with [DONE] alone",
      { ...CHAT, body: `${String(CHAT.body).split("data: {").slice(0, -2).join("data: {")}data: [DONE]\n\n` },
      "",
      1,
      "I look",
    ],
  ];

for (const [name, given, before, calls, text] of rows) {
  Deno.test(`the parts of an answer are known: ${name}`, () => {
    const directory = Deno.makeTempDirSync();
    try {
      const [exchange] = readFixture(denoFiles, writeFixture(`${directory}/f`, [given])).exchanges;
      assert(exchange !== undefined);
      const { body } = exchange.answer;
      const at = before === "" ? body.length : new TextDecoder().decode(body).indexOf(before);
      assert(at > 0, new TextDecoder().decode(body));
      const parts = answerParts(exchange, body.slice(0, at));
      assert.equal(parts.finished.size, calls);
      assert.equal(parts.calls.length, 1);
      assert.equal(parts.text, text);
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  });
}

Deno.test("calls and results of a history are those of each API", () => {
  const args = '{"city":"Oslo"}';
  const call = { id: "c", name: "weather", args };
  const histories = [
    {
      input: [
        { type: "function_call", call_id: "c", name: "weather", arguments: '{ "city": "Oslo" }' },
        { type: "function_call_output", call_id: "c", output: "rain" },
      ],
    },
    {
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c", name: "weather", input: { city: "Oslo" } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "rain" }] },
      ],
    },
    {
      messages: [
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "weather", arguments: args } }],
        },
        { role: "tool", tool_call_id: "c", content: "rain" },
      ],
    },
  ];
  for (const history of histories) assert.deepEqual(historyOf(history), { calls: [call], results: ["c"] });
  assert.deepEqual(historyOf(undefined), { calls: [], results: [] });
});
