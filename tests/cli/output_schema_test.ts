/** Answers that must fit a schema: checked, corrected once, and otherwise not passed on. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, message, reasoning } from "../support/scripted_api/responses.ts";
import { ending, events } from "../support/reprise.ts";
import { assertError, ok, Place } from "./harness.ts";

const SCHEMA = {
  type: "object",
  required: ["name", "age"],
  properties: { name: { type: "string" }, age: { $ref: "#/$defs/years" } },
  additionalProperties: false,
  $defs: { years: { type: "integer", minimum: 0 } },
};
const GOOD = '{"name":"Ada","age":36}';
const PROSE = "Ada was 36 years old.";
const RUN = ["run", "--new", "-s", "s", "--output-schema", "schema.json", "-o", "out.json"];

/** A place whose server gives these answers, one a request, with a schema in its workspace. */
function answering(...texts: readonly string[]): Place {
  const place = new Place(texts.map((text) => answer([reasoning("Thinking"), message(text)])));
  Deno.writeTextFileSync(`${place.sandbox.workspace}/schema.json`, JSON.stringify(SCHEMA));
  return place;
}

/** Content of `-o` at a place, and the number of requests that were sent. */
function after(place: Place): readonly [string | undefined, number] {
  const path = `${place.sandbox.workspace}/out.json`;
  const isThere = [...Deno.readDirSync(place.sandbox.workspace)].some(({ name }) => name === "out.json");
  return [isThere ? Deno.readTextFileSync(path) : undefined, place.server.requests.length];
}

test("an answer that does not fit is recorded and sent back once, with its errors, inside the same run", async () => {
  await using place = answering(PROSE, GOOD);
  const called = await place.call([...RUN, "--json", "Who?"]);
  const { state, text, run } = ending(called);
  assert.deepEqual([called.code, state, text, run, ...after(place)], [0, "completed", GOOD, 1, GOOD, 2]);
  const turns = place.sandbox.turns("s");
  assert.deepEqual(turns.map(({ kind }) => kind), ["user", "model", "harness", "model", "harness"]);
  assert.match(JSON.stringify(turns[1].events), /Ada was 36/);
  const correction = turns[2].events[0].content[0].text;
  assert.match(correction, /does not fit the JSON schema.*\n- the answer is not JSON\n/);
  const sent: Json = place.server.requests.at(-1)?.body;
  const roles = sent.input.map(({ type, role }: Json) => role ?? type);
  assert.deepEqual(roles, ["user", "reasoning", "assistant", "user"]);
  assert.equal(sent.text.format.type, "json_schema");
  const notice = (events(called) as Json[]).find(({ kind }) => kind === "schema_mismatch");
  assert.deepEqual([notice.errors, notice.corrected], [["the answer is not JSON"], true]);
  await ok(place, ["fsck", "s", "--requests"]);
});

test("two answers that do not fit end the run as incomplete with exit 6; stdout and -o stay empty", async () => {
  const wrong = '{"name":7,"age":-1,"more":1}';
  await using place = answering(PROSE, wrong, PROSE, wrong);
  const called = await place.call([...RUN, "--json", "Who?"]);
  assert.deepEqual(after(place), [undefined, 2]);
  const error = assertError(called, { code: "schema_mismatch", exit: 6, hint: /reprise show s/ }) as Json;
  assert.equal(error.details.reason, "schema_mismatch");
  for (const place of ["#/name: ", "#/age: ", '#: Property "more"']) {
    assert.ok(error.details.errors.some((line: string) => line.startsWith(place)), place);
  }
  const { state, reason, text } = ending(called);
  assert.deepEqual([state, reason, text], ["incomplete", "schema_mismatch", ""]);
  assert.match(JSON.stringify(place.sandbox.turns("s")), /Ada was 36.*\\"more\\":1/);
  const again = await place.call(["run", "-s", "s", ...RUN.slice(4), "Who?"]);
  assert.deepEqual([again.code, again.stdout], [6, ""]);
  assert.match(
    again.stderr,
    /error: The answer does not fit the output schema, nor did the one before it: #/,
  );
});

test("a correction is a step of the run, and counts against its budgets", async () => {
  await using place = answering(PROSE, GOOD);
  const called = await place.call([...RUN, "--json", "--max-steps", "1", "Who?"]);
  assertError(called, { code: "over_budget", exit: 4 });
  assert.deepEqual([ending(called).text, ...after(place)], ["", undefined, 1]);
  assert.equal(await ok(place, ["run", "-s", "s", "--output-schema", "schema.json"]), `${GOOD}\n`);
});

test("a schema that cannot be checked is refused before the first request", async () => {
  await using place = answering(GOOD);
  for (
    const [schema, says] of [
      [{ $ref: "https://example.com/person.json" }, /refers to "https:\/\/example\.com\/person\.json"/],
      [{ $ref: "#" }, /no end/],
      [{ type: "strin" }, /"strin" is no type/],
      [{ pattern: "(" }, /Invalid regular expression/],
      [{ $dynamicRef: "#node" }, /\$dynamicRef is not supported/],
    ] as const
  ) {
    Deno.writeTextFileSync(`${place.sandbox.workspace}/schema.json`, JSON.stringify(schema));
    assertError(await place.call([...RUN, "--json", "Who?"]), { code: "usage", exit: 2, says });
  }
  assert.deepEqual(after(place), [undefined, 0]);
});
