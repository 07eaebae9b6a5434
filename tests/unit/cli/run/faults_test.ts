/** The outcome of a run for each fault in the answer to its request, from either API. */
import assert from "node:assert/strict";
import { type Fault, FAULT_FORMS, parseFault } from "../../../../src/fixture/faults/fault.ts";
import { says, text } from "../../../support/messages_server/script.ts";
import { type GivenRun, type PlayedRun, PlayedSession } from "../../../support/played_session.ts";
import { answer, message } from "../../../support/responses_server.ts";
import { test } from "../../../support/test.ts";

/** More than one byte a character, for `cut mid-utf8`. */
const ANSWERS = {
  responses: { answers: [answer([message("Grüß dich.")])] },
  messages: { says: [says([text("Grüß dich.")])] },
} as const satisfies Readonly<Record<string, GivenRun>>;
type ApiName = keyof typeof ANSWERS;
const BOTH: readonly ApiName[] = ["responses", "messages"];

interface Expected {
  readonly exit: number;
  readonly state: string;
  readonly code: string;
  /** `response.status` of the model turn; `null` without such a turn: nothing of the answer was usable. */
  readonly kept: string | null;
}

/** Faults after which the run ends with an error. */
const BREAKING: readonly (readonly [fault: string, Expected, messages?: Partial<Expected>])[] = [
  ["cut after 3 events", cut(null), { kept: "cut" }],
  ["cut after 120 bytes", cut(null)],
  ["cut mid-line", cut(null), { kept: "cut" }],
  ["cut mid-utf8", cut(null), { kept: "cut" }],
  ["no terminal event", cut("cut")],
  ["reset after 3 events", cut(null)],
  ["close 1011 after 3 events", cut(null)],
  ["previous_response_not_found", { exit: 13, state: "failed", code: "request_refused", kept: null }],
  ["stall after 2 events for 400s", cut(null)],
  ["error flat", failed(10, "provider_failed")],
  ["error nested insufficient_quota", failed(9, "quota_exhausted")],
  ["failed", failed(10, "provider_failed")],
  ["failed context_length_exceeded", failed(11, "context_overflow"), { exit: 10, code: "provider_failed" }],
  ["incomplete", { exit: 6, state: "incomplete", code: "incomplete", kept: "incomplete" }],
  ["incomplete content_filter", { exit: 6, state: "refused", code: "refused", kept: "incomplete" }, {
    kept: "completed",
  }],
  ["html", notAStream()],
  ["content-type application/json", notAStream()],
  ["garbage after 2 events", notAStream()],
];

/** Faults that the run retries. */
const RETRIED = [
  ...["429 retry-after 1", "500", "503 retry-after-ms 900", "529", "fail"],
  // In the stream, before any item.
  ...[
    "error flat after 0 events",
    "error nested after 1 events",
    "error flat rate_limit_exceeded after 1 events",
  ],
];

/** Faults that change nothing about the turns. */
const HARMLESS = [
  "stall after 2 events for 20ms",
  "drip 7 bytes every 1ms",
  "duplicate events",
  "unknown events",
  "comments",
  "keepalives",
  "rotate ids",
  "no event lines",
];

/** Messages blocks have no ids, and Messages events no numbers that would show that a delta came twice. */
const RESPONSES_ONLY: ReadonlySet<string> = new Set(["rotate ids", "duplicate events"]);

for (const [fault, expected, messages] of BREAKING) {
  Deno.test(`"${fault}" ends a run with exit code ${expected.exit}, and keeps what had arrived whole`, async () => {
    for (const api of BOTH) {
      await using session = await PlayedSession.open();
      const { exit, state, code, requests } = await run(session, api, fault);
      const model = session.turns().find((turn) => turn.kind === "model");
      const kept = model?.kind === "model" ? model.response.status : null;
      const wanted = api === "messages" ? { ...expected, ...messages } : expected;
      assert.deepEqual({ exit, state, code, kept }, wanted, api);
      assert.equal(requests.length, 1, "a stream that has begun is not requested again");
      const [ended] = session.events("run_ended");
      assert.deepEqual([ended?.state, ended?.exit_code, ended?.error?.code], [state, exit, code], api);
    }
  });
}

for (const fault of RETRIED) {
  Deno.test(`"${fault}" is retried, and leaves the turns of an answer without fault`, async () => {
    for (const api of BOTH) {
      await using session = await PlayedSession.open();
      const given = ANSWERS[api];
      const twice = "answers" in given
        ? { answers: [...given.answers, ...given.answers] }
        : { says: [...given.says, ...given.says] };
      assertCompleted(await session.run({ ...twice, faults: { 1: fault } }), 2);
      assert.deepEqual(contentOf(session), await plainContent(api), api);
    }
  });
}

for (const fault of HARMLESS) {
  test.long(`"${fault}" changes nothing about the turns of a run`, async () => {
    for (const api of RESPONSES_ONLY.has(fault) ? ["responses"] as const : BOTH) {
      await using session = await PlayedSession.open();
      assertCompleted(await run(session, api, fault), 1);
      assert.deepEqual(contentOf(session), await plainContent(api), api);
    }
  });
}

Deno.test("every form of a fault is played in a run", () => {
  const played = [...BREAKING.map(([fault]) => fault), ...RETRIED, ...HARMLESS].map((text) =>
    kindOf(parseFault(text))
  );
  for (const { form, example } of FAULT_FORMS) assert.ok(played.includes(kindOf(parseFault(example))), form);
});

function cut(kept: string | null): Expected {
  return { exit: 10, state: "failed", code: "stream_cut", kept };
}

function failed(exit: number, code: string): Expected {
  return { exit, state: "failed", code, kept: "failed" };
}

function notAStream(): Expected {
  return { exit: 10, state: "failed", code: "bad_stream", kept: null };
}

function run(session: PlayedSession, api: ApiName, fault: string): Promise<PlayedRun> {
  return session.run({ ...ANSWERS[api], faults: { 1: fault } });
}

function assertCompleted({ exit, state, code, requests }: PlayedRun, asked: number): void {
  assert.deepEqual([exit, state, code, requests.length], [0, "completed", null, asked]);
}

/** The events of a run without ids, which some faults change and a second answer has of its own. */
function contentOf(session: PlayedSession): unknown[] {
  return session.turns().flatMap(({ events }) => events).map((event) =>
    JSON.parse(JSON.stringify(event), (name, value) => name === "id" ? undefined : value)
  );
}

async function plainContent(api: ApiName): Promise<unknown[]> {
  await using session = await PlayedSession.open();
  assertCompleted(await session.run(ANSWERS[api]), 1);
  return contentOf(session);
}

function kindOf(fault: Fault): string {
  const { kind } = fault;
  if (kind === "error") return `${kind} ${fault.shape}`;
  if (kind === "noise") return `${kind} ${fault.noise}`;
  return kind === "status" ? `${kind} ${Object.keys(fault.headers).join()}` : kind;
}
