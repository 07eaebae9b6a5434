/** Members of a request, by flag, and the output of `input`, `explain` and `--dry-run` about it. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message } from "../support/responses_server.ts";
import { events } from "../support/reprise.ts";
import { assertError, HELLO, Place, readsThenAnswers } from "./harness.ts";

const RUN = ["run", "--json", "--new", "-s", "s", "Hi"];

/** The body of request `number`. */
function body(place: Place, number: number): JsonObject {
  return place.server.requests[number - 1]?.body as JsonObject;
}

function reasoningSent(place: Place, number: number): number {
  return place.server.requests[number - 1]?.input.filter(({ type }) => type === "reasoning").length ?? 0;
}

test("the request is shaped by flags, then what the session has, then the environment: effort and summary", async () => {
  await using place = new Place(() => HELLO);
  const env = { REPRISE_EFFORT: "low", REPRISE_SUMMARY: "detailed" };
  assert.equal((await place.call(RUN, { env })).code, 0);
  assert.deepEqual(body(place, 1).reasoning, { effort: "low", summary: "detailed" });
  const flags = ["--effort", "high", "--summary", "auto"];
  assert.equal((await place.call(["run", "--json", "-c", "Hi", ...flags], { env })).code, 0);
  assert.deepEqual(body(place, 2).reasoning, { effort: "high", summary: "auto" });
  assert.equal((await place.call(["run", "--json", "-c", "Hi"])).code, 0);
  assert.deepEqual(body(place, 3).reasoning, { effort: "high", summary: "auto" });
});

test("the request is shaped by flags, then what the session has, then the environment: instructions come from a text or a file, and a session keeps them", async () => {
  await using place = new Place(() => HELLO);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/rules.md`, "Answer in rhymes.\n");
  const instructed = async (args: readonly string[]) => {
    const called = await place.call(["run", "--json", ...args, "Hi"]);
    assert.equal(called.code, 0, called.stdout);
    const started = events(called).find((event) => event.type === "run.started");
    return [body(place, place.server.requests.length).instructions, started?.drift.map(({ pin }) => pin)];
  };
  const rhymes = "Answer in rhymes.\n";
  assert.deepEqual(await instructed(["--new", "-s", "s", "--instructions", "@rules.md"]), [rhymes, []]);
  Deno.removeSync(`${place.sandbox.workspace}/rules.md`);
  assert.deepEqual(await instructed(["-s", "s"]), [rhymes, []]);
  assert.deepEqual(await instructed(["-s", "s", "--instructions", "Be brief."]), [
    "Be brief.",
    ["instructions"],
  ]);
  assert.deepEqual(await instructed(["-s", "s"]), ["Be brief.", []]);
});

test("the request is shaped by flags, then what the session has, then the environment: --output-schema names the shape of the answer", async () => {
  await using place = new Place(() => answer([message("{}")]));
  const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
  Deno.writeTextFileSync(`${place.sandbox.workspace}/plain.json`, JSON.stringify(schema));
  const named = { name: "verdict", schema, strict: true };
  Deno.writeTextFileSync(`${place.sandbox.workspace}/named.json`, JSON.stringify(named));
  for (const file of ["plain.json", "named.json"]) {
    assert.equal((await place.call(["run", "--json", "--output-schema", file, "Hi"])).code, 0);
  }
  const text = { format: { type: "json_schema", name: "answer", schema, strict: true } };
  assert.deepEqual(body(place, 1).text, text);
  assert.deepEqual(body(place, 2).text, { format: { ...text.format, name: "verdict" } });
});

test("the request is shaped by flags, then what the session has, then the environment: -o is the answer alone, written only when the run completes", async () => {
  await using place = new Place([HELLO, answer([message("Half")], { end: { kind: "cut" } })]);
  const path = `${place.sandbox.workspace}/answer.txt`;
  assert.equal((await place.call([...RUN, "-o", "answer.txt"])).code, 0);
  assert.equal(Deno.readTextFileSync(path), "Hello.");
  assert.equal((await place.call(["run", "--json", "-c", "Hi", "-o", "answer.txt"])).code, 10);
  assert.equal(Deno.readTextFileSync(path), "Hello.");
});

test("reasoning goes back where it fits, and explain says why not where it does not: another model, another base URL, and where replay is off", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const explained = async (...flags: readonly string[]) => {
    const { next, reasoning: items } = JSON.parse(
      (await place.call(["explain", "s", "--json", ...flags])).stdout,
    );
    return [next.fingerprint, ...items.map(({ sent, reason }: JsonObject) => sent || reason)];
  };
  const [fingerprint, ...sent] = await explained();
  assert.match(fingerprint, /^openai:gpt-5\.6:/);
  assert.deepEqual(sent, [true, true]);
  for (
    const [flags, reason] of [
      [["-m", "gpt-5.6-mini"], "other_model"],
      [["--base-url", `${place.server.baseUrl}/other`], "other_endpoint"],
      [["--replay", "none"], "replay_off"],
    ] as const
  ) assert.deepEqual((await explained(...flags)).slice(1), [reason, reason]);

  const called = await place.call(["run", "--json", "-s", "s", "-m", "gpt-5.6-mini", "And now?"]);
  assert.equal(called.code, 0, called.stdout);
  assert.equal(reasoningSent(place, 3), 0);
  const notice = events(called).find((event) => event.type === "notice" && event.kind === "replay_dropped");
  assert.deepEqual((notice as unknown as { items: JsonObject[] }).items.map((item) => item.reason), [
    "other_model",
    "other_model",
  ]);
  assert.match(
    (await place.call(["explain", "s", "-m", "gpt-5.6"])).stdout,
    /Reasoning: 2 sent, 2 left out/,
  );
  assert.deepEqual(place.server.refusals, []);
});

test("--dry-run says what would happen, and changes and sends nothing: for a new session", async () => {
  await using place = new Place([]);
  const called = await place.call(["run", "--dry-run", "--json", "Hi"]);
  assert.equal(called.code, 0, called.stdout);
  const said = JSON.parse(called.stdout);
  assert.deepEqual([said.new, said.run, said.continues, said.items], [true, 1, false, 1]);
  assert.equal(said.url, `${place.server.baseUrl}/responses`);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  assert.equal(place.server.requests.length, 0);
});

test("--dry-run says what would happen, and changes and sends nothing: for the next run of a session, with the checksum of the exact bytes", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const before = place.sandbox.turnNames("s");
  const called = await place.call(["run", "--dry-run", "--json", "-s", "s", "And now?"]);
  const said = JSON.parse(called.stdout);
  assert.deepEqual([said.session, said.new, said.run, said.reasoning_sent], ["s", false, 2, 2]);
  assert.deepEqual(place.sandbox.turnNames("s"), before);
  assert.equal(place.server.requests.length, 2);
  await place.call(["run", "--json", "-s", "s", "And now?"]);
  const sent = place.sandbox.turns("s").filter(({ kind }) => kind === "model")[2];
  assert.equal(said.body_sha256, sent.request.body_sha256);
});

test("--dry-run says what would happen, and changes and sends nothing: it needs no key, and refuses what a run would refuse", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const env = { OPENAI_API_KEY: "" };
  assert.equal((await place.call(["run", "--dry-run", "Hi"], { env })).code, 0);
  const done = await place.call(["run", "--dry-run", "--json", "-s", "s"], { env });
  assertError(done, { code: "nothing_to_continue", exit: 2 });
  const taken = await place.call(["run", "--dry-run", "--json", "--new", "-s", "s", "Hi"], { env });
  assertError(taken, { code: "session_exists", exit: 2 });
  const bad = await place.call(["run", "--dry-run", "--json", "--new", "-s", "../s", "Hi"], { env });
  assertError(bad, { code: "bad_session_id", exit: 2 });
});
