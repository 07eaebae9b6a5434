/** Imported checkpoints: which turns they replace, and which prompt stays. */
import assert from "node:assert/strict";
import type { AgentEntry } from "../../../src/agents/agent_session.ts";
import { buildTurns } from "../../../src/agents/turns.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";

const CALL = {
  id: parseSessionId("one"),
  at: "2026-11-25T12:00:00.000Z",
  trusted: null,
  times: new Map(),
  pins: { instructions: "a".repeat(64), tools: "b".repeat(64), permissions: [], workspace: "/srv/code" },
};
const user = (line: number): AgentEntry => ({
  kind: "user",
  line,
  content: [{ type: "input_text", text: `${line}` }],
});
const answer = (line: number): AgentEntry => ({
  ...{ kind: "response", line, provider: "openai", model: "m", responseId: null, status: "completed" },
  ...{ items: [{ type: "message", role: "assistant", content: [] }], usage: null },
});
const compaction = (line: number, keptFrom: number | null): AgentEntry => ({
  ...{ kind: "compaction", line, summary: `until ${line}`, keptFrom },
});

/** For each checkpoint: the turn that it ends with, and the turn of the prompt that stays. */
function cuts(...entries: readonly AgentEntry[]) {
  const turns = buildTurns({ agent: "pi", version: null, entries }, CALL).map(({ turn }) => turn);
  return turns.flatMap(({ events }) =>
    events.flatMap((event) =>
      event.type === "history_compaction" ? [[event.to_turn, event.opening_turn]] : []
    )
  );
}

Deno.test("a checkpoint replaces every turn before it, or those before the first kept line", () => {
  const runs = [user(1), answer(2), user(3), answer(4)];
  // Turn 3 ends the first run.
  assert.deepEqual(cuts(...runs, compaction(5, null), user(6)), [[5, null]]);
  assert.deepEqual(cuts(...runs, compaction(5, 3), user(6)), [[3, null]]);
  assert.deepEqual(cuts(...runs, compaction(5, 4), user(6)), [[4, 4]], "the run continues after the cut");
  assert.deepEqual(cuts(...runs, compaction(5, 1), user(6)), [[5, null]], "no turn is before it");
});

Deno.test("the prompt stays if its run continues after the checkpoint, or has no answer yet", () => {
  assert.deepEqual(cuts(user(1), answer(2), compaction(3, null), answer(4)), [[2, 1]]);
  assert.deepEqual(cuts(user(1), answer(2), compaction(3, null)), [[2, null]]);
  assert.deepEqual(cuts(user(1), compaction(2, null)), [[1, 1]]);
});

Deno.test("a later checkpoint replaces at least what the one before replaced", () => {
  const first = [user(1), answer(2), user(3), answer(4), compaction(5, null)];
  // Turns 6 and 7 are the first checkpoint and the end of the run.
  assert.deepEqual(cuts(...first, user(6), answer(7), compaction(8, 3), user(9)), [[5, null], [5, null]]);
  assert.deepEqual(cuts(...first, user(6), answer(7), compaction(8, 6), user(9)), [[5, null], [7, null]]);
});
