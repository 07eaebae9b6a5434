/** The documents of the verbs of `fixture`. */
import * as z from "zod";
import type { ProviderKind } from "../domain/fingerprint.ts";
import {
  counts,
  countType,
  doneOrDry,
  exitCode,
  known,
  objectType,
  ordinalType,
  type Printed,
  sha256Type,
  textType,
  time,
} from "./parts.ts";

const recording = z.object({
  created: time,
  producer: textType.nullable(),
  exchanges: z.tuple([countType, countType]).describe("numbers of its first and last exchange"),
});
export type ListedRecording = Printed<typeof recording>;

const listedFixture = z.object({
  path: textType,
  provider: known<ProviderKind>().nullable().describe("null if fixture.json cannot be read"),
  models: z.array(textType),
  exchanges: countType,
  created: time.nullable().describe("start of the oldest recording; null as the provider"),
  recordings: z.array(recording),
  age_days: z.int().nullable().describe("whole days since created; null if unknown"),
  bytes: countType,
  sealed: z.boolean().describe("true if every file has the sum in fixture.json"),
  problem: textType.nullable().describe("reason why it cannot be read"),
});
export type ListedFixture = Printed<typeof listedFixture>;

export const fixtureLs = z.object({ fixtures: z.array(listedFixture) });

const timelineItem = z.object({ type: textType, role: textType.nullable(), text: textType.nullable() });
export type TimelineItem = Printed<typeof timelineItem>;
const time_ms = z.number().describe("milliseconds");

const socket = z.object({
  connection: ordinalType,
  lane: textType.nullable().describe("stream_id of the message"),
  type: textType.nullable().describe("type of the message"),
  warm_up: z.boolean().describe("the request only prepares the next one"),
  previous_response_id: textType.nullable(),
  continues: ordinalType.nullable().describe("exchange with that response"),
  message_bytes: countType,
  messages: countType.describe("number of the server's messages"),
  close: z.object({ code: countType, reason: textType }).nullable(),
});
export type TimelineSocket = Printed<typeof socket>;

const timelineEvent = z.object({
  at_ms: time_ms.describe("milliseconds after the request was sent"),
  offset: countType,
  kind: textType,
  count: countType.describe("number of events"),
  item: countType.nullable(),
  about: textType.nullable(),
  text: textType.nullable(),
});
/** An event of an answer, or several of a kind that belong together. */
export type TimelineEvent = Printed<typeof timelineEvent>;

const exchange = z.object({
  number: ordinalType,
  socket: socket.nullable().describe(
    "connection of an exchange over a WebSocket; the rest is its HTTP equivalent",
  ),
  request: z.object({
    method: textType,
    path: textType,
    at_ms: time_ms.describe("milliseconds since the recording began"),
    model: textType.nullable(),
    items: z.array(timelineItem),
    body_sha256: sha256Type.nullable(),
  }),
  response: z.object({
    status: z.int(),
    content_type: textType,
    bytes: countType,
    chunks: countType,
    output: z.array(timelineItem),
    error: textType.nullable(),
    ended: textType.describe("complete, cut or closed"),
    fault: textType.nullable(),
    terminal: z.boolean().describe("false if the stream is known to lack its terminal event"),
  }),
  events: z.array(timelineEvent),
  usage: objectType.nullable(),
});
export type ExchangeTimeline = Printed<typeof exchange>;

export const fixtureShow = z.object({
  path: textType,
  provider: textType,
  base_url: textType,
  models: z.array(textType),
  created: time,
  note: textType.nullable(),
  recordings: z.array(recording),
  exchanges: z.array(exchange),
});

const severity = z.enum(["error", "warning", "info"]);

const lintFinding = z.object({ severity, code: textType, path: textType, message: textType });
export type LintFinding = Printed<typeof lintFinding>;

const lintReport = z.object({
  path: textType,
  exchanges: countType,
  steps: countType.nullable().describe("steps of its session.json"),
  findings: z.array(lintFinding),
});
export type LintReport = Printed<typeof lintReport>;

export const fixtureLint = z.object({ ok: z.boolean(), exit_code: exitCode, fixtures: z.array(lintReport) });

const redactedFile = z.object({ path: textType, redactions: counts, held: z.array(textType) });
export type RedactedFile = Printed<typeof redactedFile>;

export const fixtureRedact = doneOrDry({
  path: textType,
  files: z.array(redactedFile),
  session_test: textType.nullable().describe("session test that needs an update"),
});

const refitted = z.object({ path: textType, why: textType });
/** A file that was changed to fit the edited ones. */
export type Refitted = Printed<typeof refitted>;

const mergeReport = z.object({
  sides: z.array(z.object({ name: textType, exchanges: countType }))
    .describe("each with the number of exchanges that only it has; none for a file without markers"),
  left_out: z.array(textType).describe("folders of exchanges that a side lists, and the merge removed"),
  notes: z.array(textType).describe("facts about the result, in words"),
});
export type MergeReport = Printed<typeof mergeReport>;

export const fixtureSealDocument = doneOrDry({
  path: textType,
  added: z.array(textType),
  changed: z.array(textType),
  removed: z.array(textType),
  refitted: z.array(refitted),
  merged: mergeReport.nullable().describe("null if no merge was unfinished"),
});

const importedExchange = z.object({
  number: ordinalType,
  method: textType,
  path: textType,
  status: z.int(),
  bytes: countType,
  terminal: z.boolean(),
});
export type ImportedExchange = Printed<typeof importedExchange>;

export const fixtureImport = doneOrDry({
  imported: z.array(z.object({
    file: textType,
    format: textType,
    fixtures: z.array(z.object({
      path: textType,
      provider: textType,
      base_url: textType,
      models: z.array(textType),
      created: time,
      redactions: counts,
      exchanges: z.array(importedExchange),
    })),
    lost: z.array(z.object({ what: textType, why: textType, exchanges: z.array(ordinalType) })),
    skipped: z.array(textType).describe("entries of the file that cannot become an exchange"),
  })),
  refused: z.array(z.object({ file: textType, code: textType, message: textType, hint: textType.nullable() }))
    .describe("recordings of a folder; a single one that is refused is an error"),
  ignored: countType.describe("files of a folder with other names than recordings have"),
  exit_code: exitCode,
});

const numbers = z.object({ a: z.array(ordinalType), b: z.array(ordinalType) });
export type Numbers = Printed<typeof numbers>;

const verdict = z.enum(["identical", "benign", "breaking", "different_conversation"]);
export type DiffVerdict = Printed<typeof verdict>;

const requestDifference = z.object({ where: textType, before: textType, after: textType });
export type RequestDifference = Printed<typeof requestDifference>;

const answerChange = z.object({
  kind: z.enum(["outcome", "removed", "changed", "added", "text"]),
  where: textType.describe("JSON path with indices generalised, or a place such as message 2"),
  in: z.array(textType).describe("kinds of events that have it"),
  before: textType.nullable(),
  after: textType.nullable(),
});
export type AnswerChange = Printed<typeof answerChange>;

const exchangeDiff = z.object({
  a: ordinalType,
  b: ordinalType,
  verdict,
  request: z.array(requestDifference)
    .describe("differences between the requests; if there are any, the answers are not compared"),
  request_known: z.boolean().describe("false if a request was not recorded: taken for the same"),
  changes: z.array(answerChange),
});
export type ExchangeDiff = Printed<typeof exchangeDiff>;

const diff = z.object({
  verdict,
  pairs: z.array(exchangeDiff),
  only: numbers.describe("exchanges that the other recording does not have"),
  retries: numbers.describe("failed exchanges whose request was sent again, in one recording only"),
});
export type FixtureDiff = Printed<typeof diff>;

export const fixtureDiff = z.object({ exit_code: exitCode, a: textType, b: textType, ...diff.shape });

const neededIssuer = z.object({
  number: ordinalType,
  needed_by: ordinalType,
  reason: z.enum(["blob", "continued"]),
});
/** An exchange that stays because a used one needs what it issued. */
export type NeededIssuer = Printed<typeof neededIssuer>;

const untouched = z.object({ path: textType, reason: z.enum(["unopened", "not_listed", "session_test"]) });
export type UntouchedFixture = Printed<typeof untouched>;

export const fixturePrune = doneOrDry({
  path: textType,
  fixtures: z.array(z.object({
    path: textType,
    exchanges: countType,
    removed: z.array(z.object({ number: ordinalType, prompt: textType })),
    needed_issuers: z.array(neededIssuer),
  })),
  removed_fixtures: z.array(z.object({ path: textType, exchanges: countType })),
  left_alone: z.array(untouched),
});
