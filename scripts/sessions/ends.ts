/**
 * How runs end: every state that a played run can reach, and every exit code that a provider, a budget, a denial, a
 * limit of time or a signal causes.
 *
 * @module
 */
import {
  answer,
  message,
  rateLimited,
  reasoning,
  unauthorized,
} from "../../tests/support/responses_server.ts";
import { functionCall } from "../../tests/support/responses_server/script.ts";
import { httpError, quotaExhausted, serverError } from "../../tests/support/responses_server/faults.ts";
import { begin, beginReading, goOn, type Scenario } from "./scenario.ts";

/** An answer in words. */
export const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
/** A look at a.txt. */
export const READS_A = answer([
  reasoning("Looking"),
  functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
]);
const A = { "a.txt": "alpha\n" };
const GOES_ON = {
  args: goOn("--deny", "list_files,search_text"),
  answers: [HELLO],
  exit: 0,
  state: "completed",
} as const;

/** Them. */
export const ENDS: readonly Scenario[] = [
  {
    name: "end-completed",
    note: "A run without tools completes: state completed, exit code 0",
    steps: [{ args: begin("Hello?"), answers: [HELLO], exit: 0, state: "completed" }],
  },
  {
    name: "end-completed-with-tools",
    note: "Calls are answered from the record, and nothing is executed",
    workspace: A,
    steps: [{
      args: beginReading("What is in a.txt?"),
      answers: [READS_A, HELLO],
      exit: 0,
      state: "completed",
    }],
  },
  {
    name: "end-completed-in-workspace",
    note: "Calls run in a scratch copy of the workspace",
    workspace: A,
    runsTools: true,
    steps: [{
      args: beginReading("What is in a.txt?"),
      answers: [READS_A, HELLO],
      exit: 0,
      state: "completed",
    }],
  },
  {
    name: "end-incomplete",
    note: "A response that ran out of tokens ends the run: state incomplete, exit code 6",
    steps: [{
      args: begin("Write a book"),
      answers: [answer([message("Once upon")], { end: { kind: "incomplete", reason: "max_output_tokens" } })],
      exit: 6,
      state: "incomplete",
    }],
  },
  {
    name: "end-refused",
    note: "A refusal of the model ends the run: state refused, exit code 6",
    steps: [{
      args: begin("Do harm"),
      answers: [answer([message("I cannot help with that.", { refusal: true })])],
      exit: 6,
      state: "refused",
    }],
  },
  {
    name: "end-denied",
    note: "--fail-on-denied ends the run behind the calls of a response: exit code 3; the next run goes on",
    workspace: A,
    steps: [
      {
        args: beginReading("What is in a.txt?", "--fail-on-denied"),
        answers: [
          answer([
            functionCall("list_files", { path: null, pattern: null, depth: null }),
            functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
          ]),
        ],
        exit: 3,
        state: "failed",
      },
      GOES_ON,
    ],
  },
  {
    name: "end-over-steps",
    note: "More requests than --max-steps: state over_budget, exit code 4; the next run goes on",
    workspace: A,
    steps: [
      {
        args: beginReading("What is in a.txt?", "--max-steps", "1"),
        answers: [READS_A],
        exit: 4,
        state: "over_budget",
      },
      GOES_ON,
    ],
  },
  {
    name: "end-over-tokens",
    note: "--max-tokens bounds each request by what is left: state over_budget, exit code 4",
    workspace: A,
    steps: [{
      args: beginReading("What is in a.txt?", "--max-tokens", "330"),
      answers: [READS_A, READS_A],
      exit: 4,
      state: "over_budget",
    }],
  },
  {
    name: "end-unauthorized",
    note: "A key that the API does not take: exit code 8",
    steps: [{ args: begin("Hello?"), answers: [unauthorized()], exit: 8, state: "failed" }],
  },
  {
    name: "end-rate-limited",
    note: "A rate limit that two retries do not outlast: exit code 9",
    steps: [{
      args: begin("Hello?"),
      answers: [1, 2, 3].map(() => rateLimited({ retryAfter: "0.01" })),
      exit: 9,
      state: "failed",
    }],
  },
  {
    name: "end-quota",
    note: "A spent quota is not retried: exit code 9",
    steps: [{ args: begin("Hello?"), answers: [quotaExhausted()], exit: 9, state: "failed" }],
  },
  {
    name: "end-server-error",
    note: "A server that fails three times: exit code 10",
    steps: [{
      args: begin("Hello?"),
      answers: [serverError(), serverError(), serverError()],
      exit: 10,
      state: "failed",
    }],
  },
  {
    name: "end-overflow",
    note: "A history that does not fit the model's window: exit code 11",
    steps: [{
      args: begin("Hello?"),
      answers: [httpError(400, {
        message: "Your input exceeds the context window of this model.",
        code: "context_length_exceeded",
        param: "input",
      })],
      exit: 11,
      state: "failed",
    }],
  },
  {
    name: "end-request-refused",
    note: "A request that the API refuses for good: exit code 13",
    steps: [{
      args: begin("Hello?"),
      answers: [httpError(404, { message: "The model does not exist.", code: "model_not_found" })],
      exit: 13,
      state: "failed",
    }],
  },
  {
    name: "end-fixture-miss",
    note: "A run that asks more than was recorded: exit code 7; the next run goes on",
    workspace: A,
    steps: [
      { args: beginReading("What is in a.txt?"), answers: [READS_A], exit: 7, state: "failed" },
      GOES_ON,
    ],
  },
  {
    name: "end-timed-out",
    note: "A server that falls silent for longer than --timeout: state timed_out, exit code 124",
    steps: [{
      args: begin("Hello?"),
      extra: ["--timeout", "1"],
      answers: [HELLO],
      faults: { 1: "stall after 2 events" },
      exit: 124,
      state: "timed_out",
    }],
  },
  {
    name: "end-interrupted",
    note: "SIGINT behind the first request's calls: state interrupted, exit code 130; the next run goes on",
    workspace: A,
    steps: [
      {
        args: beginReading("What is in a.txt?"),
        answers: [READS_A],
        kill: { after: "turn.saved", turn: 2, signal: "SIGINT" },
        exit: 130,
        state: "interrupted",
      },
      GOES_ON,
    ],
  },
];
