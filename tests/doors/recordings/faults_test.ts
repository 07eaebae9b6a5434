/** Faults: what each makes of a recorded answer, which requests get it, and how wrong ones are refused. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { withHome } from "./home.ts";
import { type Answer, exchangeOf, outcomeOf, rows, sent, Served } from "./served.ts";
import { ask, chat, claude, stream, user } from "./shapes.ts";

const SAID = "Grüße 😀, all is well here.";
const numbered = (events: readonly Json[]) =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }));
const thought = { type: "reasoning", id: "rs_0123456789abcdef", summary: [] };
const message = {
  type: "message",
  id: "msg_0123456789abcdef",
  role: "assistant",
  content: [{ type: "output_text", text: SAID }],
};
const added = (output_index: number, item: Json) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: Json) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const usage = { input_tokens: 10, output_tokens: 150, total_tokens: 160 };
const EVENTS: readonly Json[] = numbered([
  { type: "response.created", response: { id: "resp_0123456789abcdef", status: "in_progress", output: [] } },
  ...[added(0, thought), done(0, thought), added(1, { ...message, content: [] })],
  {
    type: "response.output_text.delta",
    item_id: "msg_0123456789abcdef",
    output_index: 1,
    content_index: 0,
    delta: SAID,
  },
  done(1, message),
  {
    type: "response.completed",
    response: { id: "resp_0123456789abcdef", status: "completed", output: [thought, message], usage },
  },
]);
const delta = (index: number, delta: Json) => ({ type: "content_block_delta", index, delta });
const CLAUDE: readonly Json[] = [
  {
    type: "message_start",
    message: { type: "message", id: "msg_0123456789abcdef", content: [], usage: { input_tokens: 9 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  delta(0, { type: "thinking_delta", thinking: "Hm." }),
  delta(0, { type: "signature_delta", signature: "EqQB" }),
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  delta(1, { type: "text_delta", text: SAID }),
  { type: "content_block_stop", index: 1 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: "message_stop" },
];
const choice = (delta: Json, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk" };
const CHUNKS = [choice({ content: "Hi" }), choice({}, "stop"), { choices: [], usage: { total_tokens: 2 } }]
  .map((chunk) => ({ ...HEAD, ...chunk }));
const CHAT = [...CHUNKS.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`)
  .join("");

const APIS = {
  responses: { path: "/v1/responses", body: ask("Hi"), text: stream(EVENTS) },
  messages: { path: "/v1/messages", body: claude([user("Hi")]), text: stream(CLAUDE) },
  chat: { path: "/v1/chat/completions", body: chat([user("Hi")]), text: CHAT },
} as const;
type Api = keyof typeof APIS;
const blocks = (text: string) => text.split("\n\n").slice(0, -1).map((block) => `${block}\n\n`);
const first = (count: number) => (text: string) => blocks(text).slice(0, count).join("");
const error = (type: string, message: string) =>
  JSON.stringify({ type: "error", error: { type, message }, request_id: "req_fault" });
const failed = (code: string) => ({ code, message: "The server had an error." });
const event = (data: Json) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const response = EVENTS[0].response;
const bytes = (count: number) => (text: string) =>
  new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, count));
const chatError = (code: string) => ({ message: "The server had an error.", type: code, param: null, code });
const chunk = (data: Json) => `data: ${JSON.stringify(data)}\n\n`;

/** The recorded text after a fault, by API; `null` where the connection breaks. */
const FAULTS: readonly (readonly [api: Api, fault: string, makes: (text: string) => string | null])[] = [
  ...(["responses", "messages", "chat"] as const).flatMap((api) =>
    ([
      ["cut after 0 events", () => ""],
      ["cut after 2 events", first(2)],
      ["cut after 70 bytes", bytes(70)],
      ["reset after 2 events", () => null],
      ["drip 70 bytes every 1ms", (text) => text],
      ["stall after 2 events for 1ms", (text) => text],
      ["content-type application/json", (text) => text],
      ["comments", (text) => blocks(text).map((block) => `: still here\n\n${block}`).join("")],
      ["duplicate events", (text) => blocks(text).map((block) => block + block).join("")],
    ] as [string, (text: string) => string | null][]).map(([fault, makes]) => [api, fault, makes] as const)
  ),
  ["responses", "no event lines", (text) => text.replace(/^event: .*\n/gm, "")],
  ["messages", "no event lines", (text) => text.replace(/^event: .*\n/gm, "")],
  ["responses", "no terminal event", first(6)],
  ["messages", "no terminal event", first(9)],
  ["chat", "no terminal event", (text) => text.replace(blocks(text)[1] ?? "", "")],
  [
    "responses",
    "error flat",
    (text) =>
      first(6)(text) + event({ type: "error", ...failed("server_error"), param: null, sequence_number: 6 }),
  ],
  ["responses", "error nested insufficient_quota after 2 events", (text) =>
    first(2)(text) +
    event({
      type: "error",
      error: { type: "insufficient_quota", ...failed("insufficient_quota"), param: null },
      sequence_number: 2,
    }) +
    event({
      type: "response.failed",
      response: { ...response, status: "failed", usage: null, error: failed("insufficient_quota") },
      sequence_number: 3,
    })],
  [
    "responses",
    "failed slow_down after 1 event",
    (text) =>
      first(1)(text) +
      event({
        type: "response.failed",
        response: { ...response, status: "failed", usage: null, error: failed("slow_down") },
        sequence_number: 1,
      }),
  ],
  ...["error flat after 3 events", "error nested after 3 events", "failed after 3 events"].map((fault) =>
    [
      "messages",
      fault,
      (text: string) => `${first(3)(text)}event: error\ndata: ${error("overloaded_error", "Overloaded")}\n\n`,
    ] as const
  ),
  [
    "chat",
    "error flat slow_down",
    (text) => first(1)(text) + chunk({ error: chatError("slow_down") }) + chunk("[DONE]").replaceAll('"', ""),
  ],
  ["chat", "incomplete", (text) => text.replace('"stop"', '"length"')],
  ["chat", "incomplete content_filter", (text) => text.replace('"stop"', '"content_filter"')],
  ["messages", "incomplete", (text) => text.replace('"end_turn"', '"max_tokens"')],
  ["messages", "incomplete content_filter", (text) => text.replace('"end_turn"', '"refusal"')],
  [
    "responses",
    "keepalives",
    (text) =>
      blocks(text).map((block, index) =>
        index === 6 ? block : `${block}event: keepalive\ndata: {"type":"keepalive","sequence_number":N}\n\n`
      ).join(""),
  ],
  [
    "messages",
    "keepalives",
    (text) =>
      blocks(text).map((block, index) =>
        index === 9 ? block : `${block}event: ping\ndata: {"type":"ping"}\n\n`
      ).join(""),
  ],
  [
    "responses",
    "unknown events",
    (text) =>
      blocks(text).map((block) =>
        `event: response.novelty.delta\ndata: {"type":"response.novelty.delta","delta":"?"}\n\n${block}`
      ).join(""),
  ],
  [
    "messages",
    "unknown events",
    (text) =>
      blocks(text).map((block) => `event: novelty\ndata: {"type":"novelty","delta":"?"}\n\n${block}`).join(
        "",
      ),
  ],
];

withHome("each fault changes its place in the answer, and no other byte", async (home) => {
  home.fixture(
    "a",
    FAULTS.map(([api, fault], n) => {
      const { path, body, text } = APIS[api];
      const headers = { "content-type": "text/event-stream" };
      return exchangeOf(sent({ ...body, tag: n }, { path, answer: text, response: { fault, headers } }));
    }),
  );
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--rules", "none"] });
  for (const [n, [api, fault, makes]] of FAULTS.entries()) {
    const { path, body, text } = APIS[api];
    const answer = await server.ask(sent({ ...body, tag: n }, { path }));
    const wanted = makes(text);
    const found = answer.bytes === null
      ? null
      : answer.text.replace(/(keepalive","sequence_number":)\d+/g, "$1N");
    assert.deepEqual([found, answer.events[0].fault], [wanted, fault], `${api}: ${fault}`);
    if (fault.startsWith("content-type")) {
      assert.equal(answer.headers.get("content-type"), "application/json");
    }
  }
});

const last = ({ text }: Answer) => JSON.parse(blocks(text).at(-1)?.split("\ndata: ")[1] ?? "null");
const withFault = (api: Api, fault: string, outcome: Json) => {
  const { path, body, text } = APIS[api];
  return {
    path,
    recorded: [sent(body, { answer: text, response: { fault } })],
    asked: [[body, outcome]] as const,
  };
};
rows("an incomplete answer lists the items that were whole, and its reason", {
  "at the end": withFault("responses", "incomplete steered", ["incomplete", "steered", 2, 160]),
  "early": withFault("responses", "incomplete after 2 events", [
    "incomplete",
    "max_output_tokens",
    0,
    160,
  ]),
  "after the first item": withFault("responses", "incomplete after 4 events", [
    "incomplete",
    "max_output_tokens",
    1,
    160,
  ]),
}, {
  outcome: (answer) => {
    const { response } = last(answer);
    return [
      response.status,
      response.incomplete_details?.reason,
      response.output.length,
      response.usage?.total_tokens,
    ];
  },
});
rows("a fault inside a line or character cuts it there, and garbage is no UTF-8", {
  "inside a line": withFault("responses", "cut mid-line", [true, true, true]),
  "inside a character": withFault("messages", "cut mid-utf8", [true, false, true]),
  "garbage": withFault("responses", "garbage after 2 events", [false, false, true]),
}, {
  outcome: ({ text, bytes }) => {
    const whole = [APIS.responses.text, APIS.messages.text].some((all) =>
      all.startsWith(text.replace(/\ufffd$/, ""))
    );
    return [whole, !text.includes("\ufffd"), (bytes?.length ?? 0) > 100];
  },
});
rows("rotated ids are new on every event, of the same length, and no other byte changes", {
  "Responses": withFault("responses", "rotate ids", true),
}, {
  outcome: ({ text }) => {
    const recorded = APIS.responses.text;
    const ids = (source: string) =>
      [...source.matchAll(/"(?:item_)?id":"([^"]+)"/g)].map(([, id]) => id ?? "");
    const bare = (source: string) => source.replaceAll(/"((?:item_)?id)":"[^"]+"/g, '"$1":""');
    return text.length === recorded.length && bare(text) === bare(recorded) &&
      !ids(text).some((id) => ids(recorded).includes(id));
  },
});

rows("a fault that replaces an answer has the status, header and error body of its API", {
  "429": withFault("responses", "429 retry-after 2", [429, "2", "rate_limit_exceeded"]),
  "milliseconds": withFault("responses", "503 retry-after-ms 900", [503, "900", "server_is_overloaded"]),
  "429 of Messages": withFault("messages", "429", [429, null, "rate_limit_error"]),
  "529 of Messages": withFault("messages", "529", [529, null, "overloaded_error"]),
  "fail of Messages": withFault("messages", "fail", [500, null, "api_error"]),
  "html": withFault("messages", "html", [200, null, "text/html; charset=utf-8"]),
  "limit": withFault("responses", "previous_response_not_found", [400, null, "previous_response_not_found"]),
}, {
  outcome: ({ status, headers, text }) => {
    const type = headers.get("content-type");
    const { code, type: kind } = type === "application/json" ? JSON.parse(text).error : { code: null, type };
    return [status, headers.get("retry-after") ?? headers.get("retry-after-ms"), code ?? kind];
  },
});

const twice = ask("Hi", { stream: true });
/** Lines of `--fault`, what each of the same requests gets, and the lines that had no effect. */
const PLANS:
  readonly (readonly [lines: readonly string[], outcomes: readonly string[], unmet: readonly string[]])[] = [
    [["429"], ["faulted 429", "1 exact", "miss 1 none"], []],
    [["2: fail"], ["1 exact", "faulted fail"], []],
    [["1-2: 503"], ["faulted 503", "faulted 503", "1 exact"], []],
    [["fail, 429 retry-after 2, ok", "5: html"], ["faulted fail", "faulted 429 retry-after 2", "1 exact"], [
      "5: html",
    ]],
    [["2: fail, ok, html"], ["1 exact", "faulted fail", "miss 1 none", "faulted html"], []],
    [["*: comments", "2: 429"], ["1 exact", "faulted 429", "miss 1 none"], []],
    // An exchange whose answer was broken is played again.
    [["cut after 1 event, reset after 40 bytes, ok"], ["1 exact", "1 exact", "1 exact", "miss 1 none"], []],
    [["cut after 99 events"], ["1 exact (fault_without_place)"], ["1: cut after 99 events"]],
  ];
withHome("a line names its requests, and of several lines the last one counts", async (home) => {
  home.fixture("a", [exchangeOf(sent(twice, { answer: APIS.responses.text }))]);
  for (const [lines, outcomes, unmet] of PLANS) {
    const flags = ["--strict-usage", ...lines.flatMap((line) => ["--fault", line])];
    await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
    const found: string[] = [];
    for (const _ of outcomes) found.push(outcomeOf(await server.ask(twice)));
    const { unmet_faults, code, unused } = await server.end();
    assert.deepEqual([found, unmet_faults, unused], [outcomes, unmet, []], lines.join());
    assert.equal(
      code,
      unmet.length > 0 || outcomes.some((one) => one.startsWith("miss")) ? 7 : 0,
      lines.join(),
    );
  }
});

/** Faults that cannot be read, with the hint. */
const WRONG: readonly (readonly [string, RegExp])[] = [
  ["cut after three events", /^Write "cut PLACE", such as "cut after 3 events"/],
  ["cutt after 3 events", /^Write "cut PLACE", such as/],
  ["stall after 2 events for 5 minutes", /^Write "stall PLACE \[for TIME\]", such as /],
  ["drip 0 bytes every 5ms", /^Write "drip N bytes every TIME", such as /],
  ["error", /^Write "error flat .*" or "error nested .*", such as /],
  ["418", /^Write "STATUS \[retry-after N\]" or "STATUS retry-after-ms N", such as/],
  ["explode", /^A fault begins with one of these: cut, reset, stall, /],
  ["3-1: 429", /^Write "2: FAULT" for the second request/],
  ["two: 429", /^Write "2: FAULT" for the second request/],
  ["fail,,ok", /^A fault begins with one of these/],
];
withHome("a wrong fault is a usage error that names the forms that come nearest", async (home) => {
  home.fixture("a", [exchangeOf(twice)]);
  for (const [fault, hint] of WRONG) {
    const flags = ["--fault", fault];
    const reason: string = await Served.start(home, ["a"], { cwd: home.directory, flags }).then(
      () => "",
      String,
    );
    const { code, stdout } = JSON.parse(reason.slice("Error: ".length));
    const refused = JSON.parse(stdout);
    assert.deepEqual([code, refused.code], [2, "usage"], fault);
    assert.match(refused.message, /^Cannot read the fault /);
    assert.match(refused.hint, hint, fault);
  }
});

rows(
  "a fault of a fixture that cannot be read, or would change nothing, makes the fixture bad",
  Object.fromEntries(
    ["cut after 9 events", "cut somewhere", "2: 429", "fail, ok"].map((
      fault,
    ) => [fault, withFault("responses", fault, "turned_away bad_fixture")]),
  ),
);

withHome("every example of docs/rules.md is a fault that a recording can have", async (home) => {
  const docs = Deno.readTextFileSync(new URL("../../../docs/rules.md", import.meta.url));
  const [table = ""] =
    /<!-- faults:begin -->[^]*?\n\n/.exec(docs.replace(/<!-- faults:begin -->\n/, "<!-- faults:begin -->")) ??
      [];
  const examples = [...table.matchAll(/\| `([^`]+)` \|$/gm)].map(([, example = ""]) => example);
  assert.ok(examples.length > 20, `${examples.length}`);
  for (const example of examples) {
    await using _server = await Served.start(home, [home.fixture("b", [exchangeOf(twice)])], {
      flags: ["--fault", example],
    });
  }
});
