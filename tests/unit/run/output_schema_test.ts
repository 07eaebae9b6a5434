import assert from "node:assert/strict";
import type { JsonValue } from "../../../src/domain/json.ts";
import { answerCheck, correctionText } from "../../../src/run/output_schema.ts";

async function errorsOf(schema: JsonValue, answer: unknown): Promise<readonly string[]> {
  return (await answerCheck(schema))(typeof answer === "string" ? answer : JSON.stringify(answer));
}

Deno.test("errors name the place in the answer, and leave out those that only enclose others", async () => {
  const schema = {
    type: "object",
    properties: { list: { type: "array", items: { $ref: "#/$defs/n" } } },
    $defs: { n: { type: "integer", maximum: 3 } },
  };
  assert.deepEqual(await errorsOf(schema, { list: [1, 3] }), []);
  const errors = await errorsOf(schema, { list: [1, 4, "x"] });
  assert.deepEqual(errors.map((line) => line.split(": ")[0]), ["#/list/1", "#/list/2"]);
});

Deno.test("an answer is one JSON value and nothing else", async () => {
  for (const text of ["", "```json\n{}\n```", "{} and more", "{'a':1}"]) {
    assert.deepEqual(await errorsOf({}, text), ["the answer is not JSON"], text);
  }
  assert.deepEqual(await errorsOf({}, " {} \n"), []);
});

Deno.test("names of JavaScript's own objects are members like any other", async () => {
  for (const name of ["toString", "constructor", "__proto__"]) {
    assert.equal((await errorsOf({ type: "object", required: [name] }, "{}")).length, 1, name);
    assert.deepEqual(await errorsOf({ type: "object", required: [name] }, `{"${name}":1}`), [], name);
  }
});

Deno.test("errors are limited in number and length, and are well-formed lines", async () => {
  const long = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`${"é\n".repeat(300)}${index}`, 1]),
  );
  const errors = await errorsOf({ type: "object", additionalProperties: { type: "string" } }, long);
  assert.ok(errors.length === 21 && /^and \d+ more$/.test(errors[20] ?? ""), String(errors.length));
  assert.ok(errors.every((line) => line.length <= 301 && !line.includes("\n") && line.isWellFormed()));
  assert.equal(correctionText(errors).split("\n").length, 23);
});

Deno.test("the schema that is sent stays unchanged", async () => {
  const schema = { $ref: "#/$defs/a", $defs: { a: { type: "integer" } } };
  const before = JSON.stringify(schema);
  await errorsOf(schema, 1);
  assert.deepEqual([JSON.stringify(schema), Object.getOwnPropertyNames(schema)], [before, ["$ref", "$defs"]]);
});

Deno.test("an answer that nests too deep is an error of the answer", async () => {
  const tree = { type: "array", items: { $ref: "#" } };
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const [error = ""] = await errorsOf(tree, deep);
  assert.match(error, /cannot be checked|not JSON/);
});
