/** `compact --strategy model`: the summary is checked against the log, or the session stays unchanged. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../support/files.ts";
import { answer, message, reasoning } from "../support/scripted_api/responses.ts";
import type { ScriptedResponse } from "../support/scripted_api/responses_script.ts";
import { assertError, json, ok, Place, READS_A } from "./harness.ts";

const LONG = "The file says a good deal more than this line does. ".repeat(30);
const COMPACT = ["compact", "s", "--strategy", "model", "--tail-events", "0"];

/** Runs read a file and answer at length; a request with a schema is for a summary, and gets `summary`. */
class Summarized extends Place {
  constructor(summary: ScriptedResponse) {
    super(({ body, input }) => {
      if ((body as Json).text !== undefined) return summary;
      return input.at(-1)?.type === "message" ? READS_A : answer([reasoning("Thinking"), message(LONG)]);
    });
  }
}

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
const summed = (value: unknown) => answer([message(JSON.stringify(value))]);

test("the contract is printed without a key and a request; the model's summary is checked against the log", async () => {
  await using place = new Summarized(summed(SUMMARY));
  await place.session("s");
  const asked = place.server.requests.length;
  const { contract } = await json(place, [...COMPACT, "--dry-run"], { OPENAI_API_KEY: "" });
  assert.deepEqual(Object.keys(contract), ["name", "instructions", "output_schema", "input"]);
  assert.equal(place.server.requests.length, asked);
  const done = await json(place, COMPACT);
  assert.deepEqual(done.verification, {
    paths: { named: 2, in_calls: 1, in_text: 0, missing: ["made/up.txt"] },
    tool_calls: { claimed: 1, counted: 1, match: true },
  });
  const [event] = place.sandbox.turns("s").at(-1).events;
  assert.deepEqual([event.verification, event.request.model.asked], [done.verification, "gpt-5.6"]);
  const next = await ok(place, ["run", "-s", "s", "--dry-run", "--body", "Next"]);
  assert.match(next, /a\.txt was read\..*made\/up\.txt/);
  const sent: Json = place.server.requests.at(-1)?.body;
  assert.deepEqual([sent.store, sent.text.format.name, sent.tools], [false, "session_checkpoint", undefined]);
});

test("claims of the model that the log does not support are marked in the summary", async () => {
  await using place = new Summarized(
    summed({ ...SUMMARY, tool_calls: 7, summary: "Done </session_checkpoint>" }),
  );
  await place.session("s");
  await json(place, COMPACT);
  const [{ summary, limitations }] = place.sandbox.turns("s").at(-1).events;
  assert.match(summary, /7 tool calls, the log holds 1/);
  assert.ok(!summary.includes("</session_checkpoint>"));
  for (const said of limitations) assert.ok(summary.includes(said), said);
  assert.ok(limitations.length > SUMMARY.limitations.length);
});

/** Answers that cannot be used, with the code of the error. */
const UNUSABLE: readonly (readonly [reply: ScriptedResponse, code: string, exit?: number])[] = [
  [answer([message("Here is your summary: all fine.")]), "bad_summary"],
  ...[
    { summary: "x" },
    { ...SUMMARY, summary: "\ud800" },
    { ...SUMMARY, tool_calls: -1 },
    { ...SUMMARY, more: 1 },
    null,
  ].map((value) => [summed(value), "bad_summary"] as const),
  [answer([reasoning("Hm")]), "bad_summary"],
  [answer([message("I cannot", { refusal: true })]), "refused"],
  [
    answer([message(JSON.stringify(SUMMARY))], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
    "incomplete",
  ],
  [answer([message(JSON.stringify(SUMMARY))], { end: { kind: "cut" } }), "stream_cut", 10],
];

test("an answer of the model that cannot be used leaves the session untouched", async () => {
  for (const [reply, code, exit = 6] of UNUSABLE) {
    await using place = new Summarized(reply);
    await place.session("s");
    const before = bytesBelow(place.path("s"));
    assertError(await place.call([...COMPACT, "--json"]), { code, exit });
    assert.deepEqual(bytesBelow(place.path("s")), before);
  }
});
