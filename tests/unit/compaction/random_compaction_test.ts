import assert from "node:assert/strict";
import { deterministicText } from "../../../src/compaction/deterministic.ts";
import { scopeOf } from "../../../src/compaction/plan.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import type { HistoryCompactionEvent } from "../../../src/domain/event.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { Dice } from "../fold/dice.ts";
import { type RandomCase, randomCase, requireAccepted } from "../fold/random_history.ts";
import { bodyOf, compacted, recent, withdrawn, withEvent } from "./support.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const HISTORIES = samples(20_000);

test.long(`${HISTORIES} random histories, compacted at random points: valid, whole groups, and undone byte for byte`, () => {
  const met = { compacted: 0, refused: 0, opening: 0, second: 0 };
  for (let seed = 0; seed < HISTORIES; seed++) {
    const made = randomCase(seed);
    const dice = new Dice(seed + 1_000_000);
    try {
      const tailEvents = dice.pick([0, 0, 1, 2, 3, 5, 8, 13]);
      const first = compactedOrNull(made.turns, made, tailEvents);
      if (first === null) {
        met.refused++;
        continue;
      }
      met.compacted++;
      if (first.event.opening_turn !== null) met.opening++;
      requireSound(made, made.turns, first);
      // Once more, on top of the first and of the turns after it.
      const grown = withEvent(first.turns, {
        type: "user_message",
        content: [{ type: "input_text", text: "and now?" }],
      }, "user");
      const second = compactedOrNull(grown, made, dice.pick([0, 1]));
      if (second === null) continue;
      met.second++;
      requireSound(made, grown, second);
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  // Histories in which some of this never happens would prove little.
  for (const [name, count] of Object.entries(met)) assert.ok(count > HISTORIES / 20, `${name}: ${count}`);
});

interface Compacted {
  readonly turns: readonly Turn[];
  readonly event: Omit<HistoryCompactionEvent, "seq">;
}

function compactedOrNull(
  turns: readonly Turn[],
  { target }: RandomCase,
  tailEvents: number,
): Compacted | null {
  try {
    return compacted(turns, { tailEvents, target });
  } catch (error) {
    if (error instanceof RepriseError && error.code === "nothing_to_compact") return null;
    throw error;
  }
}

function requireSound(made: RandomCase, before: readonly Turn[], { turns, event }: Compacted): void {
  const { target } = made;
  requireWholeGroups(before, event);
  const body = bodyOf(turns, target);
  requireAccepted(body, made);
  requireVerbatimTail(turns, made, event);
  assert.ok(bodyOf(recent(turns, event), target) === body, "opening from the checkpoint folds otherwise");
  assert.ok(bodyOf(withdrawn(turns), target) === bodyOf(before, target), "uncompact changed the request");
  const again = JSON.parse(JSON.stringify(before));
  const tailEvents = (before.at(-1)?.seq[1] ?? 0) - event.to_seq;
  const { summary } = deterministicText(again, scopeOf(again, { tailEvents, target }));
  assert.equal(summary, event.summary, "the summary is not stable");
  assert.ok(summary.isWellFormed() && summary.length < 24_000);
}

function requireWholeGroups(turns: readonly Turn[], { to_seq, to_turn }: Compacted["event"]): void {
  assert.equal(turns.find(({ turn }) => turn === to_turn)?.seq[1], to_seq, "the cut is no end of a turn");
  for (const { events } of turns) {
    for (const event of events) {
      if (event.type !== "tool_result") continue;
      assert.equal(event.call_seq <= to_seq, event.seq <= to_seq, `the call ${event.call_seq} was split`);
    }
  }
}

/** Checks that each sent item of the tail is the same as in the log. */
function requireVerbatimTail(
  turns: readonly Turn[],
  { target }: RandomCase,
  { to_seq }: Compacted["event"],
): void {
  const items = new Map(turns.flatMap(({ events }) => events).map((event) => [event.seq, event]));
  const { entries, seqs } = foldHistory(turns, target);
  entries.forEach((entry, index) => {
    const event = items.get(seqs[index] ?? 0);
    if (event === undefined || event.seq <= to_seq || !("item" in entry)) return;
    assert.ok("item" in event && event.item === entry.item, `seq ${event.seq} is not verbatim`);
  });
}
