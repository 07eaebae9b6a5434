/** The algebra of the fold: random requests hold what the API takes, every event of them or its reason, unchanged. */
import assert from "node:assert/strict";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import type { Item } from "../../../src/domain/event.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { Folded } from "../../../src/fold/history_fold.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { withEvent } from "../compaction/support.ts";
import { Dice } from "./dice.ts";
import { type RandomCase, randomCase, requireAccepted } from "./random_history.ts";

const HISTORIES = samples(20_000);
/** Outcomes without which random histories would prove little. */
const EXPECTED = [
  ...["sent", "other_endpoint", "other_account", "other_model", "no_encrypted_content", "no_following_item"],
  ...["duplicate_id", "replay_off", "quarantined", "refused_in_run", "outside_window", "before_checkpoint"],
  ...["call_refused", "reasoning_dropped", "unanswered_call", "orphan_answered", "call_id_renamed"],
  ...["duplicate_result", "omitted"],
];
const INPUT: ReadonlySet<string> = new Set([
  ...["user_message", "assistant_message", "reasoning", "tool_call", "tool_result", "provider_item"],
]);

test.long(`the API takes the requests of ${HISTORIES} random histories, whole and with items omitted`, () => {
  const met = new Map<string, number>();
  const count = (name: string, by = 1) => met.set(name, (met.get(name) ?? 0) + by);
  for (let seed = 0; seed < HISTORIES; seed++) {
    const made = randomCase(seed);
    const folded = foldHistory(made.turns, made.target);
    const body = bodyOf(folded, made);
    try {
      requireAccepted(body, made);
      requireAccounted(folded, made);
      requireUnchanged(folded, body);
      const omission = omittedAtRandom(folded, made, new Dice(seed + 2_000_000));
      if (omission === null) continue;
      requireAccepted(bodyOf(foldHistory(omission.turns, made.target), made), made);
      requireGone(foldHistory(omission.turns, made.target), omission.seqs);
      const undone = withEvent(omission.turns, { type: "omission_withdrawn", omission: omission.seq });
      assert.equal(bodyOf(foldHistory(undone, made.target), made), body, "undoing changed the request");
      count("omitted");
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
    for (const { reason } of folded.dropped) count(reason);
    for (const { kind } of folded.repairs) count(kind);
    count("sent", folded.reasoning.filter(({ reason }) => reason === null).length);
  }
  for (const name of EXPECTED) {
    assert.ok((met.get(name) ?? 0) >= samples(200), `${name}: ${met.get(name) ?? 0}`);
  }
});

function bodyOf({ entries }: Folded, { target }: RandomCase): string {
  return responsesApi.buildRequest({
    model: target.model,
    instructions: "",
    tools: [],
    entries,
    cacheKey: "s",
  })
    .body;
}

/** Every event after the checkpoint is either sent or left out with a reason, never both, never twice. */
function requireAccounted(folded: Folded, { turns }: RandomCase): void {
  const sent = folded.seqs.filter((seq) => seq !== 0);
  const seen = [...sent, ...folded.dropped.map(({ seq }) => seq)];
  assert.equal(new Set(seen).size, seen.length, "an event is accounted for twice");
  const repaired = new Set(folded.repairs.map(({ seq }) => seq));
  const events = turns.flatMap(({ events }) => events);
  const first = events.find(({ seq }) => seq === folded.seqs[0]);
  const start = first?.type === "history_compaction" ? first.to_seq : 0;
  for (const { seq, type } of events) {
    const isInput = INPUT.has(type) && (seq > start || type === "reasoning");
    if (isInput && !seen.includes(seq)) assert.ok(repaired.has(seq), `event ${seq} is lost`);
  }
  const types = new Map(events.map(({ seq, type }) => [seq, type]));
  const tail = sent.filter((seq) => seq > start && types.get(seq) !== "history_compaction");
  assert.deepEqual(tail, tail.toSorted((a, b) => a - b), "out of order");
}

/** Each kept item holds the bytes that it came with, without what the API calls output only. */
function requireUnchanged({ entries }: Folded, body: string): void {
  const input: readonly JsonObject[] = JSON.parse(body).input;
  entries.forEach((entry, index) => {
    if (entry.kind === "user_message" || entry.kind === "tool_result") return;
    assert.equal(JSON.stringify(input[index]), JSON.stringify(asSent(entry.item, entry)));
  });
}

function asSent(item: Item, entry: Folded["entries"][number]): JsonObject {
  const hidden = new Set(entry.kind === "provider_item" ? entry.omit ?? [] : []);
  if (entry.kind !== "provider_item" || item.type === "compaction") hidden.add("status");
  if (entry.kind === "tool_call" || (entry.kind === "assistant_message" && !entry.keepId)) hidden.add("id");
  const renamed = entry.kind === "tool_call" ? { ...item, call_id: entry.callId } : item;
  return Object.fromEntries(Object.entries(renamed).filter(([name]) => !hidden.has(name)));
}

/** The turns with one more that omits items which are sent; `null` if there are none. */
function omittedAtRandom({ seqs }: Folded, { turns }: RandomCase, dice: Dice) {
  const sent = new Set(seqs);
  const events = turns.flatMap(({ events }) => events).filter(({ seq, type }) =>
    sent.has(seq) && INPUT.has(type)
  );
  // A message that a checkpoint keeps is omitted through the checkpoint.
  const start = turns.flatMap(({ events }) => events).find(({ seq }) => seq === seqs[0]);
  const after = start?.type === "history_compaction" ? start.to_seq : 0;
  const open = events.filter(({ seq }) => seq > after).map(({ seq }) => seq);
  if (open.length === 0) return null;
  const chosen = [...new Set([dice.pick(open), dice.pick(open)])];
  const seq = (turns.at(-1)?.seq[1] ?? 0) + 1;
  const omission = { type: "items_omitted", seqs: chosen, reason: "user_request" } as const;
  return { turns: withEvent(turns, omission) as readonly Turn[], seqs: chosen, seq };
}

function requireGone({ entries, seqs }: Folded, omitted: readonly number[]): void {
  entries.forEach((entry, index) => {
    if (!omitted.includes(seqs[index] ?? 0)) return;
    assert.match(JSON.stringify(entry), /\[omitted message\]/, `seq ${seqs[index]} is sent`);
  });
}
