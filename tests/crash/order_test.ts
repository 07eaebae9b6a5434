import assert from "node:assert/strict";
import { judgeOrder } from "./order.ts";
import { hasStrace, mustRun, traceDriver, withDirectory } from "./trace.ts";

const ignore = !hasStrace();

Deno.test({
  name:
    "every publish of a first and a later run is durable before it is acknowledged, parents and blobs included",
  ignore,
  fn: () =>
    withDirectory(async (root) => {
      const home = `${root}/home`;
      const first = await traceDriver(["first", home]);
      assert.ok(first.success, first.stderr);
      assert.deepEqual(judgeOrder(first.calls, root), { violations: [], published: 3, acknowledged: 3 });
      await mustRun("prepare", `${root}/second`);
      const next = await traceDriver(["next", `${root}/second`]);
      assert.ok(next.success, next.stderr);
      assert.deepEqual(judgeOrder(next.calls, root), { violations: [], published: 3, acknowledged: 3 });
    }),
});

/** One fsync removed each, or the acknowledgement moved before the last, and what must be said about it. */
const MUTANTS: Record<string, RegExp> = {
  "turn": /turns\/000001\.json got its name before the fsync of its content/,
  "turns": /turn 1 was acknowledged before .*turns\/000001\.json was durable/,
  "blob": /blobs\/[0-9a-f]{64} got its name before the fsync of its content/,
  "blobs": /turns\/000001\.json was published before .*blobs\/[0-9a-f]{64} was durable/,
  "early-acknowledgement": /turn 1 was acknowledged before .*turns\/000001\.json was durable/,
  // The way down to a new session, one directory each.
  "crash": /turn 1 was acknowledged before .*sessions\/crash\/(turns|blobs) was durable/,
  "sessions": /turn 1 was acknowledged before .*sessions\/crash was durable/,
  "home": /turn 1 was acknowledged before .*home\/sessions was durable/,
  "parent": /turn 1 was acknowledged before .*home was durable/,
};

for (const [mutant, violation] of Object.entries(MUTANTS)) {
  Deno.test({
    name: `the order check fails the mutant "${mutant}"`,
    ignore,
    fn: () =>
      withDirectory(async (root) => {
        const parent = `${root}/parent`;
        await Deno.mkdir(parent);
        const run = await traceDriver(["first", `${parent}/home`, mutant]);
        assert.ok(run.success, run.stderr);
        const { violations } = judgeOrder(run.calls, root);
        assert.ok(violations.some((each) => violation.test(each)), JSON.stringify(violations, null, 1));
      }),
  });
}
