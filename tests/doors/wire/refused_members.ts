/** Refusals of the Responses API that are about a member of an item, a call, or the arguments of a call. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import type { Script, ScriptedResponse, ServerOptions } from "../../support/scripted_api/responses.ts";
import {
  answer,
  message,
  rawItem,
  REFUSAL_SHAPES,
  type RefusalShape,
  refuse,
} from "../../support/scripted_api/responses_script.ts";
import { READ } from "./refusals.ts";
import type { Row } from "./runs.ts";

type Request = Parameters<Exclude<Script, readonly unknown[]>>[0];
const DONE = answer([message("Done.")]);

/** Refuses the first message that is sent with a phase, by its place. */
function refusedPhase({ input }: Request, shape: RefusalShape): ScriptedResponse | null {
  const index = input.findIndex((item) => item.type === "message" && Object.hasOwn(item, "phase"));
  const param = `input[${index}].phase`;
  const error = { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" };
  return index < 0 ? null : refuse(error, shape);
}

/** The items of a request, and their phases. */
const phases = ({ input }: Json) =>
  input.map((item: Json) => `${item.role ?? item.type}${item.phase === undefined ? "" : "+phase"}`).join();
const calls = ({ input }: Json) => input.filter(({ call_id }: Json) => call_id !== undefined).length;

/** Arguments as a model may write them; a server that only takes objects gets them inside of one. */
const ARGUMENTS = ["", " \n", '{"text":"a', '["a"]', "null", "{}{}"];
const sentArguments = ({ input }: Json) =>
  input.filter(({ type }: Json) => type === "function_call").map((call: Json) =>
    call.arguments.replaceAll(/\s/g, "_")
  ).join();
/** Answers with one call first; refuses arguments that are no object if `refusal` is given. */
const calling = (text: string, refusal?: ScriptedResponse): ServerOptions => ({
  script: ({ input }) => {
    const sent = input.filter(({ type }) => type === "function_call").map((call) => String(call.arguments));
    if (sent.length > 0) {
      return refusal !== undefined && !sent.every((text) => text.startsWith("{")) ? refusal : DONE;
    }
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read_file", arguments: text };
    return answer([rawItem({ ...call, status: "completed" })]);
  },
});
const RAW_REFUSALS: Readonly<Record<string, ScriptedResponse>> = {
  "by its field": refuse({ message: "`arguments` must be valid JSON", param: "arguments" }, "http"),
  "by its place": refuse({ message: "Invalid value", param: "input[1].arguments" }, "http"),
  "by its words": refuse({ message: "Expecting value: line 1 column 1 (char 0)" }, "http"),
  "in the stream": refuse({ message: "function arguments must be JSON", code: "bad_call" }, "failed"),
};

/** By a sentence. */
export const MEMBER_REFUSALS: Readonly<Record<string, Row<ServerOptions>>> = {
  ...Object.fromEntries(
    REFUSAL_SHAPES.map((
      shape,
    ): [string, Row<ServerOptions>] => [
      `a refused phase costs the phase, and another endpoint still gets it (${shape})`,
      {
        server: () => ({
          script: (request) =>
            (request.path.startsWith("/other") ? null : refusedPhase(request, shape)) ??
              answer([message("Done.", { phase: "final_answer" })]),
        }),
        show: phases,
        runs: [
          { sent: "user" },
          { sent: "user,assistant+phase,user user,assistant,user" },
          { sent: "user,assistant,user,assistant,user" },
          // The item itself that was refused stays stripped; those after it are another endpoint's to judge.
          { sent: "user,assistant,user,assistant+phase,user,assistant+phase,user", path: "/other" },
        ],
        notices: "unknown_field: stripped phase",
      },
    ]),
  ),
  "a field that was refused inside a run stays off the later items of that run": {
    server: () => ({
      script: (request) =>
        refusedPhase(request, "http") ??
          answer(calls(request) > 5 ? [message("Done.")] : [message("Next.", { phase: "commentary" }), READ]),
    }),
    show: (body) => phases(body).includes("phase") ? "+" : "-",
    runs: [{ sent: "- + - - -" }, { sent: "-" }],
    notices: "unknown_field: stripped phase",
  },
  ...Object.fromEntries(ARGUMENTS.map((text): [string, Row<ServerOptions>] => [
    `the arguments ${JSON.stringify(text)} are kept, answered with an error, and sent as an object`,
    {
      server: () => calling(text),
      show: sentArguments,
      runs: [{ sent: ` ${text.trim() === "" ? "{}" : JSON.stringify({ INVALID_JSON: text })}` }],
      also: (runs) => {
        const [call, result] = [...runs.written("tool_call"), ...runs.written("tool_result")];
        assert.deepEqual([call.item.arguments, result.status], [text, "invalid_arguments"]);
      },
    },
  ])),
  ...Object.fromEntries(
    Object.entries(RAW_REFUSALS).map((
      [name, refusal],
    ): [string, Row<ServerOptions>] => [
      `OpenAI gets raw arguments, and once it refuses them an object (${name})`,
      {
        server: () => calling('["a"]', refusal),
        show: sentArguments,
        runs: [
          { isOpenAi: true, sent: ' ["a"] {"INVALID_JSON":"[\\"a\\"]"}' },
          { isOpenAi: true, sent: '{"INVALID_JSON":"[\\"a\\"]"}' },
        ],
      },
    ]),
  ),
  "refused include stays out for that endpoint and model": {
    server: () => ({
      script: ({ body }) => {
        const { include, model } = body as Json;
        const message = "Encrypted content is not supported with this model.";
        return include !== undefined && model === "gpt-4.1" ? refuse({ message }, "error") : DONE;
      },
    }),
    show: ({ include }) => include === undefined ? "-" : "+",
    runs: [
      { sent: "+" },
      { sent: "+ -", flags: ["-m", "gpt-4.1"] },
      { sent: "-", flags: ["-m", "gpt-4.1"] },
      { sent: "+" },
      { sent: "+ -", flags: ["-m", "gpt-4.1"], path: "/other" },
    ],
    notices: "",
  },
};
