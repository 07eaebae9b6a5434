import assert from "node:assert/strict";
import type { StandingOmission } from "../../../src/domain/event.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { apiOf } from "../../../src/apis/apis.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { readOverrides } from "../../../src/fold/overrides.ts";
import { compacted, recent, withdrawn, withEvent } from "../compaction/support.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { requireAccepted, requireAcceptedAnywhere } from "./accepted.ts";
import { Dice } from "./dice.ts";
import { mixedCase } from "./mixed_history.ts";
import { randomCase } from "./random_history.ts";

const HISTORIES = samples(10_000);
const KINDS: ReadonlySet<string> = new Set([
  "user_message",
  "assistant_message",
  "reasoning",
  "tool_call",
  "tool_result",
  "provider_item",
]);

test.long(`random items of ${HISTORIES} random histories are omitted: the request is valid, and undone byte for byte`, () => {
  const met = { omitted: 0, part: 0, several: 0, compacted: 0 };
  for (let seed = 0; seed < HISTORIES; seed++) {
    const random = seed % 2 === 0 ? randomCase(seed) : null;
    const made = random ?? mixedCase(seed);
    const dice = new Dice(seed + 2_000_000);
    try {
      const first = omittedAtRandom(made.turns, dice);
      if (first === null) continue;
      const second = dice.chance(0.3) ? omittedAtRandom(first.turns, dice) : null;
      met.omitted++;
      met.part += first.event.part === undefined ? 0 : 1;
      met.several += first.event.seqs.length > 1 ? 1 : 0;
      const { turns } = second ?? first;
      const { target } = made;
      const body = bodyOf(turns, target);
      if (random !== null) requireAccepted(body, random);
      else requireAcceptedAnywhere(body, { turns, target });
      requireGone(turns, target, first);
      assert.equal(bodyOf(JSON.parse(JSON.stringify(turns)), target), body, "folds otherwise from disk");
      const undone = [first, ...second === null ? [] : [second]].reduce(
        (all, { seq }) => withEvent(all, { type: "omission_withdrawn", omission: seq }),
        turns,
      );
      assert.equal(bodyOf(undone, target), bodyOf(made.turns, target), "undoing changed the request");
      if (requireSameFromCheckpoint(turns, target, dice)) met.compacted++;
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  // Histories in which some of this never happens would prove little.
  for (const [name, count] of Object.entries(met)) assert.ok(count > HISTORIES / 20, `${name}: ${count}`);
});

interface Omitted {
  readonly turns: readonly Turn[];
  readonly event: Pick<StandingOmission, "seqs" | "part">;
  readonly seq: number;
}

/** The turns with one more that omits items after the checkpoint; `null` if there are none. */
function omittedAtRandom(turns: readonly Turn[], dice: Dice): Omitted | null {
  const after = readOverrides(turns, undefined).checkpoint?.to_seq ?? 0;
  const events = turns.flatMap((turn) => turn.events).filter(({ seq, type }) =>
    seq > after && KINDS.has(type)
  );
  if (events.length === 0) return null;
  const one = dice.pick(events);
  const part = one.type === "user_message" && dice.chance(0.7)
    ? { part: dice.count(1, one.content.length) }
    : {};
  const more = "part" in part || dice.chance(0.6) ? [] : [dice.pick(events).seq, dice.pick(events).seq];
  const event = { seqs: [...new Set([one.seq, ...more])], ...part };
  const seq = (turns.at(-1)?.seq[1] ?? 0) + 1;
  return { turns: withEvent(turns, { type: "items_omitted", ...event, reason: "user_request" }), event, seq };
}

function requireGone(turns: readonly Turn[], target: FoldTarget, { event }: Omitted): void {
  const { entries, seqs } = foldHistory(turns, target);
  entries.forEach((entry, index) => {
    if (!event.seqs.includes(seqs[index] ?? 0)) return;
    const text = entry.kind === "user_message" ? JSON.stringify(entry.content[(event.part ?? 1) - 1]) : "";
    assert.match(text, /\[omitted (message|text, \d+ bytes)\]/, `seq ${seqs[index]} is sent`);
  });
}

/** A checkpoint opens to the same request as the whole history, and its withdrawal brings back no omitted item. */
function requireSameFromCheckpoint(turns: readonly Turn[], target: FoldTarget, dice: Dice): boolean {
  try {
    const { turns: shorter, event } = compacted(turns, { tailEvents: dice.pick([0, 1, 2, 5]), target });
    const body = bodyOf(shorter, target);
    assert.equal(bodyOf(recent(shorter, event), target), body, "opening from the checkpoint folds otherwise");
    assert.equal(bodyOf(withdrawn(shorter), target), bodyOf(turns, target), "uncompact changed the request");
    const [omission] = event.omitted ?? [];
    if (omission === undefined) return false;
    const undo = (all: readonly Turn[]) =>
      bodyOf(withEvent(all, { type: "omission_withdrawn", omission: omission.seq }), target);
    assert.equal(undo(recent(shorter, event)), undo(shorter), "the copy in a checkpoint cannot be withdrawn");
    return true;
  } catch (error) {
    if (error instanceof RepriseError && error.code === "nothing_to_compact") return false;
    throw error;
  }
}

function bodyOf(turns: readonly Turn[], target: FoldTarget): string {
  return apiOf(target.fingerprint.provider).buildRequest({
    model: target.model,
    instructions: "",
    tools: [],
    entries: foldHistory(turns, target).entries,
    cacheKey: "s",
  }).body;
}
