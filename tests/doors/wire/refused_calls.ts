/** Refusals of the pairing of calls and results: what ran is sent as text, and does not run again. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import type { Script, ScriptedItem, ServerOptions } from "../../support/scripted_api/responses.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  REFUSAL_SHAPES,
  type RefusalShape,
  refuse,
} from "../../support/scripted_api/responses_script.ts";
import { ID } from "../sessions/home.ts";
import type { GivenRun, Row, Runs } from "./runs.ts";

type Request = Parameters<Exclude<Script, readonly unknown[]>>[0];

/** Texts about one pair, in the words of the three APIs (protocol §6.2, §11, §15.6). */
const TEXTS: readonly string[] = [
  "No tool call found for function call output with call_id ID.",
  "No tool output found for function call ID.",
  "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: ID. Each `tool_result` block must have " +
  "a corresponding `tool_use` block in the previous message.",
  "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: ID. Each `tool_use` block must " +
  "have a corresponding `tool_result` block in the next message.",
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The " +
  "following tool_call_ids did not have response messages: ID",
  "Invalid parameter: 'tool_call_id' of 'ID' not found in 'tool_calls' of previous message.",
  "Invalid parameter: Duplicate value for 'tool_call_id' of 'ID'",
];
/** Texts that name no call: all of them are sent as text. */
const SILENT: readonly string[] = [
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
  "Not the same number of function calls and responses",
];

const DONE = answer([message("Done.")]);
const run = (name: string): ScriptedItem =>
  functionCall("shell", { command: `echo ${name} >> ran.txt; echo out-${name}` }, { callId: `call_${name}` });
const ALLOWED: GivenRun = { flags: ["--allow", "shell"] };
const asks = (...sent: readonly string[]): GivenRun[] => sent.map((each) => ({ ...ALLOWED, sent: each }));

/** The items of a request: `text` for a pair that is sent as text, the ids of calls, `=` before those of outputs. */
const items = ({ input }: Json): string =>
  input.map(({ type, role, call_id: id = "", content }: Json) => {
    if (type === "reasoning") return "R";
    if (role === "assistant") return "says";
    if (role !== "user") return `${type.endsWith("_output") ? "=" : ""}${id.replace("call_", "")}`;
    const told = /^You called shell with .*echo (\w+).*; it returned:\n<tool_result>\n[^]*out-\1\n/
      .exec(content[0].text);
    return told === null ? "user" : `text-${told[1]}`;
  }).join();

/** The pairs of a request, by the names of their calls. */
const pairsIn = ({ input }: Pick<Request, "input">) =>
  input.flatMap(({ type, call_id }) => type === "function_call" ? [String(call_id)] : []);

/** Answers a prompt of its own with calls; refuses the requests for which `refuses` returns the id of a call. */
function calling(
  calls: readonly ScriptedItem[],
  text: string,
  { refuses = (ids) => ids[0] ?? null, shape = "http" }: {
    readonly refuses?: (ids: readonly string[], request: Request) => string | null;
    readonly shape?: RefusalShape;
  } = {},
): ServerOptions {
  return {
    script: (request) => {
      if (request.number === 1) return answer([reasoning("Hm."), ...calls]);
      const id = refuses(pairsIn(request), request);
      return id === null ? DONE : refuse({ message: text.replace("ID", id), param: "input" }, shape);
    },
  };
}

/** Fails unless each command ran as often as it is named. */
const ran = (...names: readonly string[]) => (runs: Runs) => {
  assert.equal(Deno.readTextFileSync(`${runs.workspace}/ran.txt`), names.map((name) => `${name}\n`).join(""));
};
const [ONCE] = [ran("a")];
const [FIRST = ""] = TEXTS;
/** Each refused pair is sent twice. */
const [PAIR, TOLD] = ["user,R,a,=a user,R,a,=a", "user,text-a"];

/** By a sentence. */
export const CALL_REFUSALS: Readonly<Record<string, Row<ServerOptions>>> = {
  ...Object.fromEntries([...TEXTS, ...SILENT].map((text): [string, Row<ServerOptions>] => [
    `a call whose pairing is refused runs once, and is sent as text from then on (${text})`,
    {
      server: () => calling([run("a")], text),
      show: items,
      runs: asks(`user ${PAIR} ${TOLD}`, `${TOLD},says,user`),
      notices: "calls_as_text: 1",
      also: (runs, [first]) => {
        ONCE(runs);
        const told = first?.events.filter(({ kind }) =>
          kind === "replay_stripped" || kind === "call_as_text"
        );
        assert.deepEqual(
          told?.map(({ kind, reason, items, call_id }) => [kind, reason ?? call_id, items]),
          [
            ["replay_stripped", "call_refused", [{ seq: 3, action: "as_text" }]],
            ["call_as_text", "call_a", undefined],
          ].toSorted(() => SILENT.includes(text) ? -1 : 1),
        );
      },
    },
  ])),
  ...Object.fromEntries(REFUSAL_SHAPES.map((shape): [string, Row<ServerOptions>] => [
    `a refused pairing is the same refusal wherever it comes (${shape})`,
    {
      server: () => calling([run("a")], FIRST, { shape }),
      show: items,
      runs: asks(`user ${PAIR} ${TOLD}`),
      notices: "calls_as_text: 1",
      also: ONCE,
    },
  ])),
  "a refusal that the server takes back changes nothing": {
    server: () => calling([run("a")], FIRST, { refuses: (_, { number }) => number === 2 ? "call_a" : null }),
    show: items,
    runs: asks(`user ${PAIR}`, "user,R,a,=a,says,user"),
    notices: "",
    also: ONCE,
  },
  "a pair that is refused as text too ends the run with 13, and the next run tells it again": {
    server: () => calling([run("a")], FIRST, { refuses: (_, { number }) => number < 5 ? "call_a" : null }),
    show: items,
    runs: [
      { ...ALLOWED, sent: `user ${PAIR} ${TOLD}`, exit: 13, says: /No tool call found/ },
      { ...ALLOWED, prompt: null, sent: TOLD },
    ],
    notices: "calls_as_text: 1",
    also: ONCE,
  },
  "a text that names no call leaves no trace if the pairs are refused as text too": {
    server: () => calling([run("a")], SILENT[0] ?? "", { refuses: () => "" }),
    show: items,
    runs: [{ ...ALLOWED, sent: `user ${PAIR} ${TOLD}`, exit: 13 }],
    notices: "",
    also: ONCE,
  },
  ...Object.fromEntries(
    [FIRST, FIRST.replace("call_id ID", "(call_id=ID)"), FIRST.replace("ID", '\\"ID\\"')].map((
      text,
    ): [string, Row<ServerOptions>] => [
      `of several calls only the refused one is sent as text, after the results of the others (${text})`,
      {
        server: () =>
          calling([run("a"), run("b")], text, { refuses: (ids) => ids.includes("call_a") ? "call_a" : null }),
        show: items,
        runs: asks("user user,R,a,b,=a,=b user,R,a,b,=a,=b user,b,=b,text-a", "user,b,=b,text-a,says,user"),
        notices: "calls_as_text: 1",
        also: ran("a", "b"),
      },
    ]),
  ),
  "a text that names a call by an id of another server is about every call": {
    server: () => calling([run("a")], FIRST.replace("ID", "tooluse_9")),
    show: items,
    runs: asks(`user ${PAIR} ${TOLD}`),
    notices: "calls_as_text: 1",
    also: ONCE,
  },
  "reasoning before a call that stays is sent with it": {
    server: () => calling([run("a"), run("b")], FIRST, { refuses: (ids) => ids[1] ?? null }),
    show: items,
    runs: asks("user user,R,a,b,=a,=b user,R,a,b,=a,=b user,R,a,=a,text-b"),
    also: ran("a", "b"),
  },
  "a server that refuses one pair after the other gets all as text after the second refusal": {
    server: () => calling([run("a"), run("b"), run("c")], FIRST),
    show: items,
    runs: asks(
      "user user,R,a,b,c,=a,=b,=c user,R,a,b,c,=a,=b,=c user,b,c,=b,=c,text-a user,text-a,text-b,text-c",
    ),
    notices: "calls_as_text: 1; calls_as_text: 2",
    also: ran("a", "b", "c"),
  },
  "both ids that a text names are sent as text at once": {
    server: () =>
      calling([run("a"), run("b")], "No tool output found for function calls call_a, call_b.", {
        refuses: (ids) => ids[0] ?? null,
      }),
    show: items,
    runs: asks("user user,R,a,b,=a,=b user,R,a,b,=a,=b user,text-a,text-b"),
    notices: "calls_as_text: 2",
    also: ran("a", "b"),
  },
  "a fork from before the refusal tells the call as text too": {
    server: () => calling([run("a")], FIRST),
    show: items,
    runs: asks(`user ${PAIR} ${TOLD}`),
    also: async (runs) => {
      const [result] = runs.written("tool_result");
      const forked = await runs.call(["fork", ID, "--to-seq", String(result.seq)]);
      const flags = ["--base-url", runs.server.baseUrl, "-m", "gpt-5.6"];
      const next = await runs.call(
        ["run", "-s", forked.stdout.trim(), "--dry-run", "--body", ...flags, "Go"],
        {
          env: { OPENAI_API_KEY: "sk-1" },
        },
      );
      assert.equal(items(JSON.parse(next.stdout)), `${TOLD},user`);
    },
  },
  "an export, redacted or not, tells the call as text too": {
    server: () => calling([run("a")], FIRST),
    show: items,
    runs: asks(`user ${PAIR} ${TOLD}`),
    also: async (runs) => {
      for (const redact of [[], ["--redact"]]) {
        const file = `${runs.workspace}/x${redact.length}.export`;
        await runs.call(["export", ID, file, ...redact]);
        await runs.call(["rm", ID, "--yes"]);
        await runs.call(["import", file]);
        const next = await runs.run(ALLOWED);
        assert.deepEqual(next.requests.map((body) => items(body).slice(0, TOLD.length)), [TOLD]);
      }
    },
  },
  "the output of a call that failed is sent as an error": {
    server: () => calling([run("a")], FIRST),
    show: ({ input }) => input.some(({ content }: Json) => /it returned an error:/.test(content?.[0]?.text)),
    runs: [{ sent: "false false false true" }],
    notices: "calls_as_text: 1",
  },
};
