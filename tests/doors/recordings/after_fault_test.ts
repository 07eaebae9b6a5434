/** `serve --after-fault`: requests with which clients continue after a broken answer, and which no recording holds. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { SocketClient } from "../../support/socket_client.ts";
import { test } from "../../support/test.ts";
import { answerEvents, chat as chatAnswer, framed, message, STOP } from "./answers.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { exchangeOf, outcomeOf, sent, Served } from "./served.ts";
import { ask, chat, claude, user } from "./shapes.ts";

const EVENTS = answerEvents("m");
/** Items as a client has them before the last event. */
const [REASONING, MESSAGE, CALL]: readonly Json[] = EVENTS
  .filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
const PATHS = { responses: "/v1/responses", messages: "/v1/messages", chat: "/v1/chat/completions" } as const;
const ANSWERS = {
  responses: framed(EVENTS),
  messages: String(message("Rome").body),
  chat: String(chatAnswer("a", { content: "Hel" }, { content: "lo" }, STOP).body),
};
type Api = keyof typeof PATHS;
const BODIES = {
  responses: ask("Hi", { stream: true }),
  messages: claude([user("Hi")], { stream: true }),
  chat: chat([user("Hi")], { stream: true, stream_options: { include_usage: true } }),
};
const { stream: _stream, stream_options: _options, ...UNSTREAMED_CHAT } = BODIES.chat;
const without = ({ stream: _stream, ...body }: Json) => body;

/** Serves one exchange of an API, whose first answer has the fault. */
async function served(home: RecordingHome, api: Api, fault: string, flags: readonly string[]) {
  const name = `${api}-${fault}`.replaceAll(" ", "-");
  home.fixture(name, [exchangeOf(sent(BODIES[api], { path: PATHS[api], answer: ANSWERS[api] }))]);
  const server = await Served.start(home, [name], {
    ...{ cwd: home.directory, flags: ["--fault", `exchange 1: ${fault}`, ...flags, "--rules", "none"] },
  });
  const first = await server.ask(sent(BODIES[api], { path: PATHS[api] })).then(outcomeOf, () => "no answer");
  server.news();
  return { server, first };
}

const ANSWERED = [1, "resumed"] as const;
const MISSED = ["miss", undefined] as const;
const history = (...items: readonly Json[]) => ({ ...BODIES.responses, input: [user("Hi"), ...items] });
const bare = ({ id: _id, status: _status, ...item }: Json) => item;
const blocks = (...content: readonly Json[]) => ({
  ...BODIES.messages,
  messages: [user("Hi"), { role: "assistant", content }],
});
const THINKING = { type: "thinking", thinking: "It is Rome.", signature: "one" };
const SAID = { type: "text", text: "In Rome" };

/** Fault, the request that follows, and how it is answered: number and way, or a miss. */
const RESUMED: readonly (readonly [api: Api, fault: string, asked: Json, outcome: readonly Json[]])[] = [
  // Reasoning and message arrived whole, the call did not.
  ["responses", "cut in arguments", history(REASONING, MESSAGE), ANSWERED],
  ["responses", "cut in arguments", history(MESSAGE), ANSWERED],
  ["responses", "cut in arguments", history(...[REASONING, MESSAGE].map(bare)), ANSWERED],
  ["responses", "cut in arguments", history(REASONING, MESSAGE, CALL), MISSED],
  ["responses", "no terminal event", history(REASONING, MESSAGE, CALL), ANSWERED],
  // A result of the tool is no part of the answer, and neither is what the user says.
  [
    "responses",
    "no terminal event",
    history(CALL, { type: "function_call_output", call_id: "call_m", output: "" }),
    MISSED,
  ],
  ["responses", "no terminal event", history(MESSAGE, user("I look it up.")), MISSED],
  [
    "responses",
    "cut in arguments",
    history({ ...MESSAGE, content: [{ type: "output_text", text: "I look" }] }),
    MISSED,
  ],
  ["responses", "cut in reasoning", history(REASONING), MISSED],
  // The call has begun, and is not whole.
  ["responses", "cut in arguments", history(MESSAGE, { ...bare(CALL), arguments: "" }), MISSED],
  // Only a prompt: the request begins differently.
  ["responses", "cut in arguments", { ...history(MESSAGE), input: [user("Yo"), MESSAGE] }, MISSED],
  ["responses", "cut in arguments", { ...history(MESSAGE), input: [MESSAGE] }, MISSED],
  ["messages", "cut in arguments", blocks(THINKING, SAID), ANSWERED],
  [
    "messages",
    "cut in arguments",
    blocks(THINKING, SAID, { type: "tool_use", id: "toolu_one", name: "weather", input: { city: "Rome" } }),
    MISSED,
  ],
  ["messages", "cut in text", blocks(THINKING), ANSWERED],
  ["messages", "cut in text", blocks(THINKING, SAID), MISSED],
];
withHome("whole items of a broken answer after its request get the exchange again", async (home) => {
  for (const [api, fault, asked, outcome] of RESUMED) {
    const { server, first } = await served(home, api, fault, ["--after-fault"]);
    await using _server = server;
    assert.equal(first, "1 exact");
    const { events: [event], text } = await server.ask(sent(asked, { path: PATHS[api] }));
    const row = `${api}: ${fault}: ${JSON.stringify(asked).slice(0, 300)}`;
    assert.deepEqual(
      event.type === "played" ? [event.number, event.after_fault] : [event.type, undefined],
      outcome,
      row,
    );
    if (outcome === ANSWERED) assert.equal(text, ANSWERS[api], row);
  }
}, test.long);

const MESSAGE_DOCUMENT = {
  ...{ id: "msg_one", type: "message" },
  content: [THINKING, SAID, { type: "tool_use", id: "toolu_one", name: "weather", input: { city: "Rome" } }],
  ...{ stop_reason: "tool_use", stop_sequence: null, usage: { output_tokens: 3 } },
};
const CHAT_DOCUMENT = {
  ...{ id: "chatcmpl-a", object: "chat.completion", created: 97, model: "m" },
  choices: [
    {
      index: 0,
      message: { refusal: null, role: "assistant", content: "Hello" },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 5, total_tokens: 1 },
};
const DOCUMENTS: readonly (readonly [api: Api, fault: string, asked: Json, document: Json])[] = [
  ["responses", "cut in text", without(BODIES.responses), EVENTS.at(-1)?.response],
  ["responses", "drop", { ...BODIES.responses, stream: false }, EVENTS.at(-1)?.response],
  ["messages", "cut in text", without(BODIES.messages), MESSAGE_DOCUMENT],
  ["messages", "529", { ...BODIES.messages, stream: false }, MESSAGE_DOCUMENT],
  ["chat", "no terminal event", UNSTREAMED_CHAT, CHAT_DOCUMENT],
];
withHome("the same request without stream gets the recorded answer as one document", async (home) => {
  for (const [api, fault, asked, document] of DOCUMENTS) {
    const { server } = await served(home, api, fault, ["--after-fault", "--strict-usage"]);
    await using _server = server;
    const answer = await server.ask(sent(asked, { path: PATHS[api] }));
    const { type, number, after_fault } = answer.events[0];
    assert.deepEqual([type, number, after_fault], ["played", 1, "unstreamed"], `${api}: ${fault}`);
    assert.deepEqual(JSON.parse(answer.text), document, `${api}: ${fault}`);
    assert.equal(answer.headers.get("content-type"), "application/json");
    // It used the exchange up.
    assert.equal((await server.ask(sent(asked, { path: PATHS[api] }))).events[0].type, "miss");
    assert.equal((await server.end()).unused.length, 0);
  }
});

withHome(
  "nothing continues without the flag, before a fault, or after a fault of another test",
  async (home) => {
    const resumed = history(REASONING, MESSAGE);
    const plain = await served(home, "responses", "cut in arguments", []);
    {
      await using server = plain.server;
      for (const body of [resumed, without(BODIES.responses)]) {
        const { events: [event] } = await server.ask(body);
        assert.equal(event.after_fault, undefined);
        assert.notEqual(event.type === "played" && event.number === 1 && event.tier === "exact", true);
      }
    }
    const recorded = [exchangeOf(sent(BODIES.responses, { answer: ANSWERS.responses }))];
    for (const name of ["suite/one", "suite/two"]) home.fixture(name, recorded);
    const flags = ["--after-fault", "--fault", "cut in arguments", "--rules", "none"];
    await using server = await Served.start(home, ["suite"], { cwd: home.directory, flags });
    assert.equal((await server.ask(resumed, "/t/one")).events[0].type, "miss");
    await server.ask(BODIES.responses, "/t/two");
    assert.equal((await server.ask(resumed, "/t/one")).events[0].type, "miss");
    assert.equal((await server.ask(resumed, "/t/two")).events[0].after_fault, "resumed");
  },
);

withHome("a client of a WebSocket resumes on its next connection", async (home) => {
  home.fixture("a", [exchangeOf(sent(BODIES.responses, { answer: ANSWERS.responses }))]);
  const flags = ["--after-fault", "--fault", "exchange 1: cut in arguments", "--rules", "none"];
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
  const { stream: _stream, ...create } = { ...BODIES.responses, type: "response.create" };
  {
    await using client = await SocketClient.open(`${server.origin}/v1`);
    client.send(create);
    assert.equal((await client.closed).code, 1000);
    assert.equal(client.events.filter(({ type }) => type === "response.output_item.done").length, 2);
  }
  await using client = await SocketClient.open(`${server.origin}/v1`);
  const events = await client.ask({ ...create, input: [...create.input, REASONING, MESSAGE] });
  assert.equal(events.at(-1)?.type, "response.completed");
  const [first, second] = server.news();
  assert.deepEqual([first.fault, first.after_fault, second.after_fault], [
    "cut in arguments",
    undefined,
    "resumed",
  ]);
});
