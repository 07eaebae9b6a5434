/** The fast reading of text deltas: the same as that of their JSON, or none. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import { readPlainDelta, TEXT_DELTA } from "../../../../src/apis/responses/plain_delta.ts";
import { readResponsesEvent } from "../../../../src/apis/responses/stream.ts";
import { isJsonObject } from "../../../../src/domain/json.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"', "\\", "\n", "\u2028", "\ud800", "", '","output_index":7,"delta":"'),
);
const count = fc.oneof(
  fc.nat(20),
  fc.nat(),
  fc.constantFrom(-1, 1.5, 1e21, 123456789, 1234567890, null, "1"),
);
const members = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constant("delta"),
      fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: fc.constant(null) }),
    ),
    fc.tuple(fc.constantFrom("output_index", "content_index", "sequence_number"), count),
    fc.tuple(fc.constantFrom("item_id", "obfuscation", "type"), text),
    fc.tuple(fc.constant("logprobs"), fc.constantFrom([], [{}], null)),
  ),
  { maxLength: 8 },
);

/** Writes the members in this order, repeated ones included. */
function written(pairs: readonly (readonly [string, unknown])[]): string {
  return `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
}

/** Usual members, in the two orders of servers. */
const usual = fc.tuple(text, fc.nat(40), fc.boolean()).map(([delta, index, sorted]) =>
  written(
    sorted
      ? [
        ["type", TEXT_DELTA],
        ["content_index", 0],
        ["delta", delta],
        ["item_id", "msg_1"],
        ["logprobs", []],
        [
          "obfuscation",
          "xy",
        ],
        ["output_index", index],
        ["sequence_number", 8],
      ]
      : [
        ["type", TEXT_DELTA],
        ["sequence_number", 8],
        ["item_id", "msg_1"],
        ["output_index", index],
        [
          "content_index",
          0,
        ],
        ["delta", delta],
        ["logprobs", []],
        ["obfuscation", "xy"],
      ],
  )
);
/** The same with one character changed, which is often no JSON. */
const damaged = fc.tuple(usual, fc.nat(), fc.constantFrom("", "0", " ", '"', ",", "}", "\u0001", "\\")).map((
  [data, at, put],
) => data.slice(0, at % data.length) + put + data.slice(at % data.length + 1));

Deno.test("a text delta that is read without JSON.parse is what JSON.parse gives", () => {
  let plain = 0;
  fc.assert(
    fc.property(
      fc.oneof(members.map((pairs) => written([["type", TEXT_DELTA], ...pairs])), usual, damaged),
      (data) => {
        const read = readPlainDelta(data);
        if (read === null) {
          return;
        }
        plain++;
        const json = JSON.parse(data);
        assert.ok(isJsonObject(json));
        const event = readResponsesEvent(json, TEXT_DELTA);
        assert.ok(event.kind === "delta" && event.channel === "text");
        assert.deepEqual([event.text, event.place], [read.text, read.outputIndex]);
      },
    ),
    { numRuns: 3000 },
  );
  assert.ok(plain > 300, `${plain} were plain`);
});

Deno.test("plain and other deltas give the same updates", () => {
  const feed = (data: string, name: string | undefined) => {
    const assembler = responsesApi.newAssembler();
    const item = { type: "message", id: "msg_1", phase: "commentary", content: [] };
    assembler.feed({
      event: undefined,
      data: JSON.stringify({ type: "response.output_item.added", output_index: 3, item }),
    });
    return [...assembler.feed({ event: name, data }), ...assembler.end()];
  };
  const data = written([["type", TEXT_DELTA], ["sequence_number", 1], ["output_index", 3], ["delta", "so"]]);
  assert.notEqual(readPlainDelta(data), null);
  assert.deepEqual(feed(data, TEXT_DELTA), feed(data, undefined));
  assert.equal(feed(data, TEXT_DELTA)[0]?.kind, "text_delta");
  const twice = written([["type", TEXT_DELTA], ["output_index", 1], ["delta", "so"], ["output_index", 2]]);
  assert.deepEqual(readPlainDelta(twice), { outputIndex: 2, text: "so" });
  for (
    const broken of [
      `${data}x`,
      `${data}\n}`,
      ` ${data}x`,
      data.replace(":3", ":03"),
      data.replace(":1,", ":01,"),
    ]
  ) {
    assert.equal(readPlainDelta(broken), null, broken);
  }
});
