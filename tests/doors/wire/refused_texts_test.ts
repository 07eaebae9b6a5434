/** Errors in the words of many servers: the part of the history that the next request leaves out, if there is one. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { type ResponsesServer, startResponsesServer } from "../../support/scripted_api/responses.ts";
import { answer, message as said } from "../../support/scripted_api/responses_script.ts";
import { call, message, reasoning } from "../sessions/session_files.ts";
import { Runs } from "./runs.ts";
import { asks, ends, gets, says, tell } from "./story.ts";

/** An id with characters of other servers. */
const CALL_ID = "functions.read:1";
/** Places 0 to 6 of the input; the next prompt is at 7. */
const TURNS = tell(
  asks("x"),
  says(["rs_1", { ...call(CALL_ID), namespace: "n" }]),
  gets(CALL_ID),
  says([
    { ...reasoning("tmp-1"), content: [{ type: "reasoning_text", text: "Hm." }] },
    { ...message("msg_1", "a"), phase: "commentary" },
    { type: "web_search_call", id: "ws_1", status: "completed", latency_ms: 12, action: { type: "search" } },
  ]),
  ends(),
);

/** All that is left out: the notices on disk, `include`, or the exit code of a run that sends nothing again. */
type Effect = string | number;
const [ALL, TRIED, CALL] = [
  "reasoning_refused: quarantined quarantined",
  "reasoning_refused: left_out left_out",
  "calls_as_text: 1",
];
const [FIRST, SECOND] = [
  "reasoning_refused: quarantined left_out",
  "reasoning_refused: left_out quarantined",
];
const stripped = (member: string) => `unknown_field: stripped ${member}`;
const unknown = (param: string, effect: Effect) =>
  [`Unknown parameter: '${param}'.`, { param, code: "unknown_parameter" }, effect] as const;

/** Text of the error, its other members or status, and the effect. */
const TEXTS: readonly (readonly [string, Json, Effect])[] = [
  [
    "Item 'rs_1' of type 'reasoning' was provided without its required following item: rs_2, rs_1.",
    {},
    FIRST,
  ],
  [
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    {},
    FIRST,
  ],
  ["No tool output found for custom tool call functions.read:1.", {}, CALL],
  ["No tool call found for shell call output with call_id functions.read:1.", {}, CALL],
  ["No tool output found for function call call_unknown.", {}, CALL],
  ["Invalid 'input[4].id': 'x'. Expected an ID that begins with 'rs'.", { param: "input[4].id" }, SECOND],
  ["Something went wrong.", { code: "invalid_encrypted_content", param: "input[4].encrypted_content" }, ALL],
  ["Encrypted content is not supported with this model.", { param: null }, "include"],
  ["Invalid value: 'reasoning.encrypted_content'.", { param: "include[0]" }, "include"],
  ["Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", {}, ALL],
  ["reasoning item rs_1 expired", { param: null }, ALL],
  ["reasoning item rs_12 expired", { param: null }, TRIED],
  ["Item tmp-1: no permission", { param: null }, ALL],
  ["Item msg_1 cannot be used.", { status: 422 }, TRIED],
  ["Invalid signature.", { param: "input[4]" }, SECOND],
  ["Its reasoning is missing.", { param: "input[0]" }, TRIED],
  ["encrypted content unauthorized for this organization", {}, TRIED],
  ["Reasoning item from model gpt-5.6 is not supported by model gpt-6", { param: "input[1]" }, FIRST],
  ["Unsupported value: 'input' does not support 'reasoning'", { param: null }, TRIED],
  ["invalid", { code: "invalid_prompt", param: null }, TRIED],
  // A member that the item can do without; any other costs the item.
  unknown("input[4].content", stripped("content")),
  unknown("input[5].phase", stripped("phase")),
  unknown("input[2].namespace", stripped("namespace")),
  unknown("input[6].latency_ms", stripped("latency_ms")),
  unknown("input[4].summary", SECOND),
  unknown("input[4].content[0].text", SECOND),
  unknown("input[5].content", TRIED),
  // Nothing about these can be left out.
  ["Unsupported parameter: 'temperature' is not supported with this model.", { param: "temperature" }, 13],
  ["Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.", { param: null }, 13],
  ["Invalid value for reasoning.", { param: "reasoning.effort" }, 13],
  ["Previous response with id 'resp_1' not found.", { param: "previous_response_id" }, 13],
  ["reasoning: permission denied for project", { param: null }, 13],
  ["API key not valid. Please pass a valid API key.", {}, 13],
  ["model 'x' not found", { status: 404, type: null }, 13],
  ["The model 'x-reasoning' does not exist.", {}, 13],
  ["rs_1 was flagged by our usage policy", {}, 13],
  ["Your credit balance is too low for reasoning.", {}, 13],
  ["Your reasoning was flagged as violating our usage policy.", { code: "invalid_prompt", param: null }, 13],
  ["Filtered.", { code: "content_filter" }, 13],
  ["No.", { code: "insufficient_quota" }, 13],
  ["No recorded exchange matches: encrypted_content differs", { code: "fixture_miss" }, 7],
  ["maximum context length is 8192 tokens", {}, 11],
  // Statuses with which no server refuses a history; after the last three the same request is sent again.
  ...([[402, 9], [403, 8], [405, 13], [413, 13], [409, 13], [429, 9], [500, 10]] as const).map((
    [status, exit],
  ) => ["reasoning item rs_1 expired", { status }, exit] as const),
];

/** The bodies of FastAPI servers. */
const DETAILS: readonly (readonly [Json, Effect])[] = [
  ["Bad Request", TRIED],
  [{ message: "encrypted_content too old" }, TRIED],
  [[{ type: "value_error", loc: ["body", "input", 1], msg: "Value error, expired" }], FIRST],
  [[
    { type: "string_type", loc: ["body", "input", "str"], msg: "Input should be a valid string" },
    {
      type: "extra_forbidden",
      loc: ["body", "input", "list[union[Message,Reasoning]]", 5, "Message", "phase"],
      msg: "Extra inputs are not permitted",
    },
  ], stripped("phase")],
  [[{ type: "missing", loc: ["body", "model"], msg: "Field required" }], 13],
  ["Invalid API key", 13],
];

/** Errors inside a stream, by code and text: there only a text or a code tells a refusal from a fault. */
const IN_STREAM: readonly (readonly [string | null, string, Effect])[] = [
  [null, "reasoning item rs_1 expired", ALL],
  ["stale_blob", "Bad", TRIED],
  [null, "Bad", 10],
  ["stale_blob", "An error occurred. You can retry.", 10],
  ["stale_blob", "The engine is overloaded", 10],
  ["invalid_prompt", "Request timed out", TRIED],
];

const event = (error: Json) => {
  const data = { type: "response.failed", response: { id: "resp_9", status: "failed", error } };
  return { kind: "bytes" as const, chunks: [new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`)] };
};
const http = (status: number, body: Json) => {
  const headers = { "content-type": "application/json", "retry-after-ms": "0" };
  return { kind: "http" as const, status, headers, body: JSON.stringify(body) };
};

const ROWS = [
  ...TEXTS.map(([message, { status = 400, ...members }, effect]) => {
    const error = { message, type: "invalid_request_error", param: "input", code: null, ...members };
    const facts = JSON.stringify({ status, ...members });
    return [`"${message}" ${facts}`, http(status, { error }), effect] as const;
  }),
  ...DETAILS.map(([detail, effect]) =>
    [`the detail ${JSON.stringify(detail)}`, http(422, { detail }), effect] as const
  ),
  ...IN_STREAM.map(([code, message, effect]) =>
    [`"${message}" in the stream, with the code ${code},`, event({ code, message }), effect] as const
  ),
];

for (const [name, refusal, effect] of ROWS) {
  const sent = typeof effect === "number"
    ? "no other request is sent"
    : `the next request leaves out: ${effect}`;
  Deno.test(`after ${name} ${sent}`, async () => {
    const server: ResponsesServer = startResponsesServer({
      rules: "none",
      namesAccount: false,
      script: ({ text }) => text === server.requests[0]?.text ? refusal : answer([said("Done.")]),
    });
    await using runs = new Runs(server, ["-m", "gpt-5.6"]);
    runs.session(TURNS);
    const exit = typeof effect === "number" ? effect : 0;
    const { requests: [first, ...others] } = await runs.run({ isOpenAi: true, exit });
    const second = others.find((body) => JSON.stringify(body) !== JSON.stringify(first));
    const left = second === undefined
      ? effect
      : runs.notices() || Object.keys(first).filter((member) => !(member in second)).join();
    assert.equal(left, effect);
  });
}
