/** The lines of `serve`, `record` and `test` with `--json`. */
import * as z from "zod";
import { count, counts, dryRun, error, exitCode, ordinal, sha256, text } from "./parts.ts";

const test = text.describe("name of the test that the request names").exactOptional();
const status = z.int().describe("HTTP status");
const grade = text.describe("source of the rule, such as wire or types");
const ABOUT = { test, request: ordinal.describe("number in the order of arrival"), method: text, path: text };
const DIFFERENCE = { path: text.describe("JSON path, part or body"), recorded: text, received: text };
const difference = z.object(DIFFERENCE);

const skipped = z.object({
  type: z.literal("skipped"),
  reason: z.enum([
    "connection_check",
    "websocket_upgrade",
    "unsolicited_message",
    "warm_up",
    "previous_response_not_found",
  ]),
  test,
  method: text,
  path: text,
  status,
});
const turnedAway = z.object({ type: z.literal("turned_away"), test, status, code: text, message: text });
const played = [
  z.object({
    type: z.literal("played"),
    ...ABOUT,
    status,
    fixture: text,
    number: ordinal.describe("number of the exchange in the fixture"),
    tier: z.enum(["exact", "semantic", "rules", "conversation"]).exactOptional(),
    rules: z.array(text).exactOptional(),
    repeat: count.exactOptional(),
    rewritten: z.literal(true).exactOptional(),
    hurried: z.literal(true).exactOptional(),
    fault: text.exactOptional(),
  }),
  z.object({ type: z.literal("faulted"), ...ABOUT, status, fault: text }),
  z.object({
    type: z.literal("miss"),
    ...ABOUT,
    status,
    message: text,
    nearest: z.object({ fixture: text, number: ordinal, ...DIFFERENCE }).nullable(),
    differences: z.array(difference),
    cure: text,
  }),
  z.object({ type: z.literal("refused"), ...ABOUT, status, rule: text, grade, message: text }),
  z.object({
    type: z.literal("warning"),
    ...ABOUT,
    rule: text,
    grade: grade.nullable(),
    message: text,
    difference: difference.exactOptional(),
  }),
] as const;

const READY = {
  type: z.literal("ready"),
  port: z.int(),
  origin: text,
  address: text.describe("address that the server listens on"),
};
const variables = z.record(z.string(), z.string()).describe("variables that lead clients to the server");

/** Answers of `serve --suite` and `record --suite` to the lines of stdin; only the gateway gives the first two. */
export const testReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("test.began"), test: text }),
  z.object({
    type: z.literal("strays"),
    requests: z.array(text).describe("requests that came while no test ran, such as POST /v1/responses"),
  }),
  z.object({
    type: z.literal("test.ended"),
    test: text.describe("name of the test, which is that of its folder"),
    exit_code: exitCode.describe("0 if all went as recorded; exit code of a process with only this test"),
    served: count.describe("requests that were answered from the recording"),
    recorded: count.describe("exchanges that were added to the recording"),
    missed: count,
    refused: count.describe("requests that break a rule of the API"),
    turned_away: count,
    unused: z.array(ordinal).describe("numbers of recorded exchanges that the test did not use"),
    messages: z.array(text).describe("reasons for the exit code, for people; empty if it is 0"),
    notes: z.array(text).describe("facts that do not change the exit code, for people"),
  }),
]);

/** One line of `serve --json`. */
export const serveEvent = z.union([
  z.object({
    ...READY,
    environment: variables,
    upstreams: z.array(z.object({ variable: text, url: text }))
      .describe("of the gateway: base URLs of the known APIs, by the variable that leads to them")
      .exactOptional(),
  }),
  ...played,
  skipped,
  turnedAway,
  error,
  z.object({
    type: z.literal("serve.ended"),
    exit_code: exitCode,
    command_exit_code: exitCode.describe("of the wrapped command").exactOptional(),
    served: count,
    missed: count,
    refused: count,
    warned: count,
    tiers: z.object({ exact: count, semantic: count, rules: count, conversation: count }),
    rules: counts,
    repeated: count,
    rewritten: count,
    tool_outputs_differ: count,
    fixtures: z.array(z.object({ path: text, seal: sha256, used: z.array(ordinal) })),
    unused: z.array(z.object({ fixture: text, number: ordinal })),
    unopened: z.array(text),
    turned_away: count,
    skipped: count,
    hurried: count.describe("answers with retry-after 0 in place of a recorded wait"),
    unmet_faults: z.array(text),
  }),
]);

const SUMMARY = {
  before: count.describe("exchanges that the fixture had before"),
  published: count,
  over_socket: count.describe("published exchanges over WebSocket"),
  dropped: count,
  refused: count.describe("dropped exchanges that still held a secret"),
  unkept: count.describe("dropped exchanges with an answer that no fixture can hold"),
  redactions: counts,
  altered: count,
  left_alone: z.array(z.object({ name: text, files: z.array(text) })),
  match_rules: z.array(text),
  withheld_rules: z.array(text),
};

/** One line of `record --json`. */
export const recordEvent = z.union([
  z.object({
    ...READY,
    out: text,
    before: count,
    sends: z.boolean().describe("with --missing").exactOptional(),
    environment: variables.exactOptional(),
  }),
  z.object({
    type: z.literal("exchange"),
    test,
    state: z.enum(["published", "dropped"]),
    number: ordinal.nullable(),
    request: ordinal,
    connection: ordinal.describe("number of the WebSocket within the recording; absent over HTTP")
      .exactOptional(),
    method: text,
    path: text,
    status: status.nullable(),
    bytes: count,
    chunks: count,
    ms: z.number(),
    ended: text.nullable().describe("complete, cut or closed; null without an answer"),
    terminal: z.boolean(),
    lacks_usage: z.literal(true).describe("the usage that the request asks for did not come").exactOptional(),
    reason: text.nullable().describe("reason for dropping the exchange"),
    secrets: z.array(text).exactOptional(),
    file: text.exactOptional(),
  }),
  ...played,
  skipped,
  turnedAway,
  error,
  z.object({
    type: z.literal("record.ended"),
    out: text,
    ...SUMMARY,
    turned_away: count,
    played: count.describe("with --missing").exactOptional(),
    missed: count.describe("with --missing").exactOptional(),
    error_answers: count.describe("with --missing").exactOptional(),
    tests: z.array(z.object({ test: text, ...SUMMARY })).exactOptional(),
    exit_code: exitCode,
  }),
]);

/** The document of `record --dry-run`. */
export const recordDryRun = dryRun({
  upstreams: z.array(text),
  out: text,
  port: z.int(),
  before: count,
  tests: count.exactOptional(),
  sends: z.boolean().exactOptional(),
  command: z.array(text).nullable(),
});

/** One line of `test --json`. */
export const testEvent = z.union([
  z.object({ type: z.literal("test.started"), tests: count }),
  z.object({
    type: z.literal("test"),
    dir: text,
    note: text.nullable(),
    passed: z.boolean(),
    seconds: z.number(),
    divergences: z.array(z.object({
      kind: text.describe("exit, state, request, turn, …"),
      where: text,
      message: text,
      path: text.exactOptional(),
      expected: text.exactOptional(),
      received: text.exactOptional(),
      said: text.exactOptional(),
    })),
    updated: z.array(text),
    removed: z.array(text),
    error: error.nullable().describe("why it could not be played"),
  }),
  error,
  z.object({
    type: z.literal("test.ended"),
    passed: count,
    failed: count,
    skipped: z.array(text).describe("tests that were not played"),
  }),
]);
