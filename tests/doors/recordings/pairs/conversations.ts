/** Second requests of conversations: values of the recorder's machine that came back in a played answer, and others. */
import type { Json } from "../../../support/files.ts";
import { type More, type Pair } from "./pair.ts";
import type { Asked } from "./places.ts";

type Requests = readonly Asked[];

/** An API with a first request, its answer, and the request that continues it. */
interface Talk {
  readonly kind: string;
  first(system: string): Asked;
  /** An answer that calls a tool with these arguments after a text. */
  answer(text: string, args: string): Json;
  second(system: string, turn: Turn): Asked;
}

/** The answer in a history, then the output of its tool. */
interface Turn {
  readonly said: string;
  readonly args: string;
  readonly output: string;
  /** A question after the output. */
  readonly asked?: string;
}

const responses: Talk = {
  kind: "responses",
  first: (instructions) => ({
    path: "/v1/responses",
    body: { model: "gpt-5.6", instructions, input: [{ role: "user", content: "Look" }] },
  }),
  answer: (text, args) => ({
    ...{ id: "resp_1", object: "response", status: "completed" },
    output: [
      { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "sh", arguments: args },
    ],
  }),
  second: (instructions, { said, args, output, asked }) => ({
    path: "/v1/responses",
    body: {
      ...{ model: "gpt-5.6", instructions },
      input: [
        { role: "user", content: "Look" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: said }] },
        { type: "function_call", call_id: "call_1", name: "sh", arguments: args },
        { type: "function_call_output", call_id: "call_1", output },
        ...asked === undefined ? [] : [{ role: "user", content: asked }],
      ],
    },
  }),
};

const chat: Talk = {
  kind: "chat",
  first: (system) => ({
    path: "/v1/chat/completions",
    body: { model: "m", messages: [{ role: "system", content: system }, { role: "user", content: "Look" }] },
  }),
  answer: (content, args) => ({
    ...{ id: "chatcmpl-1", object: "chat.completion" },
    choices: [{
      ...{ index: 0, finish_reason: "tool_calls" },
      message: {
        ...{ role: "assistant", content },
        tool_calls: [{ id: "call_1", type: "function", function: { name: "sh", arguments: args } }],
      },
    }],
  }),
  second: (system, { said, args, output, asked }) => ({
    path: "/v1/chat/completions",
    body: {
      model: "m",
      messages: [
        { role: "system", content: system },
        { role: "user", content: "Look" },
        {
          ...{ role: "assistant", content: said },
          tool_calls: [{ id: "call_1", type: "function", function: { name: "sh", arguments: args } }],
        },
        { role: "tool", tool_call_id: "call_1", content: output },
        ...asked === undefined ? [] : [{ role: "user", content: asked }],
      ],
    },
  }),
};

const messages: Talk = {
  kind: "messages",
  first: (system) => ({
    path: "/v1/messages",
    body: { model: "claude-opus-5", max_tokens: 64, system, messages: [{ role: "user", content: "Look" }] },
  }),
  answer: (text, args) => ({
    ...{ id: "msg_1", type: "message", role: "assistant", stop_reason: "tool_use" },
    content: [
      { type: "text", text },
      { type: "tool_use", id: "toolu_1", name: "sh", input: { line: args } },
    ],
  }),
  second: (system, { said, args, output, asked }) => ({
    path: "/v1/messages",
    body: {
      ...{ model: "claude-opus-5", max_tokens: 64, system },
      messages: [
        { role: "user", content: "Look" },
        {
          role: "assistant",
          content: [
            { type: "text", text: said },
            { type: "tool_use", id: "toolu_1", name: "sh", input: { line: args } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: output },
            ...asked === undefined ? [] : [{ type: "text", text: asked }],
          ],
        },
      ],
    },
  }),
};

/** One conversation: what the recorder's answer says and calls, and the two texts after it on each side. */
type Row = readonly [
  kind: string,
  answer: readonly [said: string, args: string],
  recorded: readonly [output: string, asked?: string],
  received: readonly [output: string, asked?: string],
  more?: More,
];

const SYSTEM = "In {cwd} of {home}, on {day}, at {host}.";

function pairsOf(expected: Pair["expected"], rows: readonly Row[]): Pair[] {
  return rows.flatMap(([kind, [said, args], recorded, received, more = {}]) =>
    [responses, chat, messages].map((talk): Pair => {
      // The client carries the recorder's answer with the recorder's values.
      const [text, line] = [said, args].map((each) =>
        each.replace(/\{(?=cwd|home|day|host|user)/g, "{recorder.")
      );
      const turn = ([output, asked]: readonly [string, string?]): Turn => ({
        ...{ said: text ?? "", args: line ?? "", output },
        ...asked === undefined ? {} : { asked },
      });
      const before: Requests = [talk.first(SYSTEM), talk.first(SYSTEM)];
      return {
        ...{ kind: `${kind}, ${talk.kind}`, expected },
        before: [[before[0] as Asked, before[1] as Asked, talk.answer(text ?? "", line ?? "")]],
        recorded: talk.second(SYSTEM, turn(recorded)),
        received: talk.second(SYSTEM, turn(received)),
        ...more,
      };
    })
  );
}

const HI = ["I look.", '{"command":"ls"}'] as const;
const CAT = ["I look.", '{"command":"cat {cwd}/notes.txt"}'] as const;
const SAID = ["It is in {cwd}/notes.txt, since {day}.", '{"command":"ls"}'] as const;

/** Conversations that continue a played answer. */
export const CONTINUED: readonly Pair[] = pairsOf("play", [
  ["own values after an answer", HI, ["{cwd}/a"], ["{cwd}/a"]],
  ["a path of the answer's arguments", CAT, ["read {cwd}/notes.txt"], ["read {cwd}/notes.txt"]],
  ["a path of the answer's arguments, in the output", CAT, ["cat: {cwd}/notes.txt"], [
    "cat: {recorder.cwd}/notes.txt",
  ]],
  ["a path of the answer's text, in the output", SAID, ["{cwd}/notes.txt"], ["{recorder.cwd}/notes.txt"]],
  ["a day of the answer's text, in the output", SAID, ["since {day}"], ["since {recorder.day}"]],
  ["a path of the answer's text, in a question", SAID, ["ok", "Drop {cwd}/notes.txt"], [
    ...["ok", "Drop {recorder.cwd}/notes.txt"] as const,
  ]],
]);

/** Conversations that continue it in another way. */
export const DIVERGED: readonly Pair[] = pairsOf("miss", [
  ["a path of no answer", HI, ["{cwd}/a"], ["{recorder.cwd}/a"]],
  ["a day of no answer", HI, ["since {day}"], ["since {recorder.day}"]],
  ["a host of no answer", HI, ["at {host}"], ["at {recorder.host}"]],
  ["another path", CAT, ["{cwd}/a"], ["{cwd}/b"]],
  ["a path of no answer, in a question", HI, ["ok", "Drop {cwd}/a"], ["ok", "Drop {recorder.cwd}/a"]],
  ["a day of an answer, in a question", SAID, ["ok", "What on {day}?"], ["ok", "What on {client.day}?"]],
  ["a name in a question", HI, ["ok", "Username: alice"], ["ok", "Username: mallory"]],
]);
