import assert from "node:assert/strict";
import fc from "fast-check";
import { OutputCollector } from "../../../../src/tools/shell/run_command.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

Deno.test("output within the room is kept byte for byte, lines of two streams unbroken", () => {
  const collector = new OutputCollector(100);
  collector.add(0, encode("one "));
  collector.add(1, encode("warning: "));
  collector.add(0, encode("line\ntwo "));
  collector.add(1, encode("bad\n"));
  collector.add(0, encode("lines\nend"));
  const { bytes, total, missing } = collector.finish();
  assert.equal(decode(bytes), "one line\nwarning: bad\ntwo lines\nend");
  assert.deepEqual([total, missing], [bytes.length, 0]);
});

Deno.test("output beyond the room keeps beginning and end and counts what is missing", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 });
  fc.assert(fc.property(chunks, fc.integer({ min: 1, max: 64 }), (parts, room) => {
    const collector = new OutputCollector(room);
    for (const part of parts) collector.add(0, part);
    const all = parts.flatMap((part) => [...part]);
    const { bytes, total, missing } = collector.finish();
    assert.equal(total, all.length);
    if (all.length <= room * 2) {
      assert.deepEqual([...bytes], all);
      assert.equal(missing, 0);
      return;
    }
    assert(missing >= all.length - room * 2);
    const note = encode(`\n[… ${missing} bytes left out here; they are kept nowhere …]\n`);
    const kept = bytes.length - note.length;
    assert.equal(kept + missing, total);
    // At most three bytes of a cut sequence go with the middle, on either side.
    const head = [...bytes.subarray(0, room)].findIndex((byte, index) => byte !== all[index]);
    const headLength = head < 0 ? room : head;
    assert(headLength >= room - 3, `head of ${headLength} in a room of ${room}`);
    const tailLength = kept - Math.min(headLength, room);
    assert(tailLength >= room - 6, `tail of ${tailLength}`);
    assert.deepEqual(
      [...bytes.subarray(bytes.length - Math.max(0, room - 3))],
      all.slice(all.length - Math.max(0, room - 3)),
    );
  }));
});

Deno.test("output that is cut inside a character loses the character, not half of it", () => {
  for (let room = 8; room < 16; room++) {
    for (const text of ["é".repeat(50), "€".repeat(50), "😀".repeat(50)]) {
      const collector = new OutputCollector(room);
      collector.add(0, encode(text));
      const { bytes, missing, total } = collector.finish();
      assert.match(decode(bytes), /bytes left out here/, `${room}`);
      assert(missing > 0 && missing < total);
    }
  }
});

Deno.test("output without a line break is not held back without end", () => {
  const collector = new OutputCollector(1024 * 1024);
  for (let index = 0; index < 100; index++) collector.add(0, new Uint8Array(10_000).fill(97));
  collector.add(1, encode("late\n"));
  assert(decode(collector.finish().bytes).indexOf("late") > 900_000);
});
