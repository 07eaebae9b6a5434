/** compact, its --undo and --auto-compact, as a user calls them. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message, reasoning, type RecordedRequest } from "../support/responses_server.ts";
import { functionCall, type ScriptedResponse } from "../support/responses_server/script.ts";
import { assertError, Place } from "./harness.ts";

const LONG = "The file says a good deal more than this line does. ".repeat(30);

/** Runs read a file and answer at length; a request with a schema is for a summary. */
const script = (summary: string) => ({ body, input }: RecordedRequest): ScriptedResponse => {
  if ((body as JsonObject).text !== undefined) return answer([message(summary)]);
  if (input.at(-1)?.type !== "message") return answer([reasoning("Thinking"), message(LONG)]);
  return answer([
    reasoning("Looking"),
    functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
  ]);
};

const SUMMARY = {
  summary: "a.txt was read.",
  decisions: [],
  files_read: ["a.txt", "made/up.txt"],
  files_changed: [],
  open_questions: [],
  next_steps: [],
  tool_calls: 1,
  limitations: ["Only one file was read"],
};

async function inSession(body: (place: Place) => Promise<void>, summary = JSON.stringify(SUMMARY)) {
  await using place = new Place(script(summary));
  await place.session("s");
  await body(place);
}

async function json(place: Place, args: readonly string[]): Promise<JsonObject> {
  const called = await place.call([...args, "--json"]);
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return JSON.parse(called.stdout);
}

/** Every file of the session. */
function files(place: Place): string[] {
  const turns = place.sandbox.turnNames("s").map((_, index) => place.turnPath("s", index + 1));
  return [...turns, `${place.path("s")}/manifest.json`].map((path) => Deno.readTextFileSync(path));
}

async function input(place: Place): Promise<string> {
  return (await place.call(["run", "-s", "s", "--dry-run", "--body", "Next"])).stdout;
}

test("compact: the contract is printed without a key and a request; the model's summary is checked against the log", () =>
  inSession(async (place) => {
    const asked = place.server.requests.length;
    const args = ["compact", "s", "--strategy", "model", "--tail-events", "0", "--dry-run", "--json"];
    const called = await place.call(args, { env: { OPENAI_API_KEY: "" } });
    assert.equal(called.code, 0, called.stdout);
    const { contract } = JSON.parse(called.stdout);
    assert.deepEqual(Object.keys(contract), ["name", "instructions", "output_schema", "input"]);
    assert.match(contract.input[0].text, /^<session_events>/);
    assert.equal(place.server.requests.length, asked);
    const done = await json(place, ["compact", "s", "--strategy", "model", "--tail-events", "0"]);
    assert.deepEqual(done.verification, {
      paths: { named: 2, in_calls: 1, in_text: 0, missing: ["made/up.txt"] },
      tool_calls: { claimed: 1, counted: 1, match: true },
    });
    const [event] = place.sandbox.turns("s").at(-1).events;
    assert.deepEqual(event.verification, done.verification);
    assert.deepEqual(event.request.model.asked, "gpt-5.6");
    assert.match(await input(place), /a\.txt was read\..*made\/up\.txt/);
    const sent = place.server.requests.at(-1)?.body as JsonObject;
    assert.equal(sent.store, false);
    assert.equal((sent.text as { format: JsonObject }).format.name, "session_checkpoint");
    assert.equal(sent.tools, undefined);
  }));

test("an answer of the model that cannot be used leaves the session untouched: no JSON", () =>
  untouched(answer([message("Here is your summary: all fine.")]), "bad_summary", 6));

test("compact: claims of the model that the log does not support are marked in the summary", () =>
  inSession(async (place) => {
    await json(place, ["compact", "s", "--strategy", "model", "--tail-events", "0"]);
    const [event] = place.sandbox.turns("s").at(-1).events;
    assert.match(event.summary, /7 tool calls, the log holds 1/);
    assert.ok(!event.summary.includes("</session_checkpoint>"));
    for (const said of event.limitations) assert.ok(event.summary.includes(said), said);
    assert.ok(event.limitations.length > SUMMARY.limitations.length);
  }, JSON.stringify({ ...SUMMARY, tool_calls: 7, summary: "Done </session_checkpoint>" })));

/** Answers of another shape than the schema asks for. */
const ODD: readonly unknown[] = [
  { summary: "x" },
  { ...SUMMARY, summary: " " },
  { ...SUMMARY, summary: "x".repeat(20_000) },
  { ...SUMMARY, summary: "\ud800" },
  { ...SUMMARY, decisions: "none" },
  { ...SUMMARY, tool_calls: -1 },
  { ...SUMMARY, more: 1 },
  { ...SUMMARY, next_steps: undefined },
  [],
  null,
];

test("an answer of the model that cannot be used leaves the session untouched: another shape", async () => {
  for (const value of ODD) await untouched(answer([message(JSON.stringify(value))]), "bad_summary", 6);
});

test("an answer of the model that cannot be used leaves the session untouched: no message", () =>
  untouched(answer([reasoning("Hm")]), "bad_summary", 6));

test("an answer of the model that cannot be used leaves the session untouched: a refusal", () =>
  untouched(answer([message("I cannot", { refusal: true })]), "refused", 6));

test("an answer of the model that cannot be used leaves the session untouched: cut off", () =>
  untouched(
    answer([message(JSON.stringify(SUMMARY))], {
      end: { kind: "incomplete", reason: "max_output_tokens" },
    }),
    "incomplete",
    6,
  ));

test("an answer of the model that cannot be used leaves the session untouched: a broken stream", () =>
  untouched(answer([message(JSON.stringify(SUMMARY))], { end: { kind: "cut" } }), "stream_cut", 10));

async function untouched(reply: ReturnType<typeof answer>, code: string, exit: number): Promise<void> {
  const runs = script("");
  await using place = new Place((request) =>
    (request.body as JsonObject).text === undefined ? runs(request) : reply
  );
  await place.session("s");
  const before = files(place);
  const args = ["compact", "s", "--json", "--strategy", "model", "--tail-events", "0"];
  assertError(await place.call(args), { code, exit });
  assert.deepEqual(files(place), before);
}

test("a history that does not fit the window: ends with exit 11 and names the command", async () => {
  const overflow = {
    kind: "http",
    status: 400,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      error: {
        message: "Your input exceeds the context window of this model.",
        type: "invalid_request_error",
        code: "context_length_exceeded",
        param: "input",
      },
    }),
  } as const;
  await using place = new Place([overflow]);
  const called = await place.call(["run", "--json", "--new", "-s", "s", "Look"]);
  assertError(called, {
    code: "context_overflow",
    exit: 11,
    hint: /"reprise compact s"; or take it out: "reprise omit s --seq 1"/,
  });
});
