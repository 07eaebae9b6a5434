/** Random histories: their requests hold what the API takes, all of it, and nothing that was made elsewhere. */
import assert from "node:assert/strict";
import type { Item, SessionEvent, StandingOmission } from "../../../src/domain/event.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { ModelTurn, Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import type { Folded } from "../../../src/fold/history_fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { fallbackResult, openCalls } from "../../../src/run/recover.ts";
import { type RandomCase, randomCase, requireAccepted } from "./random_history.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";
import { PROVIDER_KINDS } from "../../../src/domain/fingerprint.ts";
import { apiOf } from "../../../src/apis/apis.ts";
import { markOf, type MixedCase, mixedCase, requireAcceptedAnywhere } from "./mixed_history.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import type { FoldTarget } from "../../../src/fold/guard.ts";
import { readOverrides } from "../../../src/fold/overrides.ts";
import { compacted, recent, withdrawn, withEvent } from "../compaction/support.ts";
import { Dice } from "./dice.ts";

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

const SESSIONS = samples(10_000);
const MARK = /OPAQUE\.[\w.-]*?\.[\w.-]*?\.[\w-]+?\./g;

test.long(`in ${SESSIONS} random sessions that change providers, no opaque byte goes where it was not made, and every request passes its API's rules`, () => {
  const met = new Map<string, number>();
  const count = (name: string) => met.set(name, (met.get(name) ?? 0) + 1);
  for (let seed = 0; seed < SESSIONS; seed++) {
    const made = mixedCase(seed);
    try {
      const body = requestOf(made);
      requireOwn(body, made, count);
      requireAcceptedAnywhere(body, made);
      assert.equal(requestOf({ ...made, turns: fromDisk(made.turns) }), body, "memory and disk fold alike");
      count(made.target.fingerprint.provider);
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  // Sessions in which some of this never happens would prove little.
  for (const kind of PROVIDER_KINDS) {
    assert.ok((met.get(kind) ?? 0) > SESSIONS / 10, kind);
    assert.ok((met.get(`own ${kind}`) ?? 0) > SESSIONS / 50, `own ${kind}: ${met.get(`own ${kind}`)}`);
    assert.ok((met.get(`foreign kept from ${kind}`) ?? 0) > SESSIONS / 10, `foreign ${kind}`);
  }
});

function requestOf({ turns, target }: MixedCase): string {
  const { entries } = foldHistory(turns, target);
  return apiOf(target.fingerprint.provider).buildRequest({
    model: target.model,
    instructions: "Be careful.",
    tools: [],
    entries,
    cacheKey: "s",
  }).body;
}

/** Every opaque payload in the request is one of the target's own. */
function requireOwn(body: string, { turns, target }: MixedCase, count: (name: string) => void): void {
  const { provider, endpoint, account } = target.fingerprint;
  for (const [mark] of body.matchAll(MARK)) {
    const [, kind, madeAt, madeFor] = mark.split(".");
    const accounts = [madeFor, account ?? "none"];
    assert.equal(kind, provider);
    assert.equal(madeAt, endpoint);
    assert.ok(accounts[0] === accounts[1] || accounts.includes("none"), mark);
  }
  if (body.includes(markOf(target))) count(`own ${provider}`);
  const issued = JSON.stringify(turns);
  for (const kind of PROVIDER_KINDS) {
    if (kind !== provider && issued.includes(`OPAQUE.${kind}.`)) count(`foreign kept from ${kind}`);
  }
}

function fromDisk(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => JSON.parse(JSON.stringify(turn)));
}

const OMITTED = samples(10_000);
const ITEM_KINDS: ReadonlySet<string> = new Set([
  "user_message",
  "assistant_message",
  "reasoning",
  "tool_call",
  "tool_result",
  "provider_item",
]);

test.long(`random items of ${OMITTED} random histories are omitted: the request is valid, and undone byte for byte`, () => {
  const met = { omitted: 0, part: 0, several: 0, compacted: 0 };
  for (let seed = 0; seed < OMITTED; seed++) {
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
      const body = omittedBody(turns, target);
      if (random !== null) requireAccepted(body, random);
      else requireAcceptedAnywhere(body, { turns, target });
      requireGone(turns, target, first);
      assert.equal(omittedBody(JSON.parse(JSON.stringify(turns)), target), body, "folds otherwise from disk");
      const undone = [first, ...second === null ? [] : [second]].reduce(
        (all, { seq }) => withEvent(all, { type: "omission_withdrawn", omission: seq }),
        turns,
      );
      assert.equal(
        omittedBody(undone, target),
        omittedBody(made.turns, target),
        "undoing changed the request",
      );
      if (requireSameFromCheckpoint(turns, target, dice)) met.compacted++;
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  // Histories in which some of this never happens would prove little.
  for (const [name, count] of Object.entries(met)) assert.ok(count > OMITTED / 20, `${name}: ${count}`);
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
    seq > after && ITEM_KINDS.has(type)
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
    const body = omittedBody(shorter, target);
    assert.equal(
      omittedBody(recent(shorter, event), target),
      body,
      "opening from the checkpoint folds otherwise",
    );
    assert.equal(
      omittedBody(withdrawn(shorter), target),
      omittedBody(turns, target),
      "uncompact changed the request",
    );
    const [omission] = event.omitted ?? [];
    if (omission === undefined) return false;
    const undo = (all: readonly Turn[]) =>
      omittedBody(withEvent(all, { type: "omission_withdrawn", omission: omission.seq }), target);
    assert.equal(undo(recent(shorter, event)), undo(shorter), "the copy in a checkpoint cannot be withdrawn");
    return true;
  } catch (error) {
    if (error instanceof RepriseError && error.code === "nothing_to_compact") return false;
    throw error;
  }
}

function omittedBody(turns: readonly Turn[], target: FoldTarget): string {
  return apiOf(target.fingerprint.provider).buildRequest({
    model: target.model,
    instructions: "",
    tools: [],
    entries: foldHistory(turns, target).entries,
    cacheKey: "s",
  }).body;
}
