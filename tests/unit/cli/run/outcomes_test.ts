/** The outcome of a run for each answer, budget, denial and signal: state, exit code and error. */
import assert from "node:assert/strict";
import { EXIT_CODES } from "../../../../src/domain/errors.ts";
import type { StepKill } from "../../../../src/fixture/session/session_file.ts";
import { read } from "../../../support/calls.ts";
import { type GivenRun, PlayedSession } from "../../../support/played_session.ts";
import {
  answer,
  message,
  rateLimited,
  reasoning,
  unauthorized,
  unfinished,
} from "../../../support/responses_server.ts";
import {
  functionCall,
  type ScriptedItem,
  type ScriptedResponse,
} from "../../../support/responses_server/script.ts";
import { httpError, quotaExhausted, serverError } from "../../../support/responses_server/faults.ts";
import { says, text, thinking } from "../../../support/messages_server/script.ts";
import { test } from "../../../support/test.ts";

const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
const READS_A = answer([reasoning("Looking"), read("a.txt")]);

/** A response that fails after these items; by default the server is overloaded. */
function failing(
  items: readonly ScriptedItem[],
  kind: "failed" | "error_then_failed" = "failed",
  code = "server_is_overloaded",
): ScriptedResponse {
  return answer(items, { end: { kind, error: { code, message: "Try later" } } });
}

interface Outcome {
  readonly run: GivenRun;
  readonly exit: number;
  readonly state: string | null;
  readonly code?: string;
  /** Number of requests that the run sent. @default {1} */
  readonly requests?: number;
}

/** The outcome of a response that is whole, but without text. */
const EMPTY = { exit: 6, state: "incomplete", code: "incomplete" } as const;

/** By what leads to them. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  "an answer in words": { run: { answers: [HELLO] }, exit: 0, state: "completed" },
  "calls and an answer": { run: { answers: [READS_A, HELLO] }, exit: 0, state: "completed", requests: 2 },
  "an answer that ran out of tokens": {
    run: {
      answers: [answer([message("Once upon")], { end: { kind: "incomplete", reason: "max_output_tokens" } })],
    },
    exit: 6,
    state: "incomplete",
    code: "incomplete",
  },
  "an answer without an item": { run: { answers: [answer([])] }, ...EMPTY },
  "an empty message": { run: { answers: [answer([reasoning("Hm"), message("")])] }, ...EMPTY },
  "a message of white space": {
    run: { answers: [answer([message(" \n\t\u00a0"), message("\u200b")])] },
    ...EMPTY,
  },
  "an empty answer after commentary": {
    run: { answers: [answer([message("Let me see.", { phase: "commentary" }), message("")])] },
    ...EMPTY,
  },
  "an empty message after calls": {
    run: { answers: [READS_A, answer([message("")])] },
    ...EMPTY,
    requests: 2,
  },
  "an empty block of text": { run: { says: [says([thinking("Hm"), text("")])] }, ...EMPTY },
  "a block of white space": { run: { says: [says([text("\n\n")])] }, ...EMPTY },
  "a refusal of the model": {
    run: { answers: [answer([message("I cannot help with that.", { refusal: true })])] },
    exit: 6,
    state: "refused",
    code: "refused",
  },
  "a denied call under --fail-on-denied": {
    run: {
      args: ["--fail-on-denied", "--deny", "list_files", "Go"],
      answers: [
        answer([functionCall("list_files", { path: null, pattern: null, depth: null }), read("a.txt")]),
      ],
    },
    exit: 3,
    state: "failed",
    code: "permission_denied",
  },
  "no denied call under --fail-on-denied": {
    run: { args: ["--fail-on-denied", "Go"], answers: [READS_A, HELLO] },
    exit: 0,
    state: "completed",
    requests: 2,
  },
  "more requests than --max-steps": {
    run: { args: ["--max-steps", "1", "Go"], answers: [READS_A] },
    exit: 4,
    state: "over_budget",
    code: "over_budget",
  },
  "more tokens than --max-tokens": {
    run: { args: ["--max-tokens", "330", "Go"], answers: [READS_A, READS_A] },
    exit: 4,
    state: "over_budget",
    code: "over_budget",
    requests: 2,
  },
  "a silence longer than --timeout": {
    run: { args: ["--timeout", "0.2", "Go"], answers: [HELLO], faults: { 1: "stall after 2 events" } },
    exit: 124,
    state: "timed_out",
    code: "timed_out",
  },
  "a key that the API rejects": {
    run: { answers: [unauthorized()] },
    exit: 8,
    state: "failed",
    code: "unauthorized",
  },
  "a rate limit that outlasts two retries": {
    run: { answers: [1, 2, 3].map(() => rateLimited({ retryAfter: "0.01" })) },
    exit: 9,
    state: "failed",
    code: "rate_limited",
    requests: 3,
  },
  "a spent quota, which is not retried": {
    run: { answers: [quotaExhausted()] },
    exit: 9,
    state: "failed",
    code: "quota_exhausted",
  },
  "a server that fails three times": {
    run: { answers: [serverError(), serverError(), serverError()] },
    exit: 10,
    state: "failed",
    code: "provider_failed",
    requests: 3,
  },
  "a response that fails three times before its first item": {
    run: { answers: [failing([]), failing([], "error_then_failed"), failing([])] },
    exit: 10,
    state: "failed",
    code: "provider_failed",
    requests: 3,
  },
  "a response that fails after its first item, which is not retried": {
    run: { answers: [failing([reasoning("Thinking")]), HELLO] },
    exit: 10,
    state: "failed",
    code: "provider_failed",
  },
  "a response that fails in its first item, which is not retried": {
    run: { answers: [failing([unfinished(reasoning("Thinking"))]), HELLO] },
    exit: 10,
    state: "failed",
    code: "provider_failed",
  },
  "a response that fails for a reason that no retry helps": {
    run: { answers: [failing([], "failed", "insufficient_quota"), HELLO] },
    exit: 9,
    state: "failed",
    code: "quota_exhausted",
  },
  "a history that does not fit the model's window": {
    run: {
      answers: [httpError(400, {
        message: "Your input exceeds the context window of this model.",
        code: "context_length_exceeded",
        param: "input",
      })],
    },
    exit: 11,
    state: "failed",
    code: "context_overflow",
  },
  "a request that the API rejects": {
    run: { answers: [httpError(404, { message: "The model does not exist.", code: "model_not_found" })] },
    exit: 13,
    state: "failed",
    code: "request_refused",
  },
  "more requests than the fixture holds": {
    run: { answers: [READS_A] },
    exit: 7,
    state: "failed",
    code: "fixture_miss",
    requests: 2,
  },
  "SIGINT": { run: stopped("SIGINT"), exit: 130, state: "interrupted", code: "interrupted" },
  "SIGTERM": { run: stopped("SIGTERM"), exit: 143, state: "interrupted", code: "terminated" },
  "SIGHUP": { run: stopped("SIGHUP"), exit: 129, state: "interrupted", code: "hung_up" },
  "SIGKILL": { run: stopped("SIGKILL"), exit: 137, state: null },
};

for (const [why, { run, exit, state, code = null, requests = 1 }] of Object.entries(OUTCOMES)) {
  test.long(`${why}: a run ends with exit code ${exit}, and the next one completes`, async () => {
    await using session = await PlayedSession.open({ "a.txt": "alpha\n" });
    const ended = await session.run(run);
    assert.deepEqual(
      { exit: ended.exit, state: ended.state, code: ended.code, requests: ended.requests.length },
      { exit, state, code, requests },
    );
    const [saved] = session.events("run_ended");
    assert.deepEqual([saved?.state ?? null, saved?.error?.code ?? null], [state, code]);

    const next = await session.run({ args: ["And now?"], answers: [HELLO] });
    assert.deepEqual([next.exit, next.state, next.requests.length], [0, "completed", 1]);
    const calls = session.events("tool_call").map(({ seq }) => seq);
    assert.deepEqual(session.events("tool_result").map(({ call_seq }) => call_seq), calls);
    assert.equal((await session.call("fsck", "s", "--requests")).exit, 0);
  });
}

Deno.test("a run can end with every exit code that answers, budgets, denials and signals cause", () => {
  // 1, 2, 5, 12, 14 and 141 have causes outside of a run: arguments, locks, damage, disks and pipes.
  const others = ["1", "2", "5", "12", "14", "141"];
  const exits = new Set(Object.values(OUTCOMES).map(({ exit }) => String(exit)));
  assert.deepEqual(Object.keys(EXIT_CODES).filter((exit) => !exits.has(exit)), others);
});

Deno.test("stdout of a run has no commentary of the model, unless that is all the model said", async () => {
  const comment = (text: string) => message(text, { phase: "commentary" });
  await using session = await PlayedSession.open();
  const mixed = [comment("Let me think."), message("Yes."), comment("Done."), message("And no.")];
  assert.equal(await session.stdoutOf({ answers: [answer(mixed)] }), "Yes.\n\nAnd no.\n");
  assert.equal(await session.stdoutOf({ answers: [answer([comment("Done.")])] }), "Done.\n");
});

Deno.test("a run with a fixture uses no remote, also if a variable names one", async () => {
  await using session = await PlayedSession.open();
  const variables = { REPRISE_REMOTE: "s3://bucket/prefix" };
  assert.equal(await session.stdoutOf({ answers: [HELLO] }, variables), "Hello.\n");
});

Deno.test("--max-tokens bounds each request by the tokens that are left", async () => {
  await using session = await PlayedSession.open({ "a.txt": "alpha\n" });
  const { requests } = await session.run(OUTCOMES["more tokens than --max-tokens"]?.run ?? {});
  assert.deepEqual(requests.map(({ max_output_tokens }) => max_output_tokens), [330, 170]);
  const unbounded = await session.run({ answers: [HELLO] });
  assert.deepEqual(unbounded.requests.map(({ max_output_tokens }) => max_output_tokens), [undefined]);
});

/** A run that gets the signal once its first response is saved. */
function stopped(signal: StepKill["signal"] & string): GivenRun {
  return { answers: [READS_A, HELLO], kill: { after: "turn.saved", turn: 2, signal } };
}
