/** Ends of runs: exit code, state and error for each answer and each fault, on stdout and on disk. A recording is the server. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { test } from "../../support/test.ts";
import { type Answer, type Api, type Given, RecordedRuns } from "./recorded_runs.ts";
import { answerText, claudeStream, functionCall, PLAIN, responseStream } from "./streams_answers.ts";

interface End {
  readonly exit: number;
  readonly state: string;
  /** Code of the error. */
  readonly code?: string;
  /** `response.status` of the first model turn; `null` without such a turn: nothing of the answer was usable. */
  readonly kept: string | null;
}

const thought = (id: string) => ({ id, type: "reasoning", summary: [], encrypted_content: `gAAA-${id}` });

/** Runs session `s`; returns its end, and what it left on disk. */
async function run(home: RecordedRuns, answers: readonly Answer[], given: Given = {}) {
  const { code, lines, error, retries, turns } = await home.run(answers, given);
  const [first] = turns.filter(({ kind }) => kind === "model");
  const { state } = lines.at(-1);
  const saved = turns.at(-1).events.at(-1);
  assert.deepEqual([saved.state, saved.exit_code, saved.error?.code], [state, code, error?.code]);
  return {
    ended: { exit: code, state, code: error?.code, kept: first?.response.status ?? null },
    retries: retries.length,
    events: turns.flatMap(({ events }) => events),
  };
}

const END = { completed: { exit: 0, state: "completed", kept: "completed" } } as const;
const failed = (exit: number, code: string, kept: string | null): End => ({
  exit,
  state: "failed",
  code,
  kept,
});
const cut = (kept: string | null) => failed(10, "stream_cut", kept);
const incomplete = (kept = "completed"): End => ({ exit: 6, state: "incomplete", code: "incomplete", kept });
const refused = (kept: string): End => ({ exit: 6, state: "refused", code: "refused", kept });
const saying = (...texts: readonly string[]) =>
  responseStream(texts.map((text, at) => ({ ...answerText(text), id: `msg_${at}` })));
const comment = (text: string) => ({ ...answerText(text), id: "msg_9", phase: "commentary" });
const reading = responseStream([
  thought("rs_1"),
  functionCall("c1", "list_files", { path: ".", pattern: null, depth: null }),
]);
const ending = (items: readonly Json[], code: string) =>
  responseStream(items, { status: "failed", error: { code, message: "Try later" } });
const overloaded = (items: readonly Json[] = []) => ending(items, "server_is_overloaded");
const refusal = { ...answerText(""), content: [{ type: "refusal", refusal: "I cannot help with that." }] };

type Answered = readonly [
  readonly Answer[],
  End,
  { readonly flags?: readonly string[]; readonly api?: Api }?,
];
/** Answers without a fault: the answers, the outcome, the flags, and the API if it is not Responses. */
const ANSWERS: Readonly<Record<string, Answered>> = {
  "calls and an answer": [[reading, PLAIN.responses], END.completed],
  "an answer that ran out of tokens": [
    [responseStream([answerText("Once")], {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    })],
    incomplete("incomplete"),
  ],
  "messages of white space": [[saying(" \n\t\u00a0", "\u200b")], incomplete()],
  "an empty answer after commentary": [
    [responseStream([comment("Let me see."), answerText("")])],
    incomplete(),
  ],
  "a block of white space": [[claudeStream("\n\n")], incomplete(), { api: "messages" }],
  "a refusal of the model": [[responseStream([refusal])], refused("completed")],
  "a denied call under --fail-on-denied": [
    [reading],
    failed(3, "permission_denied", "completed"),
    { flags: ["--fail-on-denied", "--deny", "list_files"] },
  ],
  "a rate limit that outlasts two retries": [
    Array(3).fill([429, { error: { message: "Wait", code: "rate_limit_exceeded" } }]),
    failed(9, "rate_limited", null),
  ],
  "a response that fails three times before its first item": [
    [overloaded(), overloaded(), overloaded()],
    failed(10, "provider_failed", "failed"),
  ],
  "a response that fails after its first item, which is not retried": [
    [overloaded([thought("rs_1")])],
    failed(10, "provider_failed", "failed"),
  ],
  "a response that fails for a reason that no retry helps": [
    [ending([], "insufficient_quota")],
    failed(9, "quota_exhausted", "failed"),
  ],
  "more requests than the fixture holds": [[reading], failed(7, "fixture_miss", "completed")],
};

for (
  const [name, [answers, { kept, ...end }, { flags, api = "responses" } = {}]] of Object.entries(ANSWERS)
) {
  Deno.test(`${name}: the run ends with exit code ${end.exit}, and the next one completes`, async () => {
    await using home = new RecordedRuns();
    const { retries, ended } = await run(home, answers, { api, flags });
    assert.deepEqual(ended, { code: undefined, ...end, kept });
    assert.equal(retries, answers.length > 2 ? 2 : 0);
    const next = await run(home, [PLAIN[api]], { api });
    assert.equal(next.ended.state, "completed");
    const of = (type: string) => next.events.filter((event) => event.type === type);
    assert.deepEqual(
      of("tool_result").map(({ call_seq }) => call_seq),
      of("tool_call").map(({ seq }) => seq),
    );
    assert.equal((await home.call(["fsck", "s", "--requests"])).code, 0);
  });
}

/** Faults after which a run ends: the outcome with Responses, and members that differ with Messages. */
const BREAKING: Readonly<Record<string, readonly [End, Partial<End>?]>> = {
  "cut after 1 events": [cut(null), { kept: "cut" }],
  "cut after 3 events": [cut("cut")],
  "cut after 120 bytes": [cut(null)],
  "cut mid-line": [cut(null), { kept: "cut" }],
  "cut mid-utf8": [cut(null), { kept: "cut" }],
  "no terminal event": [cut("cut")],
  "reset after 2 events": [cut(null)],
  "close 1011 after 2 events": [cut(null)],
  "previous_response_not_found": [failed(13, "request_refused", null)],
  "stall after 2 events for 400s": [cut(null)],
  "400": [failed(13, "request_refused", null)],
  "400 context length": [failed(11, "context_overflow", null)],
  "400 content policy": [failed(13, "request_refused", null)],
  "401": [failed(8, "unauthorized", null)],
  "403": [failed(8, "unauthorized", null)],
  "404": [failed(13, "request_refused", null)],
  "413": [failed(13, "request_refused", null)],
  "error flat": [failed(10, "provider_failed", "failed")],
  "error nested insufficient_quota": [failed(9, "quota_exhausted", "failed")],
  "failed": [failed(10, "provider_failed", "failed")],
  "failed context_length_exceeded": [failed(11, "context_overflow", "failed"), {
    exit: 10,
    code: "provider_failed",
  }],
  "incomplete": [incomplete("incomplete")],
  "incomplete content_filter": [refused("incomplete"), { kept: "completed" }],
  "html": [failed(10, "bad_stream", null)],
  "content-type application/json": [failed(10, "bad_stream", null)],
  "garbage after 2 events": [failed(10, "bad_stream", null)],
};
/** Faults that a run retries: a status, or an event before any item. */
const RETRIED = [
  ...["429 retry-after 1", "500", "503 retry-after-ms 900", "529", "fail", "error flat after 0 events"],
  ...["drop", "408", "502", "502 html", "504"],
  ...["error nested after 1 events", "error flat rate_limit_exceeded after 1 events"],
];
/** Faults that a run does not notice. */
const HARMLESS = [
  ...[
    "stall before the head for 20ms",
    "duplicate terminal event",
    "stall after 2 events for 20ms",
    "drip 7 bytes every 1ms",
    "duplicate events",
    "unknown events",
  ],
  ...["comments", "keepalives", "rotate ids", "no event lines"],
];
/** Messages blocks have no ids, and Messages events no numbers that would show that a delta came twice. */
const OF_RESPONSES: ReadonlySet<string> = new Set(["rotate ids", "duplicate events"]);
const apisOf = (fault: string): readonly Api[] =>
  OF_RESPONSES.has(fault) ? ["responses"] : ["responses", "messages"];

for (const [fault, [expected, messages]] of Object.entries(BREAKING)) {
  Deno.test(`the fault "${fault}" ends a run with exit code ${expected.exit}, and keeps what arrived whole`, async () => {
    for (const api of apisOf(fault)) {
      await using home = new RecordedRuns();
      const { retries, ended } = await run(home, [PLAIN[api]], { api, first: { fault } });
      assert.deepEqual(ended, { ...expected, ...(api === "messages" ? messages : {}) }, api);
      assert.equal(retries, 0);
    }
  });
}

/** Events on disk without ids, which some faults change. */
const withoutIds = (events: readonly Json[]) =>
  JSON.parse(JSON.stringify(events), (name, value) => name === "id" ? undefined : value);

for (
  const [fault, retries] of [
    ...RETRIED.map((fault) => [fault, 1] as const),
    ...HARMLESS.map((fault) => [fault, 0] as const),
  ]
) {
  test.long(`the fault "${fault}" leaves the turns of an answer without a fault, after ${retries} retries`, async () => {
    for (const api of apisOf(fault)) {
      await using home = new RecordedRuns();
      await using plain = new RecordedRuns();
      const ran = await run(home, Array(retries + 1).fill(PLAIN[api]), { api, first: { fault } });
      assert.deepEqual([ran.ended.exit, ran.retries], [0, retries], api);
      assert.deepEqual(
        withoutIds(ran.events),
        withoutIds((await run(plain, [PLAIN[api]], { api })).events),
        api,
      );
    }
  });
}

Deno.test("every fault of docs/rules.md is in these tables", () => {
  const page = Deno.readTextFileSync(new URL("../../../docs/rules.md", import.meta.url));
  const [, table = ""] = /<!-- faults:begin -->\n[^\n]*\n[^\n]*\n((?:\|.*\n)+)/.exec(page) ?? [];
  const kind = (text: string) =>
    /^(?:error \w+|\d+(?: retry[a-z-]*)?|[a-z]+)/.exec(text)?.[0].replace(/\d+/, "STATUS");
  const played = [...Object.keys(BREAKING), ...RETRIED, ...HARMLESS].map(kind);
  const examples = [...table.matchAll(/\| `([^`]+)` \|$/gm)].map(([, example = ""]) => example);
  assert.ok(examples.length > 20);
  for (const example of examples) {
    if (!example.startsWith("websocket")) assert.ok(played.includes(kind(example)), example);
  }
});

Deno.test("stdout has no commentary, unless that is all the model said; a recording needs no remote", async () => {
  for (
    const [items, printed] of [
      [[comment("Let me think."), answerText("Yes."), comment("Done."), answerText("No.")], "Yes.\n\nNo.\n"],
      [[comment("Done.")], "Done.\n"],
    ] as const
  ) {
    await using home = new RecordedRuns();
    const env = { REPRISE_REMOTE: "s3://bucket/prefix" };
    const named = items.map((item, at) => ({ ...item, id: `msg_${at}` }));
    const { stdout } = await home.print([responseStream(named)], { env });
    assert.equal(stdout, printed);
  }
});
