/** The output of `fixture show` and `fixture ls`. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { agentLoop, PROMPT, socketExchange } from "../../support/socket_fixture.ts";
import { answerEvents, ASKED, exchange, framed, message } from "./answers.ts";
import { type RecordingHome, withHome } from "./home.ts";
import type { GivenExchange } from "./recording_files.ts";

const json = { "content-type": "application/json" };
const WHOLE = exchange(ASKED, answerEvents("one"));

const CALLED = (call_id: string): Json[] => [
  { type: "function_call", call_id, name: "weather", arguments: '{"city":"Oslo"}' },
  { type: "function_call_output", call_id, output: "4 degrees" },
];

/** The exchanges of a fixture as `show` prints them. */
async function shown(home: RecordingHome, ...exchanges: readonly GivenExchange[]): Promise<string> {
  home.fixture("f", exchanges);
  const { stdout } = await home.verb(["show", "f"]);
  return stdout.slice(stdout.indexOf("── "));
}

/** The exchanges of a fixture as `show --json` prints them. */
async function timelines(home: RecordingHome, ...exchanges: readonly GivenExchange[]): Promise<Json[]> {
  home.fixture("f", exchanges);
  return (await home.json(["show", "f"])).exchanges;
}

withHome("show joins the deltas of an item, and reads well", async (home) => {
  const input = [...ASKED.input, ...CALLED("call_1")];
  const given = exchange(
    { ...ASKED, input },
    answerEvents("one", { words: ["It ", "is ", "4 ", "degrees."] }),
  );
  const request = { ...given.request, at_ms: 1500 };
  const response = { chunks: [[0, 12], [1000, 340], [3000, 1250]] };
  const text = await shown(home, { ...given, request, response });
  assert.equal(text, Deno.readTextFileSync(new URL("expected/timeline.txt", import.meta.url)));
});

withHome("show keeps apart the deltas of items that mingle, and shows what is no event", async (home) => {
  const type = "response.output_text.delta";
  const delta = (output_index: number, delta: string) => ({ type, output_index, delta });
  const command = {
    type: "response.shell_call_command.delta",
    output_index: 1,
    command_index: 1,
    delta: "ls",
  };
  const deltas = framed([delta(0, "a"), delta(0, "b"), delta(1, "c"), delta(0, "d"), command]);
  const body = `: hello\n\n: again\n\n${deltas}data: <html>\n\ndata: [DONE]\n\n`;
  const [{ events }] = await timelines(home, { body });
  assert.deepEqual(events.map(({ kind, count, item, text }: Json) => [kind, count, item, text]), [
    ["comment", 2, null, null],
    ...[[type, 2, 0, "ab"], [type, 1, 1, "c"], [type, 1, 0, "d"], [command.type, 1, 1, "ls"]],
    ["unreadable data", 1, null, "<html>"],
    ["[DONE]", 1, null, null],
  ]);
  assert.equal(events[4].about, "part 2");
});

withHome(
  "show only counts what earlier exchanges hold: items, answers that are sent back, and settings",
  async (home) => {
    const sentBack = [
      { type: "reasoning", id: "rs_one", summary: [], encrypted_content: "another copy" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look it up." }] },
      ...CALLED("call_one"),
    ];
    const input = [...ASKED.input, ...sentBack, { role: "user", content: "And in Rome?" }];
    const next = ["two", "three"].map((mark) => exchange({ ...ASKED, input }, answerEvents(mark)));
    const [first = "", second = "", third = ""] = (await shown(home, WHOLE, ...next)).split("\n── ")
      .map((text) => text.split("  (answer: ")[0] ?? "");
    for (
      const part of ["(instructions)\n    Be short.", "(1 tool)\n    weather", "(settings stream: true, "]
    ) {
      assert.ok(first.includes(part), first);
    }
    assert.ok(first.endsWith("\n  What is the weather in Oslo?\n"), first);
    assert.deepEqual(second.split("\n").slice(1), [
      "  (1 item as in exchange 1)",
      "  (3 items of earlier exchanges)",
      "  ← weather: returned · Oslo",
      "    4 degrees",
      "  And in Rome?",
      "",
    ]);
    assert.deepEqual(third.split("\n").slice(1), ["  (6 items as in exchange 2)", ""]);
  },
);

withHome("show names a missed prompt cache only where a cache could have been", async (home) => {
  const other = { ...ASKED, instructions: "Be long." };
  const notes = async (...given: readonly (readonly [Json, number, number])[]) => {
    const exchanges = given.map(([asked, input_tokens, cached_tokens]) => {
      const usage = { input_tokens, output_tokens: 1, input_tokens_details: { cached_tokens } };
      const body = JSON.stringify({ object: "response", output: [], usage });
      return { ...exchange(asked, []), response: { headers: json }, body };
    });
    Deno.removeSync(`${home.directory}/f`, { recursive: true });
    return (await shown(home, ...exchanges)).match(/\(.*prompt cache.*\)/g) ?? [];
  };
  home.fixture("f", []);
  assert.deepEqual(await notes([ASKED, 900, 0], [other, 2000, 0], [ASKED, 2000, 2000]), []);
  assert.deepEqual(await notes([ASKED, 2000, 0], [{ ...other, model: "gpt-5.6-mini" }, 2000, 0]), []);
  const [missed = "", ...rest] = await notes([ASKED, 2000, 0], [other, 2000, 0]);
  assert.match(missed, /^\(prompt cache missed: first differing byte \d+, before its input\)$/);
  assert.deepEqual(rest, []);
  assert.deepEqual(await notes([ASKED, 2000, 0], [ASKED, 2000, 0]), [
    "(no tokens from the prompt cache, although the request extends the one before)",
  ]);
});

const content = [
  { type: "text", text: "Let me see." },
  { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
];
const start = { id: "msg_1", type: "message", model: "claude-opus-5", content, stop_reason: "tool_use" };

const SHOWN: Readonly<Record<string, readonly [GivenExchange, ...RegExp[]]>> = {
  "the fault that an answer is played with": [
    { ...WHOLE, response: { fault: "429 retry-after 2" } },
    /it is played with the fault "429 retry-after 2"\)$/m,
  ],
  "a cut stream": [
    { response: { ended: "cut", terminal: false }, body: framed([{ type: "error", message: "Overloaded" }]) },
    /error "Overloaded"/,
    /ended: cut, without its terminal event\)$/m,
  ],
  "a message that holds its items at its start": [
    {
      request: { path: "/v1/messages" },
      body: framed([{ type: "message_start", message: start }, { type: "message_stop" }]),
    },
    /\n {2}Let me see\.\n {2}→ weather Oslo\n/,
    /message_start claude-opus-5 tool_use\n/,
  ],
  "a stream of Messages": [message("Oslo"), /\n {4}It is Oslo\.\n {2}In Oslo\n {2}→ weather Oslo\n/],
};

for (const [name, [given, ...says]] of Object.entries(SHOWN)) {
  withHome(`show prints ${name}`, async (home) => {
    const text = await shown(home, given);
    for (const pattern of says) assert.match(text, pattern);
  });
}

withHome("show names connection, lane, warm-up, continuation and close of a WebSocket", async (home) => {
  const asked = { type: "response.create", model: "m", input: [PROMPT] };
  const cut = socketExchange({
    message: { ...asked, stream_id: "side", previous_response_id: "resp_9" },
    events: [],
    request: { connection: 2 },
    response: { ended: "cut", close: { code: 1011, reason: "no more" } },
  });
  const exchanges = [...agentLoop(), cut];
  const lines = (await shown(home, ...exchanges)).split("\n").filter((each) => each.includes("(WebSocket: "))
    .map((line) => line.replace(/\d+ bytes/, "N bytes"));
  assert.deepEqual(lines, [
    "  (WebSocket: connection 1, warm-up, response.create of N bytes, 2 answering messages)",
    "  (WebSocket: connection 1, continues exchange 1, response.create of N bytes, 3 answering messages)",
    "  (WebSocket: connection 1, continues exchange 2, response.create of N bytes, 3 answering messages)",
    '  (WebSocket: connection 2, lane "side", continues "resp_9", no response of the connection, ' +
    'response.create of N bytes, 0 answering messages, closed with 1011 "no more")',
  ]);
});

withHome("a continued request over a WebSocket has the items of its HTTP equivalent", async (home) => {
  const exchanges = await timelines(home, ...agentLoop());
  const items = exchanges.map(({ request }) => [request.method, request.items.length]);
  assert.deepEqual(items, [["POST", 0], ["POST", 1], ["POST", 3]]);
});

withHome("--exchange takes numbers that a fixture has, and N:M in diff", async (home) => {
  home.fixture("f", [WHOLE, WHOLE]);
  assert.equal((await home.json(["show", "f", "--exchange", "2"])).exchanges[0].number, 2);
  await home.refused(["show", "f", "--exchange", "3"], "usage", /it has 2/);
  for (const text of ["0", "1:", ":2", "1:0", "01", "1:2:3", "1.5", "x"]) {
    await home.refused(["diff", "f", "f", "--exchange", text], "usage", /neither N nor N:M/);
  }
  assert.deepEqual((await home.json(["diff", "f", "--exchange", "2:1"])).verdict, "identical");
});

withHome(
  "fixtures are listed at and under a folder, in order, not through links and not inside exchanges",
  async (home) => {
    const names = ["s/b/deep/two", "s/a", "s/a/inner", "s/a/exchanges/0009", "s/.hidden"];
    for (const name of names) home.fixture(name, [WHOLE]);
    Deno.symlinkSync(`${home.directory}/s/b`, `${home.directory}/s/c`);
    const found = async (path: string) =>
      (await home.json(["ls", path])).fixtures.map(({ path }: Json) => path);
    assert.deepEqual(await found("s"), ["s/a", "s/a/inner", "s/b/deep/two"]);
    assert.deepEqual(await found("s/b/deep/two/"), ["s/b/deep/two"]);
    Deno.mkdirSync(`${home.directory}/empty`);
    await home.refused(["ls", "empty"], "bad_fixture", /no fixture\.json/);
    await home.refused(["ls", "nowhere"], "usage", /no such folder/);
  },
);

withHome(
  "a listed fixture says what it holds, how old and large it is, and whether it is sealed",
  async (home) => {
    const created = new Date(Date.now() - 9.5 * 24 * 60 * 60 * 1000).toISOString();
    const path = home.fixture("a", [WHOLE, WHOLE], { models: ["gpt-5.6", "gpt-5.7"], created });
    const size = (name: string) => Deno.statSync(`${path}/${name}`).size;
    const files = ["0001", "0002"].flatMap((number) =>
      ["request.json", "response.json", "body"].map((name) => `exchanges/${number}/${name}`)
    );
    const listed = async () => (await home.json(["ls", "a"])).fixtures[0];
    assert.deepEqual(await listed(), {
      path: "a",
      ...{ provider: "openai", models: ["gpt-5.6", "gpt-5.7"], exchanges: 2, created },
      ...{ recordings: [{ created, producer: null, exchanges: [1, 2] }], age_days: 9 },
      bytes: files.reduce((sum, name) => sum + size(name), size("fixture.json")),
      ...{ sealed: true, problem: null },
    });
    Deno.mkdirSync(`${path}/.recording`);
    Deno.mkdirSync(`${path}/exchanges/0003`);
    // A recorder was killed.
    assert.deepEqual([(await listed()).exchanges, (await listed()).problem], [2, null]);
    home.file("a/notes.txt", "mine");
    assert.equal((await listed()).sealed, false);
    home.file("a/fixture.json", "{}");
    const { provider, exchanges, problem } = await listed();
    assert.deepEqual([provider, exchanges, /fixture\.json/.test(problem)], [null, 3, true]);
    home.fixture("b", [WHOLE], { created: "1970-01-01T00:00:00.000Z" });
    assert.equal((await home.json(["ls", "b"])).fixtures[0].age_days, null);
  },
);
