import assert from "node:assert/strict";
import fc from "fast-check";
import { interleave, orderOf, ratios, spread } from "../../../bench/timing.ts";

Deno.test("interleave runs every candidate once in each round and forgets the warm-ups", async () => {
  const calls: string[] = [];
  const candidate = (name: string) => ({
    measure: (round: number) => {
      calls.push(`${name}${round}`);
      return round;
    },
  });
  const times = await interleave({ a: candidate("a"), b: candidate("b"), absent: null }, {
    rounds: 3,
    warmups: 2,
  });
  assert.deepEqual(times, { a: [2, 3, 4], b: [2, 3, 4], absent: [] });
  assert.equal(new Set(calls).size, 10);
  assert.equal(calls.length, 10);
});

Deno.test("interleave lets every candidate go first equally often", () => {
  const names = ["a", "b", "c", "d", "e"];
  const firsts = new Map<string, number>();
  for (let round = 0; round < names.length * 2; round++) {
    const order = orderOf(names, round);
    assert.deepEqual(order.toSorted(), names);
    firsts.set(order[0] as string, (firsts.get(order[0] as string) ?? 0) + 1);
  }
  assert.deepEqual([...firsts.values()], [2, 2, 2, 2, 2]);
});

Deno.test("spread takes the middle of what was measured, and the mean of the two middles", () => {
  assert.deepEqual(spread([30, 1, 2]), { median: 2, min: 1, max: 30 });
  assert.deepEqual(spread([10, 1, 4, 2]), { median: 3, min: 1, max: 10 });
  assert.throws(() => spread([]), RangeError);
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), (values) => {
      const { median, min, max } = spread(values);
      assert.ok(min <= median && median <= max);
      const below = values.filter((value) => value < median).length;
      const above = values.filter((value) => value > median).length;
      assert.ok(below * 2 <= values.length && above * 2 <= values.length);
    }),
  );
});

Deno.test("ratios compare what was measured in the same round", () => {
  assert.deepEqual(ratios([2, 30], [1, 10]), [2, 3]);
});
