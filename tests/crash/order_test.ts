import assert from "node:assert/strict";
import { lacksProgram, needing } from "../support/needs.ts";
import { type Judgement, judgeOrder } from "./order.ts";
import { commandOf, DRIVER_MARK } from "./programs.ts";
import { scenarioOf, SCENARIOS } from "./scenarios.ts";
import { quietPlace } from "./sessions.ts";
import { parseTrace, traceCommand, withDirectory } from "./trace.ts";

const LACKS = lacksProgram("strace");

/** Traces a scenario from its start, done with one thing wrong where `mutant` says so, and judges what it did. */
async function judged(root: string, name: string, mutant = ""): Promise<Judgement> {
  const parent = `${root}/parent`;
  await Deno.mkdir(parent);
  await scenarioOf(name).prepare(quietPlace(`${parent}/home`));
  const { output, trace } = await traceCommand([
    ...await commandOf("driver"),
    ...["act", `${parent}/home`, name, mutant],
  ]);
  assert.ok(output.success, new TextDecoder().decode(output.stderr));
  return judgeOrder(parseTrace(trace, DRIVER_MARK), root);
}

/** Number of turns that each operation publishes and acknowledges. */
const TURNS: Record<string, readonly [number, number]> = {
  "first turn": [5, 5],
  "append": [5, 5],
  "tools turn": [2, 2],
  "compaction": [3, 3],
  "withdrawal": [3, 3],
  // The linked turns; the fork's own turn is written to a directory that no reader opens.
  "fork": [10, 0],
  "repair of a damaged turn": [1, 0],
  "repair of a gap": [2, 0],
  "repair of many damages": [4, 0],
  "import": [0, 0],
  "manifest replacement": [6, 6],
  "rm": [0, 0],
  "gc": [0, 0],
};

for (const { name } of SCENARIOS) {
  Deno.test({
    ...needing(`"${name}" makes all that it promises durable, and in order, before it says so`, LACKS),
    fn: () =>
      withDirectory(async (root) => {
        const [published, acknowledged] = TURNS[name] as readonly [number, number];
        assert.deepEqual(await judged(root, name), { violations: [], published, acknowledged });
      }),
  });
}

/** One fsync left out each, or the acknowledgement moved before the last, and what must be said about it. */
const MUTANTS: readonly (readonly [scenario: string, mutant: string, violation: RegExp])[] = [
  ["first turn", "turn", /turns\/000001\.json got its name before the fsync of its content/],
  ["first turn", "turns", /turn 1 was acknowledged before .*turns\/000001\.json was durable/],
  ["first turn", "blob", /blobs\/[0-9a-f]{64} got its name before the fsync of its content/],
  ["first turn", "blobs", /turns\/000001\.json was published before .*blobs\/[0-9a-f]{64} was durable/],
  ["first turn", "early-acknowledgement", /turn 1 was acknowledged before .*turns\/000001\.json was durable/],
  // The way down to a new session, one directory each.
  ["first turn", "crash", /turn 1 was acknowledged before .*sessions\/crash\/(turns|blobs) was durable/],
  ["first turn", "sessions", /turn 1 was acknowledged before .*sessions\/crash was durable/],
  ["first turn", "home", /turn 1 was acknowledged before .*home\/sessions was durable/],
  ["first turn", "parent", /turn 1 was acknowledged before .*home was durable/],
  ["compaction", "turns", /turn 11 was acknowledged before .*turns\/000011\.json was durable/],
  ["withdrawal", "turn", /turns\/000012\.json got its name before the fsync of its content/],
  ["tools turn", "blobs", /turns\/000014\.json was published before .*blobs\/[0-9a-f]{64} was durable/],
  ["fork", "turns", /crash-fork got its name before .*NEW\/turns\/000001\.json was durable/],
  ["fork", "turn", /crash-fork got its name before .*NEW\/turns\/000011\.json was durable/],
  ["fork", "blobs", /crash-fork got its name before .*NEW\/blobs\/[0-9a-f]{64} was durable/],
  ["fork", "sessions", /the end was acknowledged before .*crash-fork was durable/],
  ["import", "turn", /sessions\/crash got its name before .*NEW\/turns\/000001\.json was durable/],
  ["import", "blob", /sessions\/crash got its name before .*NEW\/blobs\/[0-9a-f]{64} was durable/],
  ["import", "sessions", /the end was acknowledged before .*sessions\/crash was durable/],
  [
    "repair of a damaged turn",
    "quarantine",
    /turns\/000004\.json was published before .*quarantine\/.* was durable/,
  ],
  ["repair of a gap", "turns", /the end was acknowledged before .*turns\/000004\.json was durable/],
  ["rm", "sessions", /REMOVED\/.* was removed before .*REMOVED was durable/],
  ["gc", "blobs", /the end was acknowledged before .*blobs\/a{64} was durable/],
];

for (const [scenario, mutant, violation] of MUTANTS) {
  Deno.test({
    ...needing(`the order check fails "${scenario}" with the mutant "${mutant}"`, LACKS),
    fn: () =>
      withDirectory(async (root) => {
        const { violations } = await judged(root, scenario, mutant);
        assert.ok(violations.some((each) => violation.test(each)), JSON.stringify(violations, null, 1));
      }),
  });
}
