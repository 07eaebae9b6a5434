/** Misses: the differences from the nearest exchange, the words for the client, and the cure. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { RecordingHome, withHome } from "./home.ts";
import { type Answer, exchangeOf, type Row, rows, sent, Served } from "./served.ts";
import { ask, chat, says, talk, user } from "./shapes.ts";

const FLAGS = ["--rules", "none"];
const tool = (name: string, description = "A tool") => ({ type: "function", name, description });
const parts = (...texts: string[]) => user(texts.map((text) => ({ type: "input_text", text })));

const listed = ({ events: [{ differences = [] }] }: Answer) =>
  differences.map(({ path, recorded, received }: Json) => `${path}: ${recorded} / ${received}`);
const item = (text: string) => `{"role":"user","content":"${text}"}`;
const lettered = (texts: string) => talk(...[...texts].map((text) => user(text)));
const form = (boundary: string, file: string, header = 'name="file"; filename="a.txt"', end = "--\r\n") =>
  `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${boundary}\r\n` +
  `Content-Disposition: form-data; ${header}\r\n\r\n${file}\r\n--${boundary}${end}`;
const upload = (recorded: string, asked: string, ...outcome: string[]): Row => ({
  ...{ path: "/v1/files", recorded: [recorded], asked: [[asked, outcome]] },
});
const bytes = (length: number) =>
  `body: ${length} bytes that are not JSON / ${length} bytes that are not JSON`;

rows("all differences are listed, with both values", {
  "in what is asked before the others": {
    recorded: [{ model: "m", input: [user("a"), parts("b")], store: false }],
    asked: [[{ store: true, input: [user("x"), parts("y")], seed: 1 }, [
      'input[0].content: "a" / "x"',
      'input[1].content[0].text: "b" / "y"',
      'model: "m" / nothing',
      "store: false / true",
      "seed: nothing / 1",
    ]]],
  },
  "an item that one of them lacks is one difference": {
    recorded: [lettered("abcdef")],
    asked: [
      [lettered("acdef"), [`input[1]: ${item("b")} / nothing`]],
      [lettered("abcdxef"), [`input[4]: nothing / ${item("x")}`]],
      [lettered("xbcef"), ['input[0].content: "a" / "x"', `input[3]: ${item("d")} / nothing`]],
    ],
  },
  "places are those of the received body, also where rules leave elements out": {
    header: { match: { ignore: ["$.tools[1]", "$.include[0]", "$.input[0].content[0]"] } },
    recorded: [ask(["x", "a"], { tools: [tool("c", "1"), tool("b"), tool("a", "1")], include: ["x", "a"] })],
    asked: [[
      ask(["y", "b"], { tools: [tool("c", "2"), tool("x"), tool("a", "2")], include: ["y", "b"] }),
      [
        'input[0].content[1]: "a" / "b"',
        'tools[2].description: "1" / "2"',
        'tools[0].description: "1" / "2"',
        'include[1]: "a" / "b"',
      ],
    ]],
  },
  "only what counts under the rules": {
    header: { match: { normalize: ["cwd"] }, context: { cwd: "/srv/a" } },
    flags: ["--context", "cwd=/srv/b"],
    recorded: [talk(user("<cwd>/srv/a</cwd>"), user("Fix /srv/a/x"))],
    asked: [[talk(user("<cwd>/srv/b</cwd>"), user("Delete /srv/b/x")), [
      'input[1].content: "Fix <cwd:1>/x" / "Delete <cwd:1>/x"',
    ]]],
  },
  "an upload in another boundary is the same": upload(
    form("a", "--ab\r\none"),
    form("openai=_'()+,-./:=?", "--ab\r\none"),
  ),
  "the content of a part": upload(form("a", "one"), form("b", "two"), 'part "file": "one" / "two"'),
  "a body that only looks like multipart": upload(
    form("a", "one", undefined, "--\r\nmore"),
    form("b", "one", undefined, "--\r\nmore"),
    bytes(form("a", "one", undefined, "--\r\nmore").length),
  ),
}, { flags: FLAGS, outcome: listed });

const page = (first: string, last: string) =>
  `${first} ${"The long report continues. ".repeat(2000)} ${last}`;
const near = (recorded: readonly Json[], asked: Json, outcome: string, path?: string): Row => ({
  ...{ recorded, asked: [[asked, `miss ${outcome}`]] },
  ...(path === undefined ? {} : { path }),
});

rows("the nearest recording, and the difference that is named first", {
  "another animal, not the first unused question": near(
    [ask("What is the capital of France?"), ask("Summarise the article about whales")],
    ask("Summarise the article about sharks"),
    "2 input[0].content",
  ),
  "the same text once played, nearer than an unused one": {
    recorded: [ask("Summarise the article about whales"), ask("What is the capital of France?")],
    asked: [
      [ask("Summarise the article about whales"), "1 exact"],
      [ask("Summarise the article about sharks"), "miss 1 input[0].content"],
    ],
  },
  "a question at the end of a long common text": near(
    ["Who wrote it?", "How many whales are named?", "Is it true?"].map((last) =>
      ask(page("Read this:", last))
    ),
    ask(page("Read this:", "How many sharks are named?")),
    "2 input[0].content",
  ),
  "the prompt before the instructions and settings that stand before it": near(
    [{ top_p: 1, instructions: "Be brief", tools: [tool("a")], ...ask("Name a river") }],
    { top_p: 0.5, instructions: "Be very brief", tools: [tool("b")], ...ask("Name a lake") },
    "1 input[0].content",
  ),
  "a whole conversation with one changed message, not a short one with an equal beginning": near(
    [
      talk(user("Hello"), says("Hi")),
      talk(user("Hello!"), says("Hi"), user("Add a test"), says("Done"), user("Thanks")),
    ],
    talk(user("Hello"), says("Hi"), user("Add a test"), says("Done"), user("Thanks")),
    "2 input[0].content",
  ),
  "the history that an item is missing from": near(
    [ask("One"), talk(user("One"), says("Two"), user("Three"), user("Four"))],
    talk(user("One"), user("Three"), user("Four")),
    "2 input[1]",
  ),
  "of two that are equally near, the unused one": {
    recorded: [ask("Name three rivers"), ask("Name three rivers")],
    asked: [
      [ask("Name three lakes"), "miss 1 input[0].content"],
      [ask("Name three rivers"), "1 exact"],
      [ask("Name three lakes"), "miss 2 input[0].content"],
    ],
  },
}, { flags: FLAGS });

const cured = ({ events: [event], text }: Answer) => {
  if (event.type !== "miss") return event.type;
  const { message } = JSON.parse(text).error;
  const [, kind, cure] = /To (match|record) it: (.*)$/.exec(event.message) ?? [];
  assert.equal(cure, event.cure);
  assert.equal(message.endsWith(`. To ${kind} it: ${cure}`) || /description/.test(cure ?? ""), true, message);
  return kind === "record" ? null : cure;
};
const [ONE, TWO] = ["7c9e6679-7425-40de-944b-e07fc1f90ae7", "16fd2706-8baf-433b-82eb-8c7fada847da"];
const asks = (prompt: string, more: Json = {}) => chat([user(prompt)], more);
const shell = { id: "call_1", type: "function", function: { name: "sh", arguments: "{}" } };
const tested = (output: string, prompt = "Run the tests") =>
  chat([
    user(prompt),
    { role: "assistant", tool_calls: [shell] },
    { role: "tool", tool_call_id: "call_1", content: output },
  ]);
const text = (text: string) => ({ type: "text", text });
const reminder = (branch: string) => text(`<system-reminder>\nBranch: ${branch}\n</system-reminder>`);
const described = (name: string, description: string) =>
  asks("Hi", { tools: [{ type: "function", function: { name, description } }] });
const places = (cwd: string, day: string) =>
  chat([user(`<cwd>${cwd}</cwd>\nToday's date is ${day}.`), user(`Fix ${cwd}/x.ts`)]);

/** Splits flags at spaces outside quotes. */
const wordsIn = (flags: string) =>
  flags.match(/'[^']*'|[^' ]+/g)?.map((word) => word.replaceAll("'", "")) ?? [];

/** Recorded requests, the received one, and the flags that make it match; `null` if it has to be recorded. */
type Cure = readonly [recorded: readonly Json[], asked: Json, cure: string | null];
const two = <T>(form: (value: T) => Json, recorded: T, asked: T, cure: string | null): Cure => [
  ...[[form(recorded)], form(asked), cure] as const,
];
const member = (more: Json) => asks("Hi", more);
const whole = (text: string) => asks(`Sum up ${text}`);
const branch = (name: string) => chat([user([text("Be kind"), reminder(name), text("Fix the test")])]);
const last = (name: string) => chat([user([text("Fix the test"), reminder(name)])]);

const CURES: Readonly<Record<string, Cure>> = {
  "a UUID that is new each time": two(tested, ONE, TWO, "--normalize uuid"),
  "another UUID in a question": two(whole, ONE, TWO, null),
  "only the rules that are needed, of directory and day": [
    [places("/srv/a", "2026-11-21")],
    places("/srv/b", "2026-11-22"),
    "--normalize cwd,date",
  ],
  "another prompt": two(asks, "Name a river", "Name a lake", null),
  "another model": two(member, {}, { model: "n" }, null),
  "a setting": two(member, { temperature: 0 }, { temperature: 1 }, "--ignore '$.temperature'"),
  "a text in which a client writes about itself": two(
    ...[branch, "main", "feature", "--replace 'Branch: \\S+=Branch: X'"] as const,
  ),
  "such a text that is another": two(
    ...[branch, "main", "main\nChanged: 1", "--ignore '$.messages[0].content[1].text'"] as const,
  ),
  "such a text after the question": two(last, "main", "feature", "--replace 'Branch: \\S+=Branch: X'"),
  "a description of a tool": two(
    (description: string) => described("sh", description),
    ...["Runs", "Runs it", "--ignore '$.tools[0].function.description'"] as const,
  ),
  "another tool": two((name: string) => described(name, "Runs"), "sh", "rm", null),
  "the output of a tool": two(tested, "3 passed", "4 passed", "--match conversation"),
  "a rule that would hide the difference between two recordings": [
    [member({ seed: 1 }), member({ seed: 2 })],
    member({ seed: 3 }),
    null,
  ],
};
const COMPATIBLE = { provider: "compatible", context: { cwd: "/srv/a", date: "2026-11-21" } };
const ELSEWHERE = ["--context", "cwd=/srv/b", "--context", "date=2026-11-22"];
const cureRow = ([recorded, asked]: (typeof CURES)[string], outcome: Json, flags?: string): Row => ({
  ...{ path: "/v1/chat/completions", header: COMPATIBLE, asked: [[asked, outcome]] },
  recorded: recorded.map((body, n) => sent(body, { answer: { n } })),
  flags: [...ELSEWHERE, ...wordsIn(flags ?? "")],
});

rows(
  "the cure of a miss makes the same request match",
  {
    ...Object.fromEntries(
      Object.entries(CURES).flatMap(([what, row]) => [
        [what, cureRow(row, row[2])],
        ...row[2] === null ? [] : [[`${what}: the request matches with it`, cureRow(row, "played", row[2])]],
      ]),
    ),
    "JSON that is written in another way": {
      ...cureRow([[asks("Hi")], asks("Hi", { user: "ann" }), null], "--match semantic"),
      flags: ["--match", "exact"],
    },
    "a rule beside a request that was played before": {
      recorded: [ask("<cwd>/srv/a</cwd>")],
      asked: [[ask("<cwd>/srv/a</cwd>"), "played"], [ask("<cwd>/srv/a</cwd>"), null], [
        ask("<cwd>/srv/b</cwd>"),
        null,
      ]],
    },
  },
  { flags: FLAGS, outcome: cured },
);

const REFUSALS = [
  ...["maximum context length", "encrypted content could not be verified", "unsupported parameter: 'x'"],
  ...["max_tokens", "reasoning", "No tool output found for call_1", "signature", "prompt is too long"],
];
rows(
  "a miss sends the client no text that could read as a refusal, whatever the request holds",
  Object.fromEntries(REFUSALS.map((word) => [word, {
    recorded: [ask("Hi", { [word]: 1 }), ask("Hi", { text: { [word]: { [word]: word } } }), ask(word)],
    asked: [
      ask("Hi", { [word]: 2 }),
      ask("Hi"),
      ask(`${word}!`),
      talk(user("Hi"), { type: word, [word]: word }),
    ].map((body) => [sent(body, { headers: { "x-word": word } }), [400, "false", "fixture_miss", false]]),
  }])),
  {
    flags: FLAGS,
    outcome: ({ status, headers, text }) => {
      const { message, code } = JSON.parse(text).error;
      return [status, headers.get("x-should-retry"), code, REFUSALS.some((word) => message.includes(word))];
    },
  },
);

withHome(
  "a miss has no values for the client and all for the user, and both name the command that records",
  async (home) => {
    const record = "reprise record --missing --out a -- CMD";
    home.fixture("a", [
      exchangeOf(ask("Fix the failing test")),
      exchangeOf(sent("", { method: "GET", path: "/v1/models" })),
    ]);
    await using server = await Served.start(home, ["a"], { cwd: home.directory });
    const missed = await server.ask(ask("Fix the failing tests"));
    assert.deepEqual(JSON.parse(missed.text), {
      error: {
        message:
          `No recorded exchange matches this request: it differs from the nearest, exchange 1, at input[0].content. To record it: ${record}`,
        ...{ type: "fixture_miss", param: null, code: "fixture_miss" },
      },
    });
    const [{ message, nearest }] = missed.events;
    assert.equal(
      message,
      'No recorded exchange matches request 1 (POST /v1/responses): the nearest is exchange 1 of "a", which differs at ' +
        'input[0].content:\n  recorded "Fix the failing test"\n  received "Fix the failing tests"\n' +
        `${" ".repeat(32)}^\n  To record it: ${record}`,
    );
    const values = { recorded: '"Fix the failing test"', received: '"Fix the failing tests"' };
    assert.deepEqual(nearest, { fixture: "a", number: 1, path: "input[0].content", ...values });
    const elsewhere = await server.ask(sent(ask("Hi"), { path: "/responses" }));
    assert.match(
      elsewhere.events[0].message,
      /recorded for that method and path, only POST \/v1\/responses \(1\), GET \/v1\/models \(1\)\./,
    );
    await server.ask(ask("Fix the failing test"));
    const again = await server.ask(ask("Fix the failing test"));
    assert.match(
      again.events[0].message,
      /: its only recorded answer, exchange 1 of "a", has been played \(serve --repeat plays it again\)\./,
    );
    const ended = await server.end();
    assert.deepEqual([ended.code, ended.served, ended.missed], [7, 1, 3]);
    assert.deepEqual(ended.unused, [{ fixture: "a", number: 2 }]);
  },
);

test.long("a cause of misses is described once, and each later request that misses for it gets a line", async () => {
  await using home = new RecordingHome();
  const alike = (prompt: string, seed: number, more: Json = {}) => ask(prompt, { seed, ...more });
  home.fixture("a", [
    exchangeOf(alike("Name a river", 1)),
    exchangeOf(alike("Name a hill or a mountain", 1)),
  ]);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`m${n}`, 1]));
  const asked = [
    ...[alike("Name a lake", 1), alike("Name a lake", 1), alike("Name a lake", 2, { top_p: 1 })],
    ...[alike("Name a lake", 2, many), alike("Name a pond", 1), alike("Name a lake", 2)],
    ...[alike("Name a hill or a moor", 1), alike("Name a river", 2), alike("Name a river", 2)],
  ].map((body, n) => home.file(`${n}.json`, JSON.stringify(body)));
  const script =
    'for body; do curl -s -o "$body.out" -H content-type:application/json -d "@$body" "$OPENAI_BASE_URL/responses"; done';
  const args = ["serve", "a", ...FLAGS, "--", "sh", "-c", script, "sh", ...asked];
  const { code, stderr } = await home.call(args, { cwd: home.directory });
  assert.equal(code, 7, stderr);
  const lines = stderr.split("\n").filter((line) => /: 400, miss: /.test(line));
  const short = (line: string) =>
    line.replace(/^\d POST \/v1\/responses: 400, miss: /, "").replace(/^No .* request (\d).*/, "whole $1");
  assert.deepEqual(lines.map(short), [
    "whole 1",
    "as request 1, at input[0].content",
    "as request 1, at input[0].content, and in 2 other places",
    "as request 1, at input[0].content, and in at least 19 other places",
    "whole 5",
    "as request 1, at input[0].content, and in 1 other place",
    "whole 7",
    "whole 8",
    "as request 8, at seed",
  ]);
  assert.doesNotMatch(stderr, /also differs/);
});

const thirty = (letter: string) =>
  ask("Hi", {
    text: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`m${n}`, letter.repeat(9999)])),
  });
rows("values of many or long differences are cut", {
  "30 members": { recorded: [thirty("a")], asked: [[thirty("b"), [20, true]]] },
  "a word in a long text": {
    recorded: [ask(`${"a".repeat(1000)}left${"a".repeat(1000)}`)],
    asked: [[ask(`${"a".repeat(1000)}right${"a".repeat(1000)}`), [1, true]]],
  },
}, {
  flags: FLAGS,
  outcome: ({ events: [{ differences }] }) => [
    differences.length,
    differences.every(({ recorded, received }: Json) =>
      recorded.length < 200 && received.length < 200 && recorded !== received
    ),
  ],
});

const gateway = (path: string, more: Json = {}) => ({ base_url: `https://gateway.example${path}`, ...more });
const command = (header: Json, path: string, variable: string, asked = path): Row => ({
  ...{ header, recorded: [sent(ask("Hi"), { path })], asked: [[sent(ask("Ho"), { path: asked }), variable]] },
});
const OF_OPENAI = "OPENAI_BASE_URL=https://gateway.example/openai/v1 reprise";
const OF_ANTHROPIC = "ANTHROPIC_BASE_URL=https://gateway.example/claude reprise";
rows("the command that records a missed request names the API of its gateway", {
  "OpenAI, at another path": command(
    gateway("/openai/v1"),
    "/openai/v1/responses",
    OF_OPENAI,
    "/v1/responses",
  ),
  "Anthropic": command(gateway("/claude", { provider: "anthropic" }), "/claude/v1/messages", OF_ANTHROPIC),
  "the vendor itself": command({}, "/v1/responses", "reprise"),
}, { flags: FLAGS, outcome: ({ events: [{ cure }] }) => cure.split(" record ")[0] });
