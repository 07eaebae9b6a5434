/** Faults of one exchange, and places in an answer by what is there. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { askRaw, converse, rawBytes } from "./raw_http.ts";
import { type Answer, exchangeOf, outcomeOf, sent, Served } from "./served.ts";
import { ask, chat, claude, user } from "./shapes.ts";
import { answerEvents, chat as chatAnswer, type Event, framed, message } from "./answers.ts";

const PATHS = { responses: "/v1/responses", messages: "/v1/messages", chat: "/v1/chat/completions" } as const;
type Api = keyof typeof PATHS;
const BODIES: Readonly<Record<Api, Json>> = {
  responses: ask("Hi"),
  messages: claude([user("Hi")]),
  chat: chat([user("Hi")]),
};
const given = (api: Api, answer: Json, tag = 0) =>
  sent({ ...BODIES[api], tag }, { path: PATHS[api], answer });

/** A stream whose call has its arguments in these deltas. */
const calling = (...deltas: readonly string[]) =>
  framed(
    answerEvents("m").flatMap((event): Event[] =>
      event.type === "response.function_call_arguments.delta"
        ? deltas.map((delta) => ({ ...event, delta }))
        : [event]
    ),
  );
const saying = (...words: readonly string[]) => framed(answerEvents("m", { words }));
const called = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });
const begun = {
  tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }],
};
const CHAT = String(
  chatAnswer(
    ...[
      "a",
      { content: "a" },
      { content: "b" },
      { content: "c" },
      begun,
      called('{"q":'),
      called("1}"),
    ] as const,
    { finish_reason: "tool_calls" },
  ).body,
);
const MESSAGE = String(message("Rome").body);

/** Two calls with the same arguments, in two deltas each. */
const TWICE = framed(
  ["0", "1"].flatMap((output_index): Event[] =>
    ['{"a"', ":1}"].map((delta) => ({
      type: "response.function_call_arguments.delta",
      output_index: Number(output_index),
      delta,
    }))
  ),
);

/** Fault, and the events that arrive whole; after the last one come bytes of the next if `inside`. */
type Place = readonly [api: Api, answer: string, fault: string, whole: number, inside?: "inside"];
const PLACES: readonly Place[] = [
  // After half of the deltas, rounded down; the only one is cut.
  ["responses", saying("a"), "cut in text", 10, "inside"],
  ["responses", saying("a", "b"), "cut in text", 11],
  ["responses", saying("a", "b", "c"), "cut in text", 11],
  ["responses", saying("a", "b", "c", "d"), "cut in text", 12],
  ["responses", saying("a", "", "b"), "cut in text", 11],
  ["responses", calling('{"city":"Oslo"}'), "cut in arguments", 17, "inside"],
  ["responses", calling('{"ci', 'ty":"Os', 'lo"}'), "cut in arguments", 18],
  ["responses", calling("{", '"city', '":"Os', 'lo"}'), "cut in arguments", 19],
  // Of two calls with the same arguments, the first is cut.
  ["responses", TWICE, "cut in arguments", 1],
  ["responses", saying("a"), "cut in reasoning", 4, "inside"],
  ["responses", saying("a"), "cut before the end", 18],
  ["messages", MESSAGE, "cut in reasoning", 3],
  ["messages", MESSAGE, "cut in text", 7, "inside"],
  ["messages", MESSAGE, "cut in arguments", 11],
  ["messages", MESSAGE, "cut before the end", 13],
  ["chat", CHAT, "cut in text", 2],
  ["chat", CHAT, "cut in arguments", 6],
  ["chat", CHAT, "cut before the end", 7],
];

const TEXT = "It rains 😀 here";
const DOCUMENTS: Readonly<Record<string, Json>> = {
  responses: {
    object: "response",
    output: [
      { type: "reasoning", summary: [{ type: "summary_text", text: "I think" }] },
      { type: "message", content: [{ type: "output_text", text: TEXT }] },
      { type: "function_call", arguments: '{"city":"Rome"}' },
    ],
    instructions: "It rains",
  },
  messages: {
    type: "message",
    content: [
      { type: "thinking", thinking: "I think" },
      { type: "text", text: "Rome" },
      { type: "tool_use", name: "city", input: { city: "Rome", days: [1, "12"] } },
    ],
  },
  chat: {
    choices: [{
      message: {
        reasoning_content: "I think",
        content: "a😀bc",
        tool_calls: [{ function: { arguments: '{"city":"Rome"}' } }],
      },
    }],
  },
};
/** The end of what a client gets of a document. */
const ENDS: readonly (readonly [api: Api, fault: string, end: string])[] = [
  ["responses", "cut in text", '"text":"It rains'],
  ["responses", "cut in arguments", '"arguments":"{\\"city\\"'],
  ["responses", "cut in reasoning", '"text":"I t'],
  ["responses", "cut before the end", '"instructions":"It rains"'],
  ["messages", "cut in text", '"text":"Ro'],
  ["messages", "cut in arguments", '"input":{"city":"Ro'],
  ["messages", "cut in reasoning", '"thinking":"I t'],
  // Half of a character is not cut off.
  ["chat", "cut in text", '"content":"a😀'],
  ["chat", "cut in arguments", '"arguments":"{\\"city\\"'],
  ["chat", "cut in reasoning", '"reasoning_content":"I t'],
];

/** Asks for answer after answer, each with its fault; returns what the client got. */
async function brokenAnswers(
  home: RecordingHome,
  list: readonly (readonly [api: Api, answer: Json, fault: string])[],
): Promise<readonly Answer[]> {
  home.fixture("a", list.map(([api, answer], n) => exchangeOf(given(api, answer, n))));
  const flags = list.flatMap(([, , fault], n) => ["--fault", `exchange ${n + 1}: ${fault}`]);
  await using server = await Served.start(home, ["a"], {
    ...{ cwd: home.directory, flags: [...flags, "--rules", "none"] },
  });
  const answers: Answer[] = [];
  // In another order than that of the recording.
  for (const [n, [api, answer]] of [...list.entries()].toReversed()) {
    answers.unshift(await server.ask(given(api, answer, n)));
  }
  assert.deepEqual((await server.end()).unmet_faults, []);
  return answers;
}

withHome("a place in a stream is found by what is there", async (home) => {
  const answers = await brokenAnswers(home, PLACES.map(([api, answer, fault]) => [api, answer, fault]));
  for (const [n, [api, answer, fault, whole, inside]] of PLACES.entries()) {
    const text = answers[n]?.text ?? "";
    const before = answer.split("\n\n").slice(0, whole).map((block) => `${block}\n\n`).join("");
    const row = `${api}: ${fault}: ${text.slice(-200)}`;
    assert.ok(text.startsWith(before) && answer.startsWith(text), row);
    assert.equal(text.length > before.length, inside !== undefined, row);
    assert.ok(text.lastIndexOf("\n\n") <= before.length, row);
  }
});

withHome("a document that is incomplete or failed says so, and nothing else in it changes", async (home) => {
  const usage = { usage: { total_tokens: 1 }, status: "completed" };
  const whole = Object.fromEntries(
    Object.entries(DOCUMENTS).map(([api, body]) => [api, { ...body, ...usage }]),
  );
  const rows: readonly (readonly [Api, string, Json])[] = [
    ["responses", "incomplete", {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    }],
    ["responses", "failed slow_down", {
      ...{ status: "failed", usage: null, error: { code: "slow_down", message: "The server had an error." } },
    }],
    ["messages", "incomplete content_filter", { stop_reason: "refusal", stop_sequence: null }],
    ["chat", "incomplete", { choices: [{ ...whole.chat?.choices[0], finish_reason: "length" }] }],
  ];
  const answers = await brokenAnswers(home, rows.map(([api, fault]) => [api, whole[api], fault]));
  for (const [n, [api, fault, members]] of rows.entries()) {
    assert.deepEqual(JSON.parse(answers[n]?.text ?? ""), { ...whole[api], ...members }, `${api}: ${fault}`);
  }
});

withHome("a place in a document is found by what is there", async (home) => {
  const answers = await brokenAnswers(home, ENDS.map(([api, fault]) => [api, DOCUMENTS[api], fault]));
  for (const [n, [api, fault, end]] of ENDS.entries()) {
    const text = answers[n]?.text ?? "";
    assert.ok(JSON.stringify(DOCUMENTS[api]).startsWith(text), `${api}: ${fault}`);
    assert.equal(text.slice(-end.length), end, `${api}: ${fault}`);
  }
});

/** A stream with every part, of each API. */
const WHOLE: Readonly<Record<Api, string>> = { responses: saying("a", "b"), messages: MESSAGE, chat: CHAT };
/** Answers without a part or an event that some faults break: text alone, and a call alone. */
const [TEXT_ONLY, CALL_ONLY] = [
  { object: "response", output: [{ type: "message", content: [{ type: "output_text", text: TEXT }] }] },
  { object: "response", output: [{ type: "function_call", arguments: '{"city":"Rome"}' }] },
];
withHome(
  "each named fault of docs/rules.md breaks the answers that it is for, and no others",
  async (home) => {
    const docs = Deno.readTextFileSync(new URL("../../../docs/rules.md", import.meta.url));
    const table = docs.slice(docs.indexOf("| name | what happens |"), docs.indexOf("<!-- faults:end -->"));
    const named = Array.from(
      table.matchAll(/^\| `([^`]+)` \| .* \| `[^`]+` \| ([a-z ]+)(?:; only \w+)? \|$/gm),
      ([, name = "", answers = ""]) => ({ name, answers }),
    );
    assert.ok(named.length >= 19);
    for (const [fixture, answer] of Object.entries({ ...WHOLE, text: TEXT_ONLY, call: CALL_ONLY })) {
      const api = fixture in PATHS ? fixture as Api : "responses";
      home.fixture(fixture, [exchangeOf(given(api, answer))]);
      const isFor: Readonly<Record<string, boolean>> = {
        ...{ all: true, streams: fixture in PATHS },
        ...{ "with text": fixture !== "call", "with calls": fixture !== "text" },
      };
      for (const { name, answers } of named) {
        assert.ok(answers in isFor, answers);
        const flags = ["--fault", `exchange 1: ${name}`];
        // No chunk says that a response failed.
        if (isFor[answers] && !(api === "chat" && name === "failed")) {
          await using _server = await Served.start(home, [fixture], { cwd: home.directory, flags });
        } else {
          const { message } = await Served.refusal(home, [fixture], flags);
          assert.match(message, /no place for it/, `${fixture}: ${name}`);
        }
      }
    }
  },
  test.long,
);

const [A, B] = [ask("Hi"), ask("Yo")];
const OTHER = ask("Never recorded");
/** Lines of `--fault`, requests with their outcomes, and the lines that had no effect. Exchanges 1 and 3 are of A. */
const PLANS: readonly (readonly [
  lines: readonly string[],
  asked: readonly (readonly [Json, string])[],
  unmet?: readonly string[],
])[] = [
  [["exchange 2: 429"], [[A, "1 exact"], [B, "faulted 429"], [B, "2 exact"], [B, "miss 2 none"]]],
  [["exchange 2: 429"], [[A, "1 exact"]], ["exchange 2: 429"]],
  [["exchange 3: 503"], [[A, "1 exact"], [A, "faulted 503"], [A, "3 exact"], [A, "miss 3 none"]]],
  [["exchange 2: fail, 429, ok"], [[B, "faulted fail"], [B, "faulted 429"], [B, "2 exact"], [
    B,
    "miss 2 none",
  ]]],
  [["exchange 2: cut after 0 bytes"], [[B, "2 exact cut after 0 bytes"], [B, "2 exact"]]],
  [["exchange 2-3: fail"], [
    ...[[A, "1 exact"], [B, "faulted fail"], [A, "faulted fail"], [A, "3 exact"], [B, "2 exact"]] as const,
  ]],
  // From exchange 2 on, whatever is asked.
  [["exchange 2-: 503"], [
    ...[[A, "1 exact"], [B, "faulted 503"], [B, "faulted 503"], [A, "faulted 503"], [
      OTHER,
      "faulted 503",
    ]] as const,
  ]],
  [["exchange 2-: 503, ok, fail"], [[B, "faulted 503"], [A, "1 exact"], [B, "faulted fail"], [B, "2 exact"]]],
  [["2-: 503"], [[A, "1 exact"], [B, "faulted 503"], [OTHER, "faulted 503"]]],
  [["4-: 503"], [[A, "1 exact"], [B, "2 exact"], [A, "3 exact"]], ["4-: 503"]],
  [["*: comments", "exchange 2: fail"], [[A, "1 exact comments"], [B, "faulted fail"], [
    B,
    "2 exact comments",
  ]]],
  // The last line counts, and the fault of the other one is still to come.
  [["exchange 2: fail", "1: 503"], [[B, "faulted 503"], [B, "faulted fail"], [B, "2 exact"]]],
];
withHome("a fault of an exchange comes when it is first played, and once", async (home) => {
  const answer = framed(answerEvents("m"));
  home.fixture("a", [A, B, A].map((body) => exchangeOf(sent(body, { answer }))));
  for (const [lines, asked, unmet = []] of PLANS) {
    const flags = lines.flatMap((line) => ["--fault", line]);
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
    const found: (readonly [Json, string])[] = [];
    for (const [body] of asked) {
      const answered = await server.ask(body);
      const [{ type, fault, number, fixture }] = answered.events;
      const broken = type === "played" && fault !== undefined ? ` ${fault}` : "";
      found.push([body, outcomeOf(answered) + broken]);
      // The exchange that would have answered is named.
      if (type === "faulted") assert.equal(number !== undefined, fixture !== undefined && body !== OTHER);
    }
    assert.deepEqual([found, (await server.end()).unmet_faults], [asked, unmet], lines.join());
  }
});

withHome("each test of a suite has its own first play", async (home) => {
  const recorded = [exchangeOf(sent(A, { answer: framed(answerEvents("m")) }))];
  for (const name of ["suite/one", "suite/two"]) home.fixture(name, recorded);
  const flags = ["--fault", "exchange 1: 429"];
  await using server = await Served.start(home, ["suite"], { cwd: home.directory, flags });
  const found: string[] = [];
  for (const test of ["one", "two", "one", "two"]) found.push(outcomeOf(await server.ask(A, `/t/${test}`)));
  assert.deepEqual(found, ["faulted 429", "faulted 429", "1 exact", "1 exact"]);
});

/** Lines that no answer has a place for, with the reason and the advice. */
const REFUSED: Readonly<Record<string, readonly [message: RegExp, hint: RegExp]>> = {
  "cut in reasoning": [/"cut in reasoning": no recorded answer has a place for it$/, /fixture show/],
  "*: stall in reasoning": [/no recorded answer has a place/, /fixture show/],
  "exchange 1: cut in arguments": [/the answer of exchange 1 has no place for it$/, /has one: 2\b/],
  "exchange 1-: cut in arguments": [/the answer of exchange 1 has no place for it$/, /has one: 2\b/],
  "exchange 1: fail, cut in arguments": [/"cut in arguments": the answer of exchange 1/, /has one: 2\b/],
  "exchange 1: cut after 99 events": [/the answer of exchange 1 has no place/, /fixture show/],
  "exchange 3: fail": [/no fixture has exchange 3$/, /has one: 1, 2\b/],
  "exchange 3-4: fail": [/no fixture has exchanges 3-4$/, /has one: 1, 2\b/],
  "exchange 0: fail": [/"exchange 0" names no request/, /"exchange 3: FAULT"/],
  "exchange 2-1: fail": [/names no request/, /"3-: FAULT"/],
  "exchange: fail": [/names no request/, /"2: FAULT"/],
  "-3: fail": [/names no request/, /"3-: FAULT"/],
};
withHome("a fault without a place in any answer is a usage error", async (home) => {
  const document = (text: string, ...more: readonly Json[]) => ({
    ...{
      object: "response",
      output: [{ type: "message", content: [{ type: "output_text", text }] }, ...more],
    },
  });
  const call = { type: "function_call", arguments: '{"city":"Rome"}' };
  home.fixture("a", [
    exchangeOf(sent(A, { answer: document("Hello") })),
    exchangeOf(sent(B, { answer: document("Yo", call) })),
  ]);
  for (const [fault, [message, hint]] of Object.entries(REFUSED)) {
    const refused = await Served.refusal(home, ["a"], ["--fault", fault]);
    assert.deepEqual([refused.exit, refused.code], [2, "usage"], fault);
    assert.match(refused.message, message, fault);
    assert.match(refused.hint, hint, fault);
  }
  // One of several exchanges is enough, and so is one answer of any request.
  for (const fault of ["exchange 1-2: cut in arguments", "1: cut in arguments", "exchange 2-: cut in text"]) {
    await using _server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--fault", fault] });
  }
});

const RAW =
  `POST /v1/responses HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Type: application/json\nContent-Length: ${
    JSON.stringify(A).length
  }\n\n`;
withHome(
  "a dropped connection has no byte of an answer, and a late head comes with the body",
  async (home) => {
    const answer = framed(answerEvents("m"));
    home.fixture("a", [A, A, A, A].map((body) => exchangeOf(sent(body, { answer }))));
    const faults = [
      "drop",
      "reset after 0 bytes",
      "stall before the head for 150ms",
      "stall before the head",
      "ok",
    ];
    const flags = ["--fault", faults.join(", ")];
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
    const body = new TextEncoder().encode(JSON.stringify(A));
    const dropped = await askRaw(server.port, RAW, body);
    assert.deepEqual([dropped.text, dropped.closed], ["", true]);
    const [{ type, status, fault, number }] = server.news();
    assert.deepEqual([type, status, fault, number], ["faulted", null, "drop", 1]);
    // The head of a connection that breaks later does come.
    const { statuses, text } = await askRaw(server.port, RAW, body);
    assert.deepEqual([statuses, text.endsWith("\r\n\r\n")], [[200], true]);
    const began = performance.now();
    const late = await converse(server.port, [rawBytes(server.port, RAW), body], (text) => text !== "");
    assert.ok(performance.now() - began >= 140 && late.text.startsWith("HTTP/1.1 200 OK\r\n"), late.text);
    // Without a time no byte comes, whatever the client does.
    const silent = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    await silent.write(rawBytes(server.port, RAW));
    await silent.write(body);
    const read = silent.read(new Uint8Array(1)).catch(() => null);
    const timer = Promise.withResolvers<string>();
    setTimeout(() => timer.resolve("silence"), 100);
    assert.equal(await Promise.race([read, timer.promise]), "silence");
    silent.close();
    await read;
    // Neither used its exchange up, but the late answer did.
    server.news();
    assert.deepEqual(outcomeOf(await server.ask(A)), "2 exact");
    assert.deepEqual((await server.end()).unmet_faults, []);
  },
  test.long,
);
