/** Bytes of requests to the Messages API: members by model and settings, and the block of each item. */
import assert from "node:assert/strict";
import { type Json, sha256 } from "../../support/files.ts";
import { says as claudeSays, startMessagesServer, text } from "../../support/scripted_api/messages.ts";
import { Sandbox } from "../../support/reprise.ts";
import { Dice } from "../../support/dice.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { ID, SessionHome } from "../sessions/home.ts";
import { type Next, nextRequest } from "./next_request.ts";
import { Runs } from "./runs.ts";
import { asks, type Beat, claude, ends, gets, says, tell, thinking, use } from "./story.ts";

/** The next request, as text. */
const bodyOf = (home: Sandbox, words: readonly string[], model = "claude-sonnet-5", options: Next = {}) =>
  nextRequest(home, ["-p", "anthropic", "-m", model, "--deny", "read", ...words], options);

const BUDGET = "claude-opus-4-1";
const effort = (name: string, ...more: readonly string[]) => ["--effort", name, ...more];
const SUMMARY = ["--summary", "detailed"];
const budget = (budget_tokens: number, more: Json = {}) => ({
  thinking: { type: "enabled", budget_tokens, ...more },
});
const adaptive = (level?: string, more: Json = {}) => ({
  thinking: { type: "adaptive", ...more },
  ...(level === undefined ? {} : { output_config: { effort: level } }),
});
const OFF = { thinking: { type: "disabled" } };
const SHOWN = { display: "summarized" };

/** Model, flags, and the members of the request that follow from both. */
const WISHES: readonly (readonly [model: string, flags: readonly string[], members: Json])[] = [
  ["claude-sonnet-5", [], adaptive()],
  ["claude-sonnet-5", effort("max"), adaptive("max")],
  ["claude-sonnet-5", effort("minimal"), adaptive("low")],
  ["claude-sonnet-5", effort("none", ...SUMMARY), OFF],
  ["claude-sonnet-5", SUMMARY, adaptive(undefined, SHOWN)],
  [BUDGET, [], {}],
  [BUDGET, effort("low"), budget(2048)],
  [BUDGET, effort("medium", ...SUMMARY), budget(8192, SHOWN)],
  [BUDGET, effort("high"), budget(16_384)],
  [BUDGET, effort("xhigh"), budget(24_576)],
  // A budget leaves room for an answer, or is not sent.
  [BUDGET, effort("high", "--max-tokens", "5000"), { max_tokens: 5000, ...budget(3976) }],
  [BUDGET, effort("high", "--max-tokens", "2000"), { max_tokens: 2000 }],
  [BUDGET, effort("none"), OFF],
  ["claude-3-haiku", effort("high", ...SUMMARY), { max_tokens: 4096 }],
  ["mystery", [], {}],
  ["mystery", effort("high"), adaptive("high")],
  ["mystery", SUMMARY, adaptive(undefined, SHOWN)],
  ["claude-sonnet-5", ["--max-tokens", "90000"], adaptive()],
];

test.long("thinking, effort and tokens are what the model and the user allow", async () => {
  await using home = new Sandbox();
  for (const [model, flags, members] of WISHES) {
    const { model: asked, stream: _, cache_control: __, system: ___, messages: ____, ...rest } = JSON.parse(
      await bodyOf(home, [...flags, "Go"], model, { id: null }),
    );
    assert.deepEqual([asked, rest], [model, { max_tokens: 32_000, ...members }], `${model} ${flags}`);
  }
});

Deno.test("the bytes of a whole request are fixed", async () => {
  await using home = new SessionHome();
  Deno.writeTextFileSync(`${home.workspace}/schema.json`, '{"type":"object"}');
  home.session(tell(
    asks("list files"),
    claude([
      { type: "thinking", thinking: "Look first.", signature: "EqEE", extra: 1 },
      ...[{ type: "redacted_thinking", data: "EmwK" }, { type: "text", text: "Looking" }],
      { ...use("toolu_1"), caller: { type: "direct" } },
    ]),
    gets("toolu_1"),
  ));
  const flags = ["--output-schema", "schema.json", "--max-tokens", "4096", ...SUMMARY];
  const instructions = ["--instructions", "Be brief.", "--effort", "medium"];
  assert.equal(
    await bodyOf(home, [...flags, ...instructions]),
    '{"model":"claude-sonnet-5","max_tokens":4096,"stream":true,"cache_control":{"type":"ephemeral"},' +
      '"thinking":{"type":"adaptive","display":"summarized"},' +
      '"output_config":{"effort":"medium","format":{"type":"json_schema","schema":{"type":"object"}}},' +
      '"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"list files"}]},' +
      '{"role":"assistant","content":[{"type":"thinking","thinking":"Look first.","signature":"EqEE"},' +
      '{"type":"redacted_thinking","data":"EmwK"},{"type":"text","text":"Looking"},' +
      '{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"a"}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"got toolu_1"}]}]}',
  );
  const { tools: [tool] } = JSON.parse(await bodyOf(home, ["--allow", "write", "Go on"]));
  assert.deepEqual(Object.keys(tool), ["name", "description", "input_schema", "strict"]);
});

const CITED = [{ type: "char_location", cited_text: "x" }];
const LONE = "\ud83d";
const called = (more: Json): Beat[] => [
  says([{ type: "function_call", id: "fc_1", call_id: "c", name: "ls", ...more }]),
  gets("c"),
];
const message = (content: Json) => says([{ type: "message", id: "msg_1", role: "assistant", content }]);
const input = (value: Json, name = "ls") => ({ type: "tool_use", id: "c", name, input: value });
const result = { type: "tool_result", tool_use_id: "c", content: "got c" };

/** Events that follow a prompt in a session, and the blocks that follow it in a request. */
const BLOCKS: Readonly<Record<string, readonly [beats: Beat | readonly Beat[], blocks: readonly Json[]]>> = {
  "own text goes with what it cites": [
    claude([{ type: "text", text: "a", citations: CITED, extra: 1 }, {
      type: "text",
      text: "b",
      citations: null,
    }]),
    [{ type: "text", text: "a", citations: CITED }, { type: "text", text: "b" }],
  ],
  "blank text, which the API refuses, stays out": [claude([{ type: "text", text: "\n\n" }]), []],
  "a message of the other API goes as its texts": [
    message([
      { type: "output_text", text: "a", annotations: [] },
      { type: "output_text", text: "" },
      { type: "refusal", refusal: "b" },
    ]),
    [{ type: "text", text: "a" }, { type: "text", text: "b" }],
  ],
  "a message whose content is text goes as that text": [message("a"), [{ type: "text", text: "a" }]],
  "own thinking goes without its text too": [
    claude([{ ...thinking("E"), thinking: "", id: "x" }, { type: "text", text: "a" }]),
    [{ type: "thinking", thinking: "", signature: "E" }, { type: "text", text: "a" }],
  ],
  "a call of the other API goes as an object": [called({ arguments: '{"a":[1]}' }), [
    input({ a: [1] }),
    result,
  ]],
  "arguments that are no JSON go as text": [
    called({ arguments: '{"a":' }),
    [input({ INVALID_JSON: '{"a":' }), result],
  ],
  "arguments that are no object go as text": [
    called({ arguments: "[1]" }),
    [input({ INVALID_JSON: "[1]" }), result],
  ],
  "own input that is no object goes as text": [
    [claude([{ type: "tool_use", id: "c", name: "ls", input: [1] }]), gets("c")],
    [input({ INVALID_JSON: "[1]" }), result],
  ],
  "a custom call goes as an object": [
    [
      says([{ type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "ls", input: "SELECT 1" }]),
      gets("c"),
    ],
    [input({ input: "SELECT 1" }), result],
  ],
  "a name that the API does not take is changed": [
    called({ arguments: "{}", name: "functions.ls" }),
    [input({}, "functions_ls"), result],
  ],
  "a result without text goes without content": [
    [
      claude([input({})]),
      gets("c"),
      (story) => story.turns.at(-1)!.events.forEach((event) => event.output = ""),
    ],
    [input({}), { type: "tool_result", tool_use_id: "c" }],
  ],
  "results go in the order of their calls": [
    [claude([input({}), { ...input({}), id: "d" }]), gets("d"), gets("c")],
    [input({}), { ...input({}), id: "d" }, result, { ...result, tool_use_id: "d", content: "got d" }],
  ],
  "other blocks go verbatim": [
    claude([{ zebra: 1, type: "container_upload", caller: null }, { type: "text", text: "a" }]),
    [{ zebra: 1, type: "container_upload", caller: null }, { type: "text", text: "a" }],
  ],
  "a lone surrogate goes as a replacement character, but for signatures and data": [
    claude([
      { type: "thinking", thinking: LONE, signature: LONE },
      { type: "redacted_thinking", data: LONE },
      { type: "text", text: LONE },
    ]),
    [
      { type: "thinking", thinking: "\ufffd", signature: LONE },
      { type: "redacted_thinking", data: LONE },
      { type: "text", text: "\ufffd" },
    ],
  ],
};

Deno.test("each item goes as the blocks that the API takes", async () => {
  await using home = new SessionHome();
  for (const [index, [name, [beats, blocks]]] of Object.entries(BLOCKS).entries()) {
    home.session(tell(asks("x"), ...[beats].flat(), ends()), `s${index}`);
    const options = { id: `s${index}`, isJudged: false };
    const { messages } = JSON.parse(await bodyOf(home, ["Go on"], "claude-sonnet-5", options));
    const sent = messages.flatMap(({ content }: Json) => content).slice(1, -1);
    assert.equal(JSON.stringify(sent), JSON.stringify(blocks), name);
  }
});

test.long("a history that continues keeps the bytes of all that it had", async () => {
  await using home = new SessionHome();
  for (let seed = 0; seed < samples(25); seed++) {
    const dice = new Dice(seed);
    const beats: Beat[] = [];
    let before = "";
    for (let step = 0; step < 4; step++) {
      const [id, name] = [`toolu_${step}`, `t${step}`];
      const answer = [thinking(name), { type: "text", text: name }, ...dice.chance(0.6) ? [use(id)] : []];
      beats.push(asks(`prompt ${step}`), claude(answer.slice(dice.count(0, 1))));
      if (answer.length > 2) beats.push(gets(id), claude([{ type: "text", text: "read" }]));
      beats.push(ends());
      const session = home.session(tell(...beats));
      const body = await bodyOf(home, ["Go on"]);
      Deno.removeSync(session.path, { recursive: true });
      assert.ok(body.startsWith(before), `seed ${seed}: ${body}\ndoes not continue\n${before}`);
      before = body.slice(0, body.lastIndexOf(',{"role":"user"'));
    }
  }
});

test.long("a request names version, program and key; a turn keeps the account, and a run sums disjoint counts", async () => {
  const usage = {
    ...{ input_tokens: 1200, cache_creation_input_tokens: 300, cache_read_input_tokens: 9000 },
    ...{ cache_creation: { ephemeral_5m_input_tokens: 300 }, output_tokens: 640 },
    output_tokens_details: { thinking_tokens: 512 },
  };
  const garbage = {
    ...{ input_tokens: 5, cache_read_input_tokens: null, cache_creation_input_tokens: -4 },
    ...{ output_tokens: "9", output_tokens_details: [] },
  };
  const answers = [usage, garbage].map((given) => claudeSays([text("Done.")], { usage: given as never }));
  const server = startMessagesServer({ script: answers });
  await using runs = new Runs(server, ["-p", "anthropic", "-m", "claude-sonnet-5"]);
  const counts = [await runs.run(), await runs.run()].map(({ ended }) => ended.usage);
  assert.deepEqual(counts, [{
    ...{ input_tokens: 10_500, cached_tokens: 9000, cache_write_tokens: 300 },
    ...{ output_tokens: 640, reasoning_tokens: 512 },
  }, { input_tokens: 5, cached_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 }]);
  const [{ fingerprint }] = runs.turns(ID).filter(({ kind }) => kind === "model");
  assert.equal(fingerprint.account, sha256("\nwrkspc_test").slice(0, 16));
  const { headers } = server.requests[0] as Json;
  const shared = { "anthropic-version": "2026-10-21", accept: "text/event-stream" };
  const expected = { ...shared, authorization: "Bearer sk-1", "content-type": "application/json" };
  assert.deepEqual({ ...headers, ...expected }, headers);
  assert.match(headers["user-agent"], /^reprise\/\d/);
});
