/** Loops against the Responses API: tools, ends, budgets, checkpoints on the way, and answers that are checked. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { httpError, type ServerOptions } from "../../support/scripted_api/responses.ts";
import { shellLine as shell, write } from "../../support/calls.ts";
import {
  answer,
  functionCall,
  message,
  rawItem,
  reasoning,
  unfinished,
} from "../../support/scripted_api/responses_script.ts";
import { FIVE_TURNS, type GivenTurn } from "../sessions/session_files.ts";
import { byRun, READ, read } from "./refusals.ts";
import { historyOf } from "./next_request.ts";
import type { Row } from "./runs.ts";
import { asks, type Beat, ends, gets, omits, says, tell } from "./story.ts";

const DONE = answer([message("Done.")]);
const line = (body: Json) => historyOf(body).replaceAll(/ (msg|call)_\w+/g, "").replaceAll(/[ \n]/g, "_");
const kinds = (turns: readonly Json[]) =>
  turns.map(({ kind, events }) => kind === "tools" ? `tools(${events.map(({ tool }: Json) => tool)})` : kind)
    .join(" ");

/** A schema, an answer, and a pattern of the errors that are sent back; `null` if it fits. */
const ANSWERS: readonly (readonly [string, Json, string, RegExp | null])[] = [
  ["a list that fits", { items: { $ref: "#/$defs/n" }, $defs: { n: { type: "integer" } } }, " [1] \n", null],
  ["a member named like one of every object", { type: "object", required: ["toString"] }, "{}", /toString/],
  [
    "a member named like one of every object that is there",
    { required: ["__proto__"] },
    '{"__proto__":1}',
    null,
  ],
  [
    "more errors than anyone reads",
    { type: "object", additionalProperties: { type: "string" } },
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${"é\n".repeat(300)}${at}`, 1])),
    ),
    /(\n- .{1,301}){20}\n- and \d+ more/,
  ],
  [
    "an answer that nests too deep",
    { type: "array", items: { $ref: "#" } },
    "[".repeat(50_000) + "]".repeat(50_000),
    /cannot be checked|not JSON/,
  ],
];

const ARGUMENTS = '{"path":"a.txt","offset":null,"limit":null}';
/** An answer with a call that only deltas give arguments. */
const inDeltas = (() => {
  const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read_file", arguments: "" };
  const response = { id: "resp_1", status: "completed", output: [] };
  const events = [
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.function_call_arguments.delta", output_index: 0, delta: ARGUMENTS },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { kind: "bytes" as const, chunks: [new TextEncoder().encode(text)] };
})();

/** By a sentence. */
export const LOOPS: Readonly<Record<string, Row<ServerOptions>>> = {
  "a call whose arguments came only in deltas is run, and goes back with them": {
    server: () => ({ script: [inDeltas, DONE] }),
    show: ({ input }) => input.map(({ type, arguments: text = "" }: Json) => `${type}${text}`).join(),
    runs: [{ sent: `message message,function_call${ARGUMENTS},function_call_output` }],
    also: (runs) => {
      const [call, result] = [...runs.written("tool_call"), ...runs.written("tool_result")];
      assert.deepEqual([call.from_deltas, result.status], [true, "ok"]);
    },
  },
  "with --replay none a run says once that reasoning is left out": {
    server: () => ({ script: [...[1, 2, 3].map(() => answer([reasoning("Hm."), READ])), DONE] }),
    runs: [{ flags: ["--replay", "none"], sent: "0 0 0 0" }],
    also: (_, [first]) => {
      const told = first?.events.filter(({ kind }) => kind === "replay_dropped").map(({ items }) => items);
      assert.deepEqual(told, [[{ seq: 2, reason: "replay_off" }]]);
    },
  },
  "an item that is left out of several requests is named once": {
    server: () => ({
      script: [
        answer([reasoning("Hm.")], { end: { kind: "incomplete", reason: "x" } }),
        answer([READ]),
        DONE,
      ],
    }),
    runs: [{ exit: 6 }, {}],
    also: (_, [, second]) => {
      const told = second?.events.filter(({ kind }) => kind === "replay_dropped").map(({ items }) => items);
      assert.deepEqual(told, [[{ seq: 2, reason: "no_following_item" }]]);
    },
  },
  "results come in call order, and the run continues with them": {
    server: () => ({
      script: [answer([reasoning(), read("call_b"), read("call_a")]), DONE],
    }),
    runs: [{ sent: "0 1" }],
    also: (runs) =>
      assert.deepEqual(runs.written("tool_result").map(({ call_id }) => call_id), ["call_b", "call_a"]),
  },
  "a call of an unknown tool, and one with wrong arguments, get an error as their result": {
    server: () => ({
      script: [answer([functionCall("nothing", {}), functionCall("read_file", { path: 1 })]), DONE],
    }),
    runs: [{}],
    also: (runs) =>
      assert.deepEqual(runs.written("tool_result").map(({ status }) => status), [
        "unknown_tool",
        "invalid_arguments",
      ]),
  },
  "a batch that makes changes runs in call order, with each result on disk before the next call starts": {
    server: () => ({
      script: [
        answer([shell("sleep 0.02; echo 1 >> log"), READ, shell("echo 2 >> log"), shell("cat log")]),
        DONE,
      ],
    }),
    runs: [{ flags: ["--allow", "shell"] }],
    also: (runs) => {
      assert.deepEqual(
        kinds(runs.turns("fix-ci-7k2m")),
        "user model harness tools(shell) tools(read_file) tools(shell) tools(shell) model harness",
      );
      assert.deepEqual(/1\n2/.test(runs.written("tool_result").at(-1)?.output), true);
    },
  },
  "a call that cannot be done is an error whatever the rules say, and needs no decision": {
    server: () => ({ script: [answer([write("../out.txt", "x")]), DONE] }),
    runs: [{ flags: ["--allow", "write"] }],
    also: (runs) => {
      assert.deepEqual([runs.written("tool_result")[0].status, runs.written("permission_decision")], [
        "error",
        [],
      ]);
    },
  },
  "--max-steps and --max-tokens end a run before the request that would break them, with every call answered":
    {
      server: () => ({ script: () => answer([reasoning(), READ]) }),
      show: ({ max_output_tokens }) => max_output_tokens ?? "-",
      runs: [
        { flags: ["--max-steps", "1"], exit: 4, sent: "-" },
        // One scripted answer uses 160 tokens: after it fewer are left than a request may ask for.
        { flags: ["--max-tokens", "175"], exit: 4, sent: "175" },
      ],
      also: (runs) => assert.deepEqual(runs.written("tool_result").length, runs.written("tool_call").length),
    },
  "a stream that breaks keeps its finished items, and continuing sends them back once": {
    server: () => ({
      script: ({ number }) =>
        number > 1 ? answer([message("Whole.")]) : answer(
          [reasoning(), message("Half", { phase: "commentary" }), unfinished(message("never done"))],
          { end: { kind: "cut" } },
        ),
    }),
    show: line,
    runs: [{ exit: 10 }, {
      prompt: null,
      sent: "user:_Go_|_rs_000000000000000000000002_|_says_(commentary):_Half",
    }],
    also: (runs) => assert.deepEqual(runs.turns("fix-ci-7k2m")[1].response.status, "cut"),
  },
  ...Object.fromEntries(
    [ends("interrupted", 130), ends("failed", 1), () => {}].map((end, at): [string, Row<ServerOptions>] => [
      `an answer that is whole on disk is given without asking again, however its run ended (${at + 1})`,
      {
        server: () => ({ script: [DONE] }),
        turns: tell(asks("x"), says(["rs_1", "call_1"]), gets("call_1"), says(["msg_1: Whole."]), end),
        differing: 2,
        runs: [{ prompt: null, sent: "" }],
        also: (runs, [ran]) => {
          const shown = ran?.events.filter(({ type }) => type === "text.delta").map(({ delta }) => delta);
          assert.deepEqual([ran?.ended.text, shown], ["Whole.", ["Whole."]]);
          assert.deepEqual(runs.written("run_ended").at(-1)?.state, "completed");
        },
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(
      {
        "cut off": [says(["msg_1: Half"], { status: "cut" })],
        "incomplete": [says(["msg_1: Half"], { status: "incomplete" })],
        "paused": [says(["msg_1: Half"], { paused: true })],
        "empty": [says(["msg_1:  "])],
        "with a call": [says(["msg_1: Half", "call_1"])],
        "before a question": [says(["msg_1: Whole."]), ends(), asks("And?")],
        "omitted": [says(["msg_1: Whole."]), ends("interrupted", 130), omits("msg_1")],
      } satisfies Record<string, Beat[]>,
    ).map(([what, beats]): [string, Row<ServerOptions>] => [
      `a run without a whole answer at its end asks for one (${what})`,
      {
        server: () => ({ script: [DONE] }),
        turns: tell(asks("x"), ...beats),
        runs: [{ prompt: null, sent: "0" }],
        differing: 1,
      },
    ]),
  ),
  "a turn of another writer ends the run as diverged, and is not touched": {
    server: () => ({
      script: [answer([shell("cd ../home && echo theirs > sessions/fix-ci-7k2m/turns/000004.json")]), DONE],
    }),
    runs: [{ flags: ["--allow", "shell"], exit: 5 }],
    isDamaged: true,
    also: (runs, [ran]) => {
      const path = `${runs.home}/sessions/fix-ci-7k2m`;
      const theirs = Deno.readTextFileSync(`${path}/turns/000004.json`);
      assert.deepEqual([ran?.ended.state, theirs, [...Deno.readDirSync(`${path}/quarantine`)].length], [
        "diverged",
        "theirs\n",
        1,
      ]);
    },
  },
  "a usage beyond 2^53, or a fraction of a token, leaves a session that can continue": {
    server: () => ({
      script: () =>
        answer([message("Done.")], {
          usage: {
            input_tokens: 2 ** 60,
            output_tokens: 1.5,
            input_tokens_details: { cached_tokens: 1e300 },
          },
        }),
    }),
    runs: [{}, {}, {}],
    also: (runs, ran) => {
      const most = Number.MAX_SAFE_INTEGER;
      for (const { ended } of ran) {
        assert.deepEqual([ended.usage.input_tokens, ended.usage.cached_tokens], [most, most]);
      }
      const manifest = JSON.parse(Deno.readTextFileSync(`${runs.home}/sessions/fix-ci-7k2m/manifest.json`));
      assert.deepEqual([manifest.usage.input_tokens, manifest.usage.output_tokens], [most, 6]);
    },
  },
  "results that would make a turn too large go to blobs, and nothing is lost": {
    files: { "a.txt": `${"x".repeat(99)}\n`.repeat(11_000) },
    server: () => {
      const args = (limit: number) => functionCall("read_file", { path: "a.txt", offset: null, limit });
      return { script: [answer([args(1), ...Array.from({ length: 12 }, () => args(11_000))]), DONE] };
    },
    runs: [{}],
    also: (runs) => {
      const [first, ...others] = runs.written("tool_result");
      assert.deepEqual([first.blob, others.every(({ blob }) => blob?.bytes > 1_000_000)], [undefined, true]);
      const { size } = Deno.statSync(`${runs.home}/sessions/fix-ci-7k2m/turns/000003.json`);
      assert.ok(size <= 8 << 20, `${size}`);
    },
  },
  "the next run writes down the result that an older call never got, and sends what it would have sent": {
    turns: [
      ...FIVE_TURNS.slice(0, 2),
      { ...FIVE_TURNS[2] as GivenTurn, events: [FIVE_TURNS[2]?.events[1]] },
      ...FIVE_TURNS.slice(3),
    ],
    server: () => ({ script: () => DONE }),
    // The requests of the turns that were written here were never sent.
    differing: 2,
    show: (body) => JSON.stringify(body.input).match(/No result was recorded/g)?.length ?? 0,
    runs: [{ sent: "1" }, { sent: "1" }],
    also: (runs, [first, second]) => {
      const notices = [first, second].map((ran) =>
        ran?.events.filter(({ kind }) => kind === "orphan_repaired").length
      );
      assert.deepEqual([
        notices,
        runs.written("tool_result").filter(({ status }) => status === "orphaned").length,
      ], [[
        1,
        0,
      ], 1]);
    },
  },
  ...Object.fromEntries(ANSWERS.map(([name, schema, text, errors]): [string, Row<ServerOptions>] => [
    `--output-schema ${errors === null ? "accepts" : "sends back"} ${name}`,
    {
      files: { "schema.json": JSON.stringify(schema) },
      server: () => ({ script: () => answer([message(text)]) }),
      runs: [{ flags: ["--output-schema", "schema.json"], exit: errors === null ? 0 : 6 }],
      also: (_, [ran]) => {
        const sentBack = ran?.requests[1]?.input.at(-1).content[0].text;
        const isRight = errors === null ? sentBack === undefined : errors.test(sentBack);
        assert.ok(isRight && sentBack?.isWellFormed() !== false, sentBack);
        assert.deepEqual(ran?.requests[0]?.text.format.schema, schema);
      },
    },
  ])),
  "an account that becomes known inside a run keeps the reasoning of another one out from then on": {
    server: () =>
      byRun((run, { input }) =>
        run === 1
          ? answer([reasoning(), message("Done.")])
          : answer([reasoning(), input.at(-1)?.role === "user" ? READ : message("Done.")], {
            headers: { "openai-organization": "org-other" },
          })
      ),
    show: ({ input }) =>
      input.filter(({ type }: Json) => type === "reasoning").map(({ id }: Json) => id.slice(-2)).join() ||
      "-",
    runs: [{ sent: "-" }, { sent: "02 08" }],
    also: (runs) =>
      assert.deepEqual(runs.turns("fix-ci-7k2m").at(-2).request.guard.dropped, [{
        seq: 2,
        reason: "other_account",
      }]),
  },
  "runs of every kind give requests that are built again": {
    server: () =>
      byRun((run, { input }) =>
        run === 4 && input.some(({ type }) => type === "reasoning")
          ? httpError(400, { message: "The encrypted content gAAA...DQ== could not be verified." })
          : answer([
            reasoning("a"),
            rawItem({ id: `ws_${run}`, type: "web_search_call", status: "completed" }),
            message("Done."),
          ])
      ),
    runs: [
      { sent: "0" },
      { flags: ["--max-tokens", "5000", "--effort", "high", "--summary", "auto"], sent: "1" },
      { flags: ["--replay", "family", "-m", "gpt-5.6-mini"], sent: "2" },
      { sent: "3 0", flags: ["--replay", "family"] },
      { flags: ["--replay", "last:1"], sent: "1" },
      { flags: ["--replay", "none", "--instructions", "Be loud."], sent: "0" },
      { path: "/other", sent: "0" },
      { path: "/other", sent: "1" },
    ],
  },
};
