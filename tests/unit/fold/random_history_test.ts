import assert from "node:assert/strict";
import type { Item, SessionEvent } from "../../../src/domain/event.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { ModelTurn, Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { Folded } from "../../../src/fold/history_fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { fallbackResult, openCalls } from "../../../src/run/recover.ts";
import { type RandomCase, randomCase } from "./random_history.ts";
import { requireAccepted } from "./accepted.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const HISTORIES = samples(20_000);

test.long(`the API's rules let through the fold of ${HISTORIES} random histories, in both modes of pairing`, () => {
  const met = new Map<string, number>();
  for (let seed = 0; seed < HISTORIES; seed++) {
    const made = randomCase(seed);
    const folded = foldHistory(made.turns, made.target);
    const body = bodyOf(folded, made);
    try {
      requireAccepted(body, made);
      requireSameOnDisk(body, made);
      requireAccounted(folded, made);
      requireUnchanged(folded, body);
      requireFittingOrigin(folded, made);
      requireWindow(folded, made);
      requireClosable(made);
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
    for (const { reason } of folded.dropped) met.set(reason, (met.get(reason) ?? 0) + 1);
    for (const { kind } of folded.repairs) met.set(kind, (met.get(kind) ?? 0) + 1);
    const sent = folded.reasoning.filter(({ reason }) => reason === null).length;
    met.set("sent", (met.get("sent") ?? 0) + sent);
  }
  // Histories in which some of this never happens would prove little.
  for (const name of EXPECTED) {
    assert.ok((met.get(name) ?? 0) >= samples(200), `${name}: ${met.get(name) ?? 0}`);
  }
});

const EXPECTED = [
  "sent",
  "other_endpoint",
  "other_account",
  "other_model",
  "no_encrypted_content",
  "no_following_item",
  "duplicate_id",
  "replay_off",
  "quarantined",
  "refused_in_run",
  "outside_window",
  "before_checkpoint",
  "call_refused",
  "reasoning_dropped",
  "unanswered_call",
  "orphan_answered",
  "call_id_renamed",
  "duplicate_result",
];

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

function requireSameOnDisk(body: string, made: RandomCase): void {
  const turns: readonly Turn[] = JSON.parse(JSON.stringify(made.turns));
  assert.ok(bodyOf(foldHistory(turns, made.target), made) === body, "folds otherwise from disk");
}

/** Every event after the checkpoint is either sent or left out with a reason, never both, never twice. */
function requireAccounted(folded: Folded, { turns }: RandomCase): void {
  const sent = folded.seqs.filter((seq) => seq !== 0);
  const seen = [...sent, ...folded.dropped.map(({ seq }) => seq)];
  assert.equal(new Set(seen).size, seen.length, "an event is accounted for twice");
  const repaired = new Set(folded.repairs.map(({ seq }) => seq));
  const start = checkpointOf(folded, turns);
  for (const { events } of turns) {
    for (const { seq, type } of events) {
      const isInput = INPUT.has(type) && (seq > start || type === "reasoning");
      if (isInput && !seen.includes(seq)) assert.ok(repaired.has(seq), `event ${seq} is lost`);
    }
  }
  // Arrival order, but for the checkpoint and the message of the run that it cuts into.
  const tail = sent.filter((seq) => seq > start);
  const events = new Map(turns.flatMap(({ events }) => events).map((event) => [event.seq, event]));
  const ordered = start === 0 ? tail : tail.filter((seq) => events.get(seq)?.type !== "history_compaction");
  assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b), "out of order");
}

const INPUT: ReadonlySet<string> = new Set([
  "user_message",
  "assistant_message",
  "reasoning",
  "tool_call",
  "tool_result",
  "provider_item",
]);

function checkpointOf({ seqs }: Folded, turns: readonly Turn[]): number {
  const first = turns.flatMap(({ events }) => events).find(({ seq }) => seq === seqs[0]);
  return first?.type === "history_compaction" ? first.to_seq : 0;
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
  const hidden = new Set<string>();
  if (entry.kind !== "provider_item" || item.type === "compaction") hidden.add("status");
  if (entry.kind === "tool_call" || (entry.kind === "assistant_message" && !entry.keepId)) hidden.add("id");
  if (entry.kind === "provider_item") { for (const name of entry.omit ?? []) hidden.add(name); }
  const renamed = entry.kind === "tool_call" ? { ...item, call_id: entry.callId } : item;
  return Object.fromEntries(Object.entries(renamed).filter(([name]) => !hidden.has(name)));
}

/** Looks at each decision from outside: what fits is named so, what does not fit is never sent. */
function requireFittingOrigin({ reasoning }: Folded, { target }: RandomCase): void {
  for (const { origin, reason, seq } of reasoning) {
    const elsewhere = origin.fingerprint.endpoint !== target.fingerprint.endpoint;
    if (reason === "other_endpoint") assert.ok(elsewhere, `event ${seq}`);
    if (elsewhere || target.replay === "none") assert.notEqual(reason, null, `event ${seq}`);
    if (reason === "other_model") assert.notEqual(origin.model.asked, target.model, `event ${seq}`);
    if (reason === "no_encrypted_content") assert.equal(itemOf(origin, seq).encrypted_content, undefined);
  }
}

function itemOf(turn: ModelTurn, seq: number): Item {
  const event = turn.events.find((event): event is Extract<SessionEvent, { item: Item }> =>
    event.seq === seq
  );
  assert.ok(event !== undefined);
  return event.item;
}

function requireWindow({ reasoning }: Folded, { turns, target }: RandomCase): void {
  const { window } = target;
  if (window === null || window === undefined) return;
  const lastUser =
    turns.flatMap(({ events }) => events).findLast(({ type }) => type === "user_message")?.seq ?? 0;
  const earlier = reasoning.filter(({ seq, reason }) => reason === null && seq < lastUser);
  assert.ok(earlier.length <= window, `${earlier.length} items in a window of ${window}`);
  for (const { seq, reason } of reasoning) if (seq > lastUser) assert.notEqual(reason, "outside_window");
}

/** Answers recorded for the open calls leave none open: closing again finds nothing to do. */
function requireClosable({ turns }: RandomCase): void {
  const open = openCalls(turns);
  const last = turns.at(-1);
  if (open.length === 0 || last === undefined) return;
  const first = last.seq[1] + 1;
  const events = open.map((call, index) => ({
    seq: first + index,
    ...fallbackResult(call, "orphaned", "?"),
  }));
  const closing = {
    ...last,
    kind: "tools",
    turn: last.turn + 1,
    seq: [first, first + events.length - 1],
    events,
  };
  assert.deepEqual(openCalls([...turns, closing as unknown as Turn]), []);
}
