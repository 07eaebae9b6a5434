/** Answers that must fit a schema: checked, corrected once, and otherwise not passed on. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message, reasoning } from "../support/scripted_api/responses.ts";
import { type ScriptedResponse } from "../support/scripted_api/responses_script.ts";
import { ending, events } from "../support/reprise.ts";
import { assertError, Place } from "./harness.ts";

const SCHEMA = {
  type: "object",
  required: ["name", "age"],
  properties: { name: { type: "string" }, age: { $ref: "#/$defs/years" } },
  additionalProperties: false,
  $defs: { years: { type: "integer", minimum: 0 } },
};
const GOOD = '{"name":"Ada","age":36}';
const PROSE = "Ada was 36 years old.";

/** A place whose server gives these answers, one a request, with a schema in its workspace. */
function answering(...texts: readonly (string | ScriptedResponse)[]): Place {
  const place = new Place(
    texts.map((next) => typeof next === "string" ? answer([reasoning("Thinking"), message(next)]) : next),
  );
  Deno.writeTextFileSync(`${place.sandbox.workspace}/schema.json`, JSON.stringify(SCHEMA));
  return place;
}

const RUN = ["run", "--new", "-s", "s", "--output-schema", "schema.json", "-o", "out.json"];

function written(place: Place): string | null {
  try {
    return Deno.readTextFileSync(`${place.sandbox.workspace}/out.json`);
  } catch {
    return null;
  }
}

test("an answer that fits the schema completes the run at once", async () => {
  await using place = answering(GOOD);
  const { code, stdout } = await place.call([...RUN, "Who?"]);
  assert.deepEqual([code, stdout, written(place)], [0, `${GOOD}\n`, GOOD]);
  assert.equal(place.server.requests.length, 1);
});

test("an answer that does not fit is recorded and sent back once, with its errors, inside the same run", async () => {
  await using place = answering(PROSE, GOOD);
  const called = await place.call([...RUN, "--json", "Who?"]);
  const ended = ending(called);
  assert.deepEqual([called.code, ended.state, ended.text, ended.run], [0, "completed", GOOD, 1]);
  assert.equal(written(place), GOOD);
  const kinds = place.sandbox.turns("s").map(({ kind }: { kind: string }) => kind);
  assert.deepEqual(kinds, ["user", "model", "harness", "model", "harness"]);
  const [, wrong, correction] = place.sandbox.turns("s");
  assert.match(JSON.stringify(wrong.events), /Ada was 36/);
  assert.match(
    correction.events[0].content[0].text,
    /does not fit the JSON schema.*\n- the answer is not JSON\n/,
  );
  const sent = place.server.requests.at(-1)?.body as {
    readonly input: readonly JsonObject[];
    readonly text: JsonObject;
  };
  assert.deepEqual(sent.input.map(({ type, role }) => role ?? type), [
    "user",
    "reasoning",
    "assistant",
    "user",
  ]);
  assert.equal((sent.text.format as JsonObject).type, "json_schema");
  const notice = (events(called) as JsonObject[]).find(({ kind }) => kind === "schema_mismatch");
  assert.deepEqual([notice?.errors, notice?.corrected], [["the answer is not JSON"], true]);
  assert.equal((await place.call(["fsck", "s", "--requests"])).code, 0);
});

test("two answers that do not fit end the run as incomplete with exit 6; stdout and -o stay empty", async () => {
  const wrong = '{"name":7,"age":-1,"more":1}';
  for (const json of [false, true]) {
    await using place = answering(PROSE, wrong, GOOD);
    const called = await place.call([...RUN, ...(json ? ["--json"] : []), "Who?"]);
    assert.deepEqual([called.code, written(place)], [6, null]);
    assert.equal(place.server.requests.length, 2);
    if (!json) {
      assert.equal(called.stdout, "");
      assert.match(
        called.stderr,
        /error: The answer does not fit the output schema, nor did the one before it: #/,
      );
      assert.match(called.stderr, /hint: See both answers with "reprise show s"/);
      continue;
    }
    const error = assertError(called, { code: "schema_mismatch", exit: 6, hint: /reprise show s/ });
    const details = error.details as { readonly reason: string; readonly errors: readonly string[] };
    assert.equal(details.reason, "schema_mismatch");
    for (const place of ["#/name: ", "#/age: ", '#: Property "more"']) {
      assert.ok(details.errors.some((line) => line.startsWith(place)), `${place}: ${details.errors}`);
    }
    const { state, reason, text } = ending(called);
    assert.deepEqual([state, reason, text], ["incomplete", "schema_mismatch", ""]);
    assert.match(JSON.stringify(place.sandbox.turns("s")), /Ada was 36.*\\"more\\":1/);
  }
});

test("a correction is a step of the run, and counts against its budgets", async () => {
  await using place = answering(PROSE, GOOD);
  const called = await place.call([...RUN, "--json", "--max-steps", "1", "Who?"]);
  assertError(called, { code: "over_budget", exit: 4 });
  assert.deepEqual([ending(called).text, written(place), place.server.requests.length], ["", null, 1]);
  const more = await place.call(["run", "-s", "s", "--output-schema", "schema.json"]);
  assert.deepEqual([more.code, more.stdout], [0, `${GOOD}\n`]);
});

test("a schema that cannot be checked is refused before the first request", async () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ $ref: "https://example.com/person.json" }, /refers to "https:\/\/example\.com\/person\.json"/],
    [{ properties: { a: { $ref: "other.json#/a" } } }, /refers to "other\.json#\/a"/],
    [{ $ref: "#" }, /no end/],
    [{ type: "strin" }, /"strin" is no type/],
    [{ pattern: "(" }, /Invalid regular expression/],
    [{ $dynamicRef: "#node" }, /\$dynamicRef is not supported/],
  ];
  await using place = answering(GOOD);
  for (const [schema, says] of cases) {
    Deno.writeTextFileSync(`${place.sandbox.workspace}/schema.json`, JSON.stringify(schema));
    assertError(await place.call([...RUN, "--json", "Who?"]), { code: "usage", exit: 2, says });
  }
  assert.equal(place.server.requests.length, 0);
});
