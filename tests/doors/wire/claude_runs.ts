/** Runs against the Messages API: refusals, and answers that break off, stop short, pause or begin again. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import {
  invalidRequest,
  rawBlock,
  says,
  serverTool,
  thinking,
  toolUse,
} from "../../support/scripted_api/messages_script.ts";
import {
  type MessagesScript,
  type MessagesServerOptions,
  type RecordedMessages,
  stop,
  text,
  unfinished,
} from "../../support/scripted_api/messages.ts";
import { historyOf } from "./next_request.ts";
import { sends } from "./refusals.ts";
import type { Row, Runs } from "./runs.ts";
import { asks, ends, gets, says as recorded, tell } from "./story.ts";
import { call } from "../sessions/session_files.ts";

type ClaudeRow = Omit<Row<MessagesServerOptions>, "server"> & { readonly script: () => MessagesScript } & {
  /** @default {a model whose thinking is bound to what precedes it} */
  readonly model?: string;
};

/** Its thinking is good anywhere. */
const UNBOUND = "claude-opus-5";
const DONE = says([text("Done.")]);
const FIRST = says([thinking("First."), text("One.")]);
const HM = says([thinking("Hm."), text("Done.")]);
const read = (path = "a.txt") => toolUse("read_file", { path, offset: null, limit: null });
const FORGED = rawBlock({ type: "thinking", thinking: "Not mine.", signature: "Zm9yZ2Vk" });
/** An answer whose thinking is refused in the next step of its own run. */
const FORGED_CALL = says([FORGED, read()]);
const CALLING = says([thinking("Call."), text("I call."), read(), read()]);
const INVALID = "messages.1.content.0: Invalid `signature` in `thinking` block";

const blocksOf = ({ messages }: Json) => messages.flatMap(({ content }: Json) => content);
const namesOf = (blocks: readonly Json[]) =>
  blocks.filter(({ type }) => type === "thinking").map(({ thinking }) => thinking.replace(/\W/g, "")).join(
    ",",
  );
const thoughts = (body: Json) => namesOf(blocksOf(body)) || "-";
const thoughtsIn = ({ blocks }: RecordedMessages) => namesOf(blocks);
/** The thoughts of a request, after `drop:` if it asks the server to drop those of another conversation. */
const asked = (body: Json) =>
  `${body.thinking?.block_binding?.prefix_mismatch_behavior === "drop_block" ? "drop:" : ""}${
    thoughts(body)
  }`;
const results = (body: Json) => blocksOf(body).filter(({ type }: Json) => type === "tool_result").length;
const oneLine = (body: Json) =>
  historyOf(body).replaceAll(/ (toolu|srvtoolu)_\w+/g, "").replaceAll(/[ \n]/g, "_");
const LOUD = ["--instructions", "Be thorough."];

/** An id that the API does not take, and the one that it gets instead. */
const [ODD_ID, WIRE_ID] = ["functions.ls:0", "call_dd50e5a0d88a2b9758e1a5f1"];
const PAIRS = {
  "`tool_use` ids were found without `tool_result` blocks immediately after": "tool_use",
  "unexpected `tool_use_id` found in `tool_result` blocks": "tool_result",
};

/** Refusals that leaving something out cannot cure. */
const ELSEWHERE = [
  "Your credit balance is too low",
  "Blocked by content filtering policy",
  "`max_tokens` must be greater than `thinking.budget_tokens`",
  "thinking.budget_tokens: Input should be greater than 1024",
  "`temperature` may only be set to 1 when thinking is enabled",
  "model: claude-thinking-1",
  "stream: Extra inputs are not permitted",
];
const BOUND =
  "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different " +
  'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const BUDGET = ["--effort", "low"];
const THINKS = '{"type":"enabled","budget_tokens":2048}';
const DROP = '"block_binding":{"prefix_mismatch_behavior":"drop_block"}';
/** Refusals of the wish to drop what is bound elsewhere. */
const NO_DROP = [
  "thinking.adaptive.block_binding: Extra inputs are not permitted",
  "thinking.block_binding: Input should be a boolean",
  "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header.",
];

/** Fails unless those requests have the header of the beta that hold its member, and no others. */
function requireBeta({ server }: Pick<Runs, "server">): void {
  const beta = "thinking-binding-controls-2026-08-01";
  const wanted = server.requests.map(({ body }: Json) => body.thinking?.block_binding && beta);
  assert.deepEqual(server.requests.map(({ headers }: Json) => headers["anthropic-beta"]), wanted);
  assert.ok(wanted.includes(beta));
}

/** By a sentence. */
export const CLAUDE_RUNS: Readonly<Record<string, ClaudeRow>> = {
  "a forged signature is quarantined, the run completes without thinking, and the next run sends the rest": {
    script: () => [FIRST, FORGED_CALL, DONE, DONE],
    model: UNBOUND,
    show: thoughts,
    runs: sends("-", "First First,Notmine -", "First"),
    notices: "reasoning_refused: left_out quarantined",
  },
  "a signature that is refused inside the stream is quarantined": {
    script: () => (request) =>
      thoughtsIn(request) === ""
        ? HM
        : says([], { end: { kind: "error", error: { type: "invalid_request_error", message: INVALID } } }),
    show: thoughts,
    runs: sends("-", "Hm -"),
    notices: "reasoning_refused: quarantined",
  },
  "however many thoughts a server no longer reads, one run meets one refusal": {
    script: () => (request) => {
      if (request.number >= 4 && thoughtsIn(request).includes("Old")) return invalidRequest(INVALID);
      return says([thinking(request.number < 4 ? "Old." : "New."), text("Done.")]);
    },
    model: UNBOUND,
    show: thoughts,
    runs: sends("-", "Old", "Old,Old", "Old,Old,Old -", "New"),
  },
  ...Object.fromEntries(
    [
      "The signature of a thinking block has expired",
      "messages.1.content: thinking cannot be read any more",
      "Request cannot be processed",
    ].map((words): [string, ClaudeRow] => [
      `after another refusal of thinking the request is sent once more without any (${words})`,
      {
        script: () => (request) =>
          thoughtsIn(request) === "" || request.number > 4 ? HM : invalidRequest(words),
        model: UNBOUND,
        show: thoughts,
        runs: sends("-", "Hm -", "Hm,Hm -"),
        notices: "reasoning_refused: left_out; reasoning_refused: quarantined left_out",
      },
    ]),
  ),
  "a refusal about something else than the history is not tried again": {
    script: () => ({ number }) => number === 1 ? HM : invalidRequest(ELSEWHERE[number - 2] ?? ""),
    model: UNBOUND,
    show: thoughts,
    runs: [{ sent: "-" }, ...ELSEWHERE.map(() => ({ sent: "Hm", exit: 13 }))],
    notices: "",
  },
  "on a bound model a quarantined thought takes no later run down: the server drops what it was part of": {
    script: () => [FIRST, FORGED_CALL, says([thinking("Third."), text("Two.")]), DONE, DONE],
    show: asked,
    runs: sends("-", "First First,Notmine -", "First,Third drop:First,Third", "drop:First,Third"),
  },
  "thinking bound to another conversation is dropped by the server, asked once and from then on at once": {
    script: () => () => HM,
    show: asked,
    runs: [
      { sent: "-" },
      { sent: "Hm drop:Hm", flags: LOUD },
      { sent: "drop:Hm,Hm", flags: LOUD },
      // The server's demand holds for the model that it named.
      { sent: "Hm,Hm,Hm", flags: [...LOUD, "-m", UNBOUND] },
    ],
    also: (runs, [, second]) => {
      const [, turn] = runs.turns("fix-ci-7k2m").filter(({ kind }) => kind === "model");
      const [dropped] = turn.response.input_transformations;
      const told = second?.events.some(({ kind }) => kind === "replay_stripped");
      assert.deepEqual([dropped.type, told], ["thinking_dropped", true]);
      requireBeta(runs);
    },
  },
  ...Object.fromEntries(
    NO_DROP.map((words): [string, ClaudeRow] => [
      `a server that refuses drop_block is not asked for it again (${words})`,
      {
        script: () => (request) =>
          thoughtsIn(request) === ""
            ? HM
            : invalidRequest(asked(request.body).startsWith("drop:") ? words : BOUND),
        show: asked,
        runs: [{ sent: "-" }, { sent: "Hm drop:Hm Hm -" }, { sent: "Hm -" }],
        also: requireBeta,
      },
    ]),
  ),
  "bound thinking is dropped also beside a budget of tokens": {
    script: () => (request) =>
      thoughtsIn(request) === "" || asked(request.body).startsWith("drop:") ? HM : invalidRequest(BOUND),
    model: "claude-opus-4-1",
    show: ({ thinking }) => JSON.stringify(thinking),
    runs: [
      { flags: BUDGET, sent: THINKS },
      { flags: BUDGET, sent: `${THINKS} ${THINKS.replace("}", `,${DROP}}`)}` },
      // There is no room for a budget, but the wish needs a member to stand in.
      { flags: [...BUDGET, "--max-tokens", "2000"], sent: `{"type":"adaptive",${DROP}}` },
      // Without thinking there is no such wish: what is refused stays out.
      { flags: ["--effort", "none"], sent: '{"type":"disabled"} {"type":"disabled"}' },
    ],
    also: requireBeta,
  },
  "a refusal names a block by its place or its id in the request, which are others than in the session": {
    turns: tell(asks("x"), recorded(["rs_1", call(ODD_ID)]), gets(ODD_ID), ends()),
    // The request of the turn that was written here was never sent.
    differing: 1,
    script: () => [
      says([text(" "), rawBlock({ type: "container_upload", file_id: "file_1", extra: 1 }), text("Up.")]),
      invalidRequest(`messages.1: ${Object.keys(PAIRS)[0]}: ${WIRE_ID}.`),
      DONE,
    ],
    model: UNBOUND,
    show: (body) => blocksOf(body).map(({ type, extra = "" }: Json) => `${type}${extra}`).join(),
    runs: sends(
      "text,tool_use,tool_result,text",
      "text,tool_use,tool_result,text,container_upload1,text,text " +
        "text,tool_use,tool_result,text,container_upload,text,text text,text,text,container_upload,text,text",
    ),
    isLenient: true,
    notices: "unknown_field: stripped extra; calls_as_text: 1",
  },
  ...Object.fromEntries(
    Object.entries(PAIRS).map(([words, type]): [string, ClaudeRow] => [
      `a call that the server still refuses is sent as text with its result (${type})`,
      {
        script: () => ({ number, blocks }) => {
          if (number === 1) return CALLING;
          const isFine = blocks.at(-1)?.type === "tool_result" ||
            blocks.filter(({ type }) => type === "tool_result").length < 2;
          const refused = blocks.find((block) => block.type === type);
          const id = refused?.id ?? refused?.tool_use_id;
          return isFine
            ? DONE
            : invalidRequest(`messages.1: ${words}: ${id}. Each one must have its other one.`);
        },
        model: UNBOUND,
        show: results,
        runs: sends("0 2", "2 2 1", "1"),
        notices: "calls_as_text: 1",
        also: (runs) => {
          const told = JSON.stringify(runs.server.requests.at(-1)?.body);
          assert.match(told, /"You called read_file with {.{1,60}}; it returned:/);
        },
      },
    ]),
  ),
  "a server that refuses calls whatever is sent as text ends the run with 13, and the next run sends it again":
    {
      script: () => ({ number, blocks }) => {
        if (number === 1) return CALLING;
        if (blocks.at(-1)?.type === "tool_result" || number > 6) return DONE;
        const id = blocks.find(({ type }) => type === "tool_use")?.id ?? "toolu_0";
        return invalidRequest(`messages.1: ${Object.keys(PAIRS)[0]}: ${id}.`);
      },
      model: UNBOUND,
      show: results,
      runs: [{ sent: "0 2" }, { sent: "2 2 1 0", exit: 13 }, { sent: "0" }],
      notices: "calls_as_text: 1; calls_as_text: 1",
    },
  "a turn that the server paused goes back unchanged, without tools run, until it ends": {
    script: () => [
      says([thinking("Search."), serverTool("web_search", { query: "a" }, [])], { end: stop("pause_turn") }),
      says([serverTool("web_search", { query: "b" }, [])], { end: stop("pause_turn") }),
      says([thinking("Found."), text("Here.")]),
      DONE,
    ],
    show: oneLine,
    isLenient: true,
    runs: [{}, {
      sent: "user:_Go_|_thinks_Search._|_server_tool_use_|_web_search_tool_result_|_server_tool_use_|_" +
        "web_search_tool_result_|_thinks_Found._|_says:_Here._|_user:_Go",
    }],
  },
  "a refusal without content ends the run as refused with 6, and the next run completes": {
    script: () => [
      says([], {
        end: { kind: "stop", reason: "refusal", details: { type: "refusal", category: "cyber" } },
      }),
      DONE,
    ],
    runs: [{ sent: "0", exit: 6, says: /refused/ }, { sent: "0" }],
  },
  ...Object.fromEntries(
    Object.entries({
      "whole text": [thinking("Hm."), text("Half.")],
      "nothing but thinking": [thinking("Hm.")],
      "text cut short": [thinking("Hm."), unfinished(text("half of what was to be said"))],
      "a call cut short": [thinking("Hm."), unfinished(toolUse("read_file", { path: "half of the words" }))],
    }).map(([name, blocks]): [string, ClaudeRow] => [
      `a response that ran out of tokens is incomplete with 6, and can be continued (${name})`,
      {
        script: () => [says(blocks, { end: stop("max_tokens") }), DONE, DONE],
        runs: [{ exit: 6, says: /incomplete/ }, { prompt: null }, {}],
      },
    ]),
  ),
  "of an answer that the server began twice only the second is kept": {
    script: () => [
      says([thinking("Again."), read()], {
        abandoned: [thinking("Lost."), read("wrong.txt"), unfinished(text("lost, all of it"))],
      }),
      DONE,
      DONE,
    ],
    show: (body) => oneLine(body).replace(/output:.*/, "output"),
    runs: sends(
      "user:_Go user:_Go_|_thinks_Again._|_call_|_output",
      "user:_Go_|_thinks_Again._|_call_|_output",
    ),
  },
};
