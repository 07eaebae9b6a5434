import assert from "node:assert/strict";
import * as fc from "fast-check";
import { hasExactMember, objectOf, parseExact, withMembers } from "../../../src/domain/exact_json.ts";
import { isRawNumber } from "../../../src/domain/json.ts";
import { isJsonObject, type JsonObject, numberMember } from "../../../src/domain/json.ts";
import { wellFormedValue } from "../../../src/domain/exact_json.ts";
import { jsonText, spaced } from "../../support/json_texts.ts";
import { test } from "../../support/test.ts";

const AWKWARD = '{"b":1.0,"10":[-0,1e5,{"2":null,"a":true,"1":false}],"a":12345678901234567890,"2":"x"}';

test.long("a JSON text is written as it was read, whatever its numbers and names", () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      assert.equal(JSON.stringify(parseExact(text)), text);
      assert.equal(JSON.stringify(parseExact(spaced(text))), text);
      assert.equal(JSON.stringify(wellFormedValue(parseExact(text))), text);
    }),
    { seed: 3, numRuns: 2000 },
  );
});

test.long("a JSON text that JavaScript can hold is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const written = JSON.stringify(JSON.parse(text));
      assert.deepEqual(parseExact(written), JSON.parse(written));
      const numbers: unknown[] = [];
      JSON.stringify(parseExact(written), (_, value) => (numbers.push(value), value));
      assert.ok(!numbers.some(isRawNumber));
    }),
    { seed: 5, numRuns: 1000 },
  );
});

Deno.test("a name with an escape is read as it is written, whatever names were read before", () => {
  // JSON.parse of V8 reads the second text of each pair with the name of the first.
  const pairs = [
    ['{"p":1,"\\\\":1}', '{"p":1,"\\n":1}'],
    ['{"q":1,"a\\\\":1}', '{"q":1,"a\\n":1}'],
    ['{"r":[{"a":1,"\\\\nx":1}]}', '{"r":[{"a":1, "\\nxy":1}]}'],
    ['{"s":1,"\\\\":{"\\\\":2}}', '{"s":1,"\\"":{"\\t":2}}'],
    ['{"a":1,"\\\\u":1}', '{"a":1,"\\u00e9e":1}'],
  ] as const;
  for (const [first, second] of pairs) {
    assert.equal(JSON.stringify(parseExact(first)), first);
    assert.deepEqual(JSON.stringify(parseExact(second)), second.replace("\\u00e9", "é").replace(", ", ","));
  }
});

Deno.test("the content of an exact value can be read like any other", () => {
  const value = parseExact(AWKWARD) as JsonObject;
  assert.ok(isJsonObject(value) && isRawNumber(value.b) && !isRawNumber(value));
  assert.deepEqual([numberMember(value, "b"), numberMember(value, "a"), value["2"]], [
    1,
    12345678901234567000,
    "x",
  ]);
  assert.deepEqual(Object.keys(value), ["b", "10", "a", "2"]);
  assert.equal(JSON.stringify(value), AWKWARD);
});

test.long("a member that is said to be exact has the spelling of its text, wherever its name occurs as well", () => {
  const name = fc.constantFrom('"usage"', '"us\\u0061ge"', '"usage" ', '"x\\"usage"', '"other"');
  const value = fc.oneof(
    fc.constantFrom(
      '{"a":1}',
      '{"a":1.0}',
      '{"a": 1}',
      '{"1":1,"0":2}',
      '{"usage":{"a":1}}',
      '"usage"',
      "{}",
    ),
    jsonText,
  );
  let exact = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 3 }), name, value, (others, own, source) => {
      const members = others.map((pair) => pair.join(":"));
      const head = `{"response":{${[...members, `${own}:${source}`].join(",")}}`;
      for (const whole of [`${head},${own}:1}`, `${head}}`]) {
        const { response } = JSON.parse(whole);
        if (!isJsonObject(response.usage) || !hasExactMember(whole, "usage", response.usage)) continue;
        exact++;
        const { response: read } = parseExact(whole) as { response: JsonObject };
        assert.equal(JSON.stringify(response.usage), JSON.stringify(read.usage));
      }
    }),
    { seed: 7, numRuns: 3000 },
  );
  assert.ok(exact > 50, `${exact} exact members`);
});

Deno.test("members are put together in their order", () => {
  const value = parseExact('{"b":1,"2":2}') as JsonObject;
  assert.equal(JSON.stringify(withMembers(value, { c: 3, "2": 4 })), '{"b":1,"2":4,"c":3}');
  assert.equal(JSON.stringify(objectOf([["1", 1], ["a", 2], ["0", 3], ["1", 4]])), '{"1":4,"a":2,"0":3}');
});

test.long("a text that is not JSON is refused, and deep nesting is no danger", () => {
  for (const text of ["", "1.0.", "{1:1.0}", "[1.0", '{"a":01}']) {
    assert.throws(() => parseExact(text), SyntaxError);
  }
  const deep = parseExact(`${"[".repeat(200_000)}1.0${"]".repeat(200_000)}`);
  assert.ok(Array.isArray(deep));
});

test.long("a text of many megabytes is scanned without recursion", () => {
  const blob = 'a\\"1.0,'.repeat(2_000_000);
  const value = parseExact(`{"data":"${blob}","n":1.0}`) as JsonObject;
  assert.equal(String(value.data).length, 7 * 2_000_000 - 2_000_000);
  assert.equal(JSON.stringify(value.n), "1.0");
});
