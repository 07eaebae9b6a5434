/** Arguments that are no JSON object: kept verbatim, never executed, and sent so that the server accepts them. */
import assert from "node:assert/strict";
import { endpointHashes } from "../../../src/domain/fingerprint.ts";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { answer, message, type Script } from "../../support/responses_server.ts";
import { rawItem, type ScriptedResponse } from "../../support/responses_server/script.ts";
import { refuse } from "../../support/responses_server/refusing.ts";
import { refusedSession } from "./refusing.ts";
import { ECHO } from "./scripted.ts";

/** Arguments as a model may write them, and the object that replaces them. */
const RAW: readonly (readonly [string, JsonObject])[] = [
  ["", {}],
  [" \n", {}],
  ['{"text":"a', { INVALID_JSON: '{"text":"a' }],
  ['["a"]', { INVALID_JSON: '["a"]' }],
  ['"a"', { INVALID_JSON: '"a"' }],
  ["null", { INVALID_JSON: "null" }],
  ["{}{}", { INVALID_JSON: "{}{}" }],
];
const { endpoint: OPENAI } = endpointHashes(new URL("https://api.openai.com/v1"));

let runs = 0;
const COUNTED = {
  ...ECHO,
  run: () => {
    runs += 1;
    return Promise.resolve({ status: "ok" as const, output: "ran" });
  },
};
const TOOLS = { tools: [COUNTED], knownTools: [COUNTED] };

function callWith(text: string): ScriptedResponse {
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "echo", arguments: text };
  return answer([rawItem({ ...call, status: "completed" })]);
}

function argumentsIn(input: readonly JsonObject[]): string[] {
  return input.filter(({ type }) => type === "function_call").map((call) => String(call.arguments));
}

function isObject(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Answers with one call first; refuses arguments that are no object if `refusal` is given. */
function calling(text: string, refusal?: ScriptedResponse): Script {
  return ({ input }) => {
    const sent = argumentsIn(input);
    if (sent.length === 0) return callWith(text);
    return refusal !== undefined && !sent.every(isObject) ? refusal : answer([message("Done.")]);
  };
}

for (const [text, object] of RAW) {
  Deno.test(`the arguments ${JSON.stringify(text)} are kept, answered with an error, and sent as an object`, async () => {
    runs = 0;
    await refusedSession({ script: calling(text), rules: "none" }, async (session) => {
      assert.equal((await session.run("Go", TOOLS)).ended.state, "completed");
      assert.equal(runs, 0);
      const events = session.turns().flatMap(({ events }) => events);
      const call = events.find((event) => event.type === "tool_call");
      assert.equal(call?.type === "tool_call" ? call.item.arguments : null, text);
      const result = events.find((event) => event.type === "tool_result");
      assert.ok(result?.type === "tool_result" && result.status === "invalid_arguments");
      const [sent] = argumentsIn(session.server.requests[1]?.input ?? []);
      assert.deepEqual(JSON.parse(sent ?? ""), object);
      const own = await session.run("Again", { ...TOOLS, endpoint: OPENAI });
      const [raw] = argumentsIn(session.server.requests[own.requests[0]]?.input ?? []);
      assert.equal(raw, text, "OpenAI's own endpoint gets them verbatim");
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
    });
  });
}

const REFUSALS: Readonly<Record<string, ScriptedResponse>> = {
  "by its field": refuse({ message: "`arguments` must be valid JSON", param: "arguments" }, "http"),
  "by its place": refuse({ message: "Invalid value", param: "input[1].arguments" }, "http"),
  "by its words": refuse({ message: "Expecting value: line 1 column 1 (char 0)" }, "http"),
  "in the stream": refuse({ message: "function arguments must be JSON", code: "bad_call" }, "failed"),
};

for (const [name, refusal] of Object.entries(REFUSALS)) {
  Deno.test(`an endpoint that refuses raw arguments (${name}) gets them repaired, once and from then on`, async () => {
    await refusedSession({ script: calling('["a"]', refusal), rules: "none" }, async (session) => {
      const own = { ...TOOLS, endpoint: OPENAI };
      const first = await session.run("Go", own);
      assert.deepEqual([first.ended.state, first.requests], ["completed", [0, 3]]);
      const second = await session.run("Again", own);
      assert.deepEqual([second.ended.state, second.requests], ["completed", [3, 4]]);
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
    });
  });
}
