/** Faults: what each makes of a recorded answer, which requests get it, and how wrong ones are refused. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { withHome } from "./home.ts";
import { type Answer, exchangeOf, outcomeOf, rows, sent, Served } from "./served.ts";
import { ask, chat, claude, user } from "./shapes.ts";
import { answerEvents, chat as chatAnswer, framed, message, STOP } from "./answers.ts";

const EVENTS = answerEvents("0123456789abcdef", { words: ["Grüße 😀"] });
const CHAT = String(chatAnswer("a", STOP).body).replaceAll(',"obfuscation":"a"', "");
const APIS = {
  responses: {
    path: "/v1/responses",
    body: ask("Hi"),
    text: framed(EVENTS),
  },
  messages: { path: "/v1/messages", body: claude([user("Hi")]), text: String(message("Grüße 😀").body) },
  chat: { path: "/v1/chat/completions", body: chat([user("Hi")]), text: CHAT },
} as const;
type Api = keyof typeof APIS;
const blocks = (text: string) => text.split("\n\n").slice(0, -1).map((block) => `${block}\n\n`);
const LAST = {
  responses: blocks(APIS.responses.text).length - 1,
  messages: blocks(APIS.messages.text).length - 1,
};
const first = (count: number) => (text: string) => blocks(text).slice(0, count).join("");
const bytes = (count: number) => (text: string) =>
  new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, count));
const failed = (code: string) => ({ code, message: "The server had an error." });
const failure = (code: string, sequence_number: number) => ({
  type: "response.failed",
  response: { ...EVENTS[0]?.response, status: "failed", usage: null, error: failed(code) },
  sequence_number,
});
const OVERLOADED = framed([
  { type: "error", error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req_fault" },
]);
const chatError = { message: "The server had an error.", type: "slow_down", param: null, code: "slow_down" };
const beside = (before: string, after = "") => (text: string) =>
  blocks(text).map((block) => before + block + after).join("");
const between = (block: string) => (text: string) => blocks(text).join(block);
const replaced = (from: string | RegExp, to: string) => (text: string) => text.replaceAll(from, to);
const same = (text: string) => text;
const novelty = (type: string) => framed([{ type, delta: "?" }]);
const keepalive = framed([{ type: "keepalive", sequence_number: "N" }]).replace('"N"', "N");

/** By API, the recorded text after a fault; `null` where the connection breaks. */
const FAULTS: Readonly<Record<Api | "every API", Readonly<Record<string, (text: string) => string | null>>>> =
  {
    "every API": {
      "cut after 0 events": () => "",
      "cut after 2 events": first(2),
      "cut after 70 bytes": bytes(70),
      "reset after 2 events": () => null,
      "drip 70 bytes every 1ms": same,
      "stall after 2 events for 1ms": same,
      "content-type application/json": same,
      "comments": beside(": still here\n\n"),
      "duplicate events": (text) => blocks(text).map((block) => block + block).join(""),
    },
    responses: {
      "no event lines": replaced(/^event: .*\n/gm, ""),
      "no terminal event": first(LAST.responses),
      "error flat": (text) =>
        first(LAST.responses)(text) +
        framed([{ type: "error", ...failed("server_error"), param: null, sequence_number: LAST.responses }]),
      "error nested insufficient_quota after 2 events": (text) => {
        const error = { type: "insufficient_quota", ...failed("insufficient_quota"), param: null };
        return first(2)(text) +
          framed([{ type: "error", error, sequence_number: 2 }, failure("insufficient_quota", 3)]);
      },
      "failed slow_down after 1 event": (text) => first(1)(text) + framed([failure("slow_down", 1)]),
      "duplicate terminal event": (text) => text + blocks(text).at(-1),
      "keepalives": between(keepalive),
      "unknown events": beside(novelty("response.novelty.delta")),
    },
    messages: {
      "no event lines": replaced(/^event: .*\n/gm, ""),
      "no terminal event": first(LAST.messages),
      "error flat after 3 events": (text) => first(3)(text) + OVERLOADED,
      "failed after 3 events": (text) => first(3)(text) + OVERLOADED,
      "incomplete": replaced('"stop_reason":"tool_use"', '"stop_reason":"max_tokens"'),
      "incomplete content_filter": replaced('"stop_reason":"tool_use"', '"stop_reason":"refusal"'),
      "duplicate terminal event": (text) => text + blocks(text).at(-1),
      "keepalives": between(framed([{ type: "ping" }])),
      "unknown events": beside(novelty("novelty")),
    },
    chat: {
      "duplicate terminal event": (text) => text.replace(blocks(text)[1] ?? "", (block) => block + block),
      "no terminal event": (text) => text.replace(blocks(text)[1] ?? "", ""),
      "error flat slow_down": (text) =>
        `${first(1)(text)}data: ${JSON.stringify({ error: chatError })}\n\ndata: [DONE]\n\n`,
      "incomplete": replaced('"stop"', '"length"'),
      "incomplete content_filter": replaced('"stop"', '"content_filter"'),
    },
  };
const ROWS = (["responses", "messages", "chat"] as const).flatMap((api) =>
  Object.entries({ ...FAULTS["every API"], ...FAULTS[api] }).map(([fault, makes]) =>
    [api, fault, makes] as const
  )
);

withHome("each fault changes its place in the answer, and no other byte", async (home) => {
  home.fixture(
    "a",
    ROWS.map(([api, fault], n) => {
      const { path, body, text } = APIS[api];
      const headers = { "content-type": "text/event-stream" };
      return exchangeOf(sent({ ...body, tag: n }, { path, answer: text, response: { fault, headers } }));
    }),
  );
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags: ["--rules", "none"] });
  for (const [n, [api, fault, makes]] of ROWS.entries()) {
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
  "at the end": withFault("responses", "incomplete steered", ["incomplete", "steered", 3, 94]),
  "after an item": withFault("responses", "incomplete after 8 events", [
    "incomplete",
    "max_output_tokens",
    1,
    94,
  ]),
}, {
  outcome: (answer) => {
    const { status, incomplete_details, output, usage } = last(answer).response;
    return [status, incomplete_details?.reason, output.length, usage?.total_tokens];
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
  "429 of Messages": withFault("messages", "429", [429, null, "rate_limit_error"]),
  "529 of Messages": withFault("messages", "529", [529, null, "overloaded_error"]),
  "html": withFault("messages", "html", [200, null, "text/html; charset=utf-8"]),
  "limit": withFault("responses", "previous_response_not_found", [400, null, "previous_response_not_found"]),
}, {
  outcome: ({ status, headers, text }) => {
    const type = headers.get("content-type");
    const { code, type: kind } = type === "application/json" ? JSON.parse(text).error : { code: null, type };
    return [status, headers.get("retry-after") ?? headers.get("retry-after-ms"), code ?? kind];
  },
});

/** By status: the error's type, param and code in Responses, then its type in Messages. */
const STATUSES: Readonly<Record<string, readonly (string | null)[]>> = {
  "400": ["invalid_request_error", null, null, "invalid_request_error"],
  "400 context length": [
    "invalid_request_error",
    "input",
    "context_length_exceeded",
    "invalid_request_error",
  ],
  "400 content policy": ["invalid_request_error", "prompt", "content_filter", "invalid_request_error"],
  "401": ["invalid_request_error", null, "invalid_api_key", "authentication_error"],
  "402": ["invalid_request_error", null, null, "billing_error"],
  "403": ["invalid_request_error", null, "unsupported_country", "permission_error"],
  "404": ["invalid_request_error", null, "model_not_found", "not_found_error"],
  "408 retry-after 1": ["invalid_request_error", null, null, "invalid_request_error"],
  "409": ["invalid_request_error", null, null, "conflict_error"],
  "413": ["invalid_request_error", null, null, "request_too_large"],
  "429": ["requests", null, "rate_limit_exceeded", "rate_limit_error"],
  "499": ["invalid_request_error", null, null, "invalid_request_error"],
  "500": ["server_error", null, "server_error", "api_error"],
  "502": ["server_error", null, "server_error", "api_error"],
  "503": ["service_unavailable_error", null, "server_is_overloaded", "api_error"],
  "504": ["server_error", null, "server_error", "timeout_error"],
  "529": ["service_unavailable_error", null, "server_is_overloaded", "overloaded_error"],
  "599": ["server_error", null, "server_error", "api_error"],
};
withHome("every status from 400 to 599 has the error body of the API", async (home) => {
  const faults = Object.keys(STATUSES);
  for (const api of ["responses", "chat", "messages"] as const) {
    const { path, body, text } = APIS[api];
    home.fixture(api, [exchangeOf(sent(body, { path, answer: text }))]);
    const flags = ["--fault", [...faults, "502 html"].join(", ")];
    await using server = await Served.start(home, [api], { cwd: home.directory, flags });
    for (const fault of faults) {
      const answer = await server.ask(sent(body, { path }));
      const { type, error } = JSON.parse(answer.text);
      const [kind, param, code, messagesKind] = STATUSES[fault] ?? [];
      const history = api === "chat" && param === "input" ? "messages" : param;
      assert.deepEqual(
        [`${answer.status}`, answer.headers.get("content-type"), type, error],
        api === "messages"
          ? [fault.slice(0, 3), "application/json", "error", { type: messagesKind, message: error.message }]
          : [fault.slice(0, 3), "application/json", undefined, {
            ...{ message: error.message, type: kind, param: history, code },
          }],
        `${api}: ${fault}`,
      );
      assert.match(error.message, fault.endsWith("length") ? /128000|200000/ : /./);
      assert.equal(answer.headers.get("retry-after"), fault.includes("after") ? "1" : null);
    }
    const page = await server.ask(sent(body, { path }));
    assert.deepEqual([page.status, page.headers.get("content-type")], [502, "text/html; charset=utf-8"]);
    assert.match(page.text, /^<!doctype html>/);
  }
});

const twice = ask("Hi", { stream: true });
/** Lines of `--fault`, what each of the same requests gets, and the lines that had no effect. */
const PLANS:
  readonly (readonly [lines: readonly string[], outcomes: readonly string[], unmet: readonly string[]])[] = [
    [["429"], ["faulted 429", "1 exact", "miss 1 none"], []],
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
    const fails = unmet.length > 0 || outcomes.some((one) => one.startsWith("miss"));
    assert.equal(code, fails ? 7 : 0, lines.join());
  }
});

const WRONG: Readonly<Record<string, RegExp>> = {
  "cut after three events": /^Write "cut PLACE", such as "cut after 3 events"/,
  "cutt after 3 events": /^Write "cut PLACE", such as/,
  "stall after 2 events for 5 minutes": /^Write .*"stall PLACE \[for TIME\]".*, such as /,
  "drip 0 bytes every 5ms": /^Write "drip N bytes every TIME", such as /,
  "error": /^Write "error flat .*" or "error nested .*", such as /,
  "399": /^Write "STATUS /,
  "600": /^Write "STATUS /,
  "400 context": /^Write .*"400 context length"/,
  "explode": /^A fault begins with one of these: cut, reset, drop, stall, /,
};
withHome("a wrong fault is a usage error that names the forms that come nearest", async (home) => {
  home.fixture("a", [exchangeOf(twice)]);
  for (const [fault, hint] of Object.entries(WRONG)) {
    const flags = ["--fault", fault];
    const refused = await Served.refusal(home, ["a"], flags);
    assert.deepEqual([refused.exit, refused.code], [2, "usage"], fault);
    assert.match(refused.message, /^Cannot read the fault /);
    assert.match(refused.hint, hint, fault);
  }
});

rows(
  "a fault of a fixture that cannot be read, or would change nothing, makes the fixture bad",
  Object.fromEntries(
    ["cut after 99 events", "cut somewhere", "2: 429", "fail, ok"].map((
      fault,
    ) => [fault, withFault("responses", fault, "turned_away bad_fixture")]),
  ),
);

withHome("every example of docs/rules.md is a fault that a recording can have", async (home) => {
  const docs = Deno.readTextFileSync(new URL("../../../docs/rules.md", import.meta.url));
  const [, table = ""] = docs.split(/<!-- faults:(?:begin|end) -->/);
  const examples = [...table.matchAll(/\| `([^`]+)` \|$/gm)].map(([, example = ""]) => example);
  assert.ok(examples.length > 20, `${examples.length}`);
  for (const example of examples) {
    await using _server = await Served.start(home, [home.fixture("b", [exchangeOf(twice)])], {
      flags: ["--fault", example],
    });
  }
});
