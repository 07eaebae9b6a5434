/** The lines of `serve`, `record` and `test` with `--json`. */
import * as z from "zod";
import {
  anyExitCode,
  counts,
  countType,
  dryRun,
  error,
  exitCode,
  ordinalType,
  type Printed,
  sha256Type,
  textType,
  typed,
} from "./parts.ts";

const test = textType.describe("name of the test that the request names").exactOptional();
const status = z.int().describe("HTTP status");
const grade = textType.describe("source of the rule, such as wire or types");
const ABOUT = {
  test,
  request: ordinalType.describe("number in the order of arrival"),
  method: textType,
  path: textType,
  at_ms: z.number().describe("arrival, in milliseconds since serve began to listen").exactOptional(),
};
const DIFFERENCE = {
  path: textType.describe("JSON path, part or body"),
  recorded: textType,
  received: textType,
};
const difference = z.object(DIFFERENCE);

const skipped = typed("skipped", {
  reason: z.enum([
    "connection_check",
    "websocket_upgrade",
    "unsolicited_message",
    "warm_up",
    "previous_response_not_found",
  ]),
  test,
  method: textType,
  path: textType,
  status,
});
const turnedAway = typed("turned_away", {
  test,
  status,
  code: textType,
  message: textType,
});
const played = [
  typed("played", {
    ...ABOUT,
    status,
    fixture: textType,
    number: ordinalType.describe("number of the exchange in the fixture"),
    tier: z.enum(["exact", "semantic", "rules", "conversation"]).exactOptional(),
    rules: z.array(textType).exactOptional(),
    repeat: countType.exactOptional(),
    rewritten: z.literal(true).exactOptional(),
    hurried: z.literal(true).exactOptional(),
    after_fault: z.enum(["resumed", "unstreamed"]).describe("with --after-fault: how the request continues")
      .exactOptional(),
    fault: textType.exactOptional(),
  }),
  typed("faulted", {
    ...ABOUT,
    status: status.nullable().describe("null if the connection ends without an answer"),
    fixture: textType.exactOptional(),
    number: ordinalType.describe("number of the exchange that would have answered").exactOptional(),
    fault: textType,
  }),
  typed("miss", {
    ...ABOUT,
    status,
    message: textType,
    nearest: z.object({ fixture: textType, number: ordinalType, ...DIFFERENCE }).nullable(),
    differences: z.array(difference),
    cure: textType,
  }),
  typed("refused", { ...ABOUT, status, rule: textType, grade, message: textType }),
  typed("warning", {
    ...ABOUT,
    rule: textType,
    grade: grade.nullable(),
    message: textType,
    difference: difference.exactOptional(),
  }),
] as const;

const READY = {
  type: z.literal("ready"),
  port: z.int(),
  origin: textType,
  address: textType.describe("address that the server listens on"),
};
const variables = z.record(z.string(), z.string()).describe("variables that lead clients to the server");

/** Answers of `serve --suite` and `record --suite` to the lines of stdin; only the gateway gives the first two. */
export const testReportDocument = z.discriminatedUnion("type", [
  typed("test.began", { test: textType }),
  typed("strays", {
    requests: z.array(textType).describe("requests that came while no test ran, such as POST /v1/responses"),
  }),
  typed("test.ended", {
    test: textType.describe("name of the test, which is that of its folder"),
    exit_code: exitCode.describe("0 if all went as recorded; exit code of a process with only this test"),
    served: countType.describe("requests that were answered from the recording"),
    recorded: countType.describe("exchanges that were added to the recording"),
    missed: countType,
    refused: countType.describe("requests that break a rule of the API"),
    turned_away: countType,
    unused: z.array(ordinalType).describe("numbers of recorded exchanges that the test did not use"),
    messages: z.array(textType).describe("reasons for the exit code, for people; empty if it is 0"),
    notes: z.array(textType).describe("facts that do not change the exit code, for people"),
  }),
]);

const byteAt = z.number().nullable().describe("as at_ms; null if no byte was sent");
const answered = typed("answered", {
  test,
  request: ordinalType.describe("number of the request whose answer ended"),
  at_ms: z.number().describe("arrival of the request, in milliseconds since serve began to listen"),
  first_byte_at_ms: byteAt,
  last_byte_at_ms: byteAt,
  hung_up: z.literal(true).describe("the client closed the connection before the end").exactOptional(),
  unmet_faults: z.array(textType).describe("faults without effect so far; with --fault").exactOptional(),
});

export const serveEvent = z.union([
  z.object({
    ...READY,
    environment: variables,
    upstreams: z.array(z.object({ variable: textType, url: textType }))
      .describe("of the gateway: base URLs of the known APIs, by the variable that leads to them")
      .exactOptional(),
  }),
  ...played,
  answered,
  skipped,
  turnedAway,
  error,
  typed("serve.ended", {
    exit_code: anyExitCode,
    command_exit_code: anyExitCode.describe("of the wrapped command").exactOptional(),
    served: countType,
    missed: countType,
    refused: countType,
    warned: countType,
    tiers: z.object({ exact: countType, semantic: countType, rules: countType, conversation: countType }),
    rules: counts,
    repeated: countType,
    rewritten: countType,
    tool_outputs_differ: countType,
    fixtures: z.array(z.object({ path: textType, seal: sha256Type, used: z.array(ordinalType) })),
    unused: z.array(z.object({ fixture: textType, number: ordinalType })),
    unopened: z.array(textType),
    turned_away: countType,
    skipped: countType,
    hurried: countType.describe("answers with retry-after 0 in place of a recorded wait"),
    unmet_faults: z.array(textType),
  }),
]);

/** Reasons for an exchange to be missing from the fixture. */
const droppedFor = z.enum([
  // The upstream gave no answer.
  "no_answer",
  // The client hung up; the body broke off; the terminal event did not come. --keep-cut keeps all three.
  "closed",
  "cut",
  "no_terminal_event",
  // The API answered with an error, which --missing does not keep.
  "error_answer",
  // No fixture can hold the answer.
  "encoding",
  "invalid",
  "too_large",
  "unreadable",
  // It was still running when the recording ended; it still held a secret; the file system refused it.
  "stopped",
  "secret_left",
  "storage",
]);

const SUMMARY = {
  before: countType.describe("exchanges that the fixture had before"),
  published: countType,
  over_socket: countType.describe("published exchanges over WebSocket"),
  dropped: countType,
  refused: countType.describe("dropped exchanges that still held a secret"),
  unkept: countType.describe("dropped exchanges with an answer that no fixture can hold"),
  redactions: counts,
  altered: countType,
  left_alone: z.array(z.object({ name: textType, files: z.array(textType) })),
  match_rules: z.array(textType),
  withheld_rules: z.array(textType),
};

export const recordEvent = z.union([
  z.object({
    ...READY,
    out: textType,
    before: countType,
    sends: z.boolean().describe("with --missing").exactOptional(),
    environment: variables.exactOptional(),
  }),
  typed("exchange", {
    test,
    state: z.enum(["published", "dropped"]),
    number: ordinalType.nullable(),
    request: ordinalType,
    connection: ordinalType.describe("number of the WebSocket within the recording; absent over HTTP")
      .exactOptional(),
    method: textType,
    path: textType,
    status: status.nullable(),
    bytes: countType,
    chunks: countType,
    ms: z.number(),
    ended: z.enum(["complete", "cut", "closed"]).nullable().describe(
      "broken off by the server, or closed by the client; null without an answer",
    ),
    terminal: z.boolean(),
    lacks_usage: z.literal(true).describe("the usage that the request asks for did not come").exactOptional(),
    reason: droppedFor.nullable().describe("reason for dropping the exchange"),
    secrets: z.array(textType).exactOptional(),
    file: textType.exactOptional(),
  }),
  ...played,
  skipped,
  turnedAway,
  error,
  typed("record.ended", {
    out: textType,
    ...SUMMARY,
    turned_away: countType,
    played: countType.describe("with --missing").exactOptional(),
    missed: countType.describe("with --missing").exactOptional(),
    error_answers: countType.describe("with --missing").exactOptional(),
    tests: z.array(z.object({ test: textType, ...SUMMARY })).exactOptional(),
    exit_code: exitCode,
  }),
]);

export const recordDryRun = dryRun({
  upstreams: z.array(textType),
  out: textType,
  port: z.int(),
  before: countType,
  tests: countType.exactOptional(),
  sends: z.boolean().exactOptional(),
  command: z.array(textType).nullable(),
});

export const certify = z.object({
  cells: z.array(z.object({
    exchange: ordinalType,
    kind: z.enum(["call", "answer", "both"]).describe("calls of tools, text, or both"),
    fault: textType,
    verdict: textType.describe("lied, recovered, failed, …"),
    detail: textType.describe("the evidence"),
    bad: z.boolean().describe("true if the verdict is bad and not accepted"),
    accepted: textType.nullable().describe("verdict that certify.json accepts"),
    seconds: z.number(),
  })),
  bad: countType,
  not_run: z.array(textType).describe("cells that were not run"),
});

const testDivergence = z.object({
  kind: textType.describe("exit, state, request, turn, …"),
  where: textType,
  message: textType,
  path: textType.exactOptional(),
  expected: textType.exactOptional(),
  received: textType.exactOptional(),
  said: textType.exactOptional(),
});
export type TestDivergence = Printed<typeof testDivergence>;

export const testEvent = z.union([
  typed("test.started", { tests: countType }),
  typed("test", {
    dir: textType,
    note: textType.nullable(),
    passed: z.boolean(),
    seconds: z.number(),
    divergences: z.array(testDivergence),
    updated: z.array(textType),
    removed: z.array(textType),
    error: error.nullable().describe("why it could not be played"),
  }),
  error,
  typed("test.ended", {
    passed: countType,
    failed: countType,
    skipped: z.array(textType).describe("tests that were not played"),
  }),
]);
