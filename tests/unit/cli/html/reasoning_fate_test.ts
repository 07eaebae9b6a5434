import assert from "node:assert/strict";
import { parsedObject } from "../../../../src/domain/json.ts";
import { reasoningFates } from "../../../../src/cli/html/reasoning_fate.ts";
import { readSessionTurns } from "./session_turns.ts";

const turn = (number: number, kind: string, more: object, ...events: object[]) => ({
  number,
  kind,
  value: parsedObject(JSON.stringify(more)) ?? {},
  events: events as { type: string }[],
  newer: false,
});
const request = (...dropped: readonly [number, string][]) => ({
  request: { guard: { sent: 0, dropped: dropped.map(([seq, reason]) => ({ seq, reason })) } },
});
const thought = (seq: number) => ({ seq, type: "reasoning", item: { type: "reasoning" } });

Deno.test("each reasoning item has the requests that held it, and why the others did not", () => {
  const fates = reasoningFates([
    turn(2, "model", request(), thought(2)),
    turn(4, "model", request(), thought(5)),
    turn(6, "model", request([2, "other_model"])),
    turn(8, "model", request([2, "other_model"], [5, "quarantined"])),
    turn(9, "compaction", {}, { seq: 12, type: "history_compaction", to_seq: 3 }),
    turn(11, "model", request([5, "quarantined"]), thought(15)),
    turn(12, "harness", {}, { seq: 16, type: "compaction_withdrawn", checkpoint: 12 }),
    turn(14, "model", request([5, "quarantined"])),
  ]);
  assert.deepEqual(Object.fromEntries(fates), {
    2: [
      { turns: [4, 4], dropped: null },
      { turns: [6, 8], dropped: "other_model" },
      { turns: [11, 11], dropped: "before_checkpoint" },
      { turns: [14, 14], dropped: null },
    ],
    5: [{ turns: [6, 6], dropped: null }, { turns: [8, 14], dropped: "quarantined" }],
    15: [{ turns: [14, 14], dropped: null }],
  });
});

Deno.test("in recorded sessions as many reasoning items are sent as each request's record says", () => {
  let requests = 0;
  for (const turns of readSessionTurns()) {
    const spans = [...reasoningFates(turns).values()].flat().filter(({ dropped }) => dropped === null);
    for (const { number, kind, value } of turns) {
      if (kind !== "model") continue;
      const sent = spans.filter(({ turns: [first, last] }) => first <= number && number <= last).length;
      const { guard } = value.request as unknown as { guard: { sent: number } };
      assert.equal(sent, guard.sent, `turn ${number} of ${value.session}`);
      requests += 1;
    }
  }
  assert.ok(requests > 50);
});
