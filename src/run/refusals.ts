/**
 * Changes of the history after a refusal of the API: the request is sent again without the refused part, and no later
 * request is refused for the same reason.
 */
import type { ReportedRetry } from "../schemas/run_events.ts";
import type { EventDraft, Omission, RefusalScope, ReplayAction, RunError } from "../domain/event.ts";
import { type Fingerprint, mayBeSameAccount } from "../domain/fingerprint.ts";
import type { ApiFailure, RepriseError } from "../domain/errors.ts";
import { defined } from "../domain/json.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import type { Turn, TurnDraft } from "../domain/turn.ts";
import type { Folded, ReasoningDecision } from "../fold/history_fold.ts";
import { leftOutBefore } from "../fold/overrides.ts";
import type { RequestRefusal } from "../apis/api.ts";
import { isContentRefusal } from "../apis/refusal.ts";

/** The refusal of a request, with the facts that decide what a retry leaves out. */
export interface Refusal {
  readonly cause: RequestRefusal;
  readonly failure: ApiFailure;
  readonly folded: Folded;
  readonly turns: readonly Turn[];
  readonly run: number;
  readonly fingerprint: Fingerprint;
  readonly model: string;
  /** Fields that the request omitted. */
  readonly without: ReadonlySet<Omission>;
  readonly error: RunError;
  /** True if a retry without reasoning omits all of it, that of this run too. */
  readonly widest: boolean;
  /** True if a retry sends every call as text, not only those that the error names. */
  readonly everyCall: boolean;
  /** True if the run still allows a retry without reasoning that the error gives no reason for. */
  readonly mayBeBlind: boolean;
}

/** The API's failure that an error of the transport was made from, or `null` if no API reported it. */
export function failureOfError(error: RepriseError): ApiFailure | null {
  const { status, provider_code, provider_type, param } = error.details;
  if (provider_code === undefined) return null;
  const text = (value: unknown) => typeof value === "string" ? value : null;
  return {
    code: error.code,
    message: error.message,
    status: typeof status === "number" ? status : null,
    providerCode: text(provider_code),
    providerType: text(provider_type),
    param: text(param),
    retryable: false,
  };
}

export interface RetryPlan {
  readonly event: RetryEvent;
  /**
   * `stated`: the API names the refused part, in a known message. `likely`: it names an item or mentions reasoning.
   * `blind`: it gives no reason; only the retry shows whether reasoning was the reason.
   */
  readonly basis: "stated" | "likely" | "blind";
}

/** Plans the retry after a refusal; `null` if nothing can be left out of the request. */
export function planRetry(refusal: Refusal): RetryPlan | null {
  const { cause, failure, folded, mayBeBlind } = refusal;
  const event = retryEventOf(refusal);
  const isLikely = cause.kind === "likely_reasoning" || cause.kind === "call" && cause.callIds === null;
  if (event !== null) return { event, basis: isLikely ? "likely" : "stated" };
  const isUnclear = cause.kind === "unknown" || cause.kind === "call" || cause.kind === "item";
  if (!mayBeBlind || !isUnclear || !isContentRefusal(failure, folded.entries)) return null;
  const blind = withoutReasoning(refusal, new Set());
  return blind === null ? null : { event: blind, basis: "blind" };
}

/** The event of a retry without the part that the refusal names; `null` if nothing can be left out. */
function retryEventOf(refusal: Refusal): RetryEvent | null {
  const { cause } = refusal;
  switch (cause.kind) {
    case "unknown":
      return null;
    case "likely_reasoning":
      return withoutReasoning(refusal, new Set(byIds(cause.ids, refusal)), { isUnreadable: true });
    case "reasoning":
    case "misplaced_reasoning": {
      const named = new Set([...byIds(cause.ids, refusal), ...byIndex(cause.index, refusal)]);
      return withoutReasoning(refusal, named, { isUnreadable: cause.kind === "reasoning" });
    }
    case "binding": {
      // Items that the server cannot be asked to drop are stripped permanently.
      const asked = refusal.without.has("binding_check") || refusal.without.has("drop_block");
      return asked
        ? withoutReasoning(refusal, sentReasoning(refusal))
        : withoutField(refusal, "binding_check");
    }
    case "field":
      return withoutField(refusal, cause.without);
    case "call":
      return withCallsAsText(refusal, cause.callIds);
    case "item":
      return withoutMember(refusal, cause.index, cause.field);
  }
}

/** An event that records the part that a retry omits. */
type RetryEvent = Extract<
  EventDraft,
  { readonly type: "replay_notice" | "endpoint_notice" | "calls_as_text" }
>;

/** True for a retry without reasoning, or with calls as text. A refused field costs only that field. */
export function changesHistory(event: RetryEvent): boolean {
  return event.type === "calls_as_text" || event.type === "replay_notice" && event.reason !== "unknown_field";
}

/** True if a retry without a part of the reasoning or the pairs of a request sends the rest: it may be refused as well. */
export function mayBeRefusedAgain(event: RetryEvent, refusal: Pick<Refusal, "folded">): boolean {
  if (event.type === "calls_as_text") return event.call_seqs.length < sentCalls(refusal).length;
  return event.type === "replay_notice" && event.reason === "reasoning_refused" &&
    event.items.length < sentReasoning(refusal).size;
}

/** The `seq` of each item that an event quarantines. */
export function quarantinedBy(event: RetryEvent): number[] {
  if (event.type !== "replay_notice") return [];
  return event.items.filter(({ action }) => action === "quarantined").map(({ seq }) => seq);
}

/** The event that lifts the quarantine of these items for `fingerprint`; no event without items. */
export function liftedQuarantine(seqs: readonly number[], fingerprint: Fingerprint): EventDraft[] {
  if (seqs.length === 0) return [];
  const items = seqs.map((seq): ReplayAction => ({ seq, action: "lifted" }));
  return [{ type: "replay_notice", reason: "quarantine_lifted", items, ...scopeOf(fingerprint) }];
}

/** The turn of a retry that was refused as well: the omitted items are left out of this run only. */
export function leftOutOnly(notice: TurnDraft): TurnDraft {
  const events = notice.events.map((event): EventDraft => {
    if (event.type !== "replay_notice") return event;
    const items = event.items.map((item): ReplayAction => ({ ...item, action: "left_out" }));
    return { ...event, items };
  });
  return { ...notice, events };
}

function withoutField({ fingerprint, model, without, error }: Refusal, field: Omission) {
  if (without.has(field)) return null;
  return { type: "endpoint_notice", endpoint: fingerprint.endpoint, model, without: field, error } as const;
}

/** The `seq` of each reasoning item that a request held. */
export function sentReasoning({ folded }: Pick<Refusal, "folded">): ReadonlySet<number> {
  return new Set(folded.reasoning.filter(({ reason }) => reason === null).map(({ seq }) => seq));
}

/**
 * The retry omits the reasoning that may be the reason: not that of this run, unless the error names it or none other is
 * sent. An item that is named as unreadable is omitted and quarantined with all earlier items of the same origin,
 * because the API names only one of them. If it is named for another reason, it is quarantined alone. If the error names
 * no item, {@linkcode refusedAgain} decides. The rest is tried again in the next run.
 */
function withoutReasoning(
  refusal: Refusal,
  named: ReadonlySet<number>,
  { isUnreadable = false }: { readonly isUnreadable?: boolean } = {},
): RetryEvent | null {
  const { folded, run, fingerprint, widest, error } = refusal;
  const sent = folded.reasoning.filter(({ reason }) => reason === null);
  if (sent.length === 0) return null;
  const earlier = sent.filter(({ origin }) => origin.run !== run);
  const culprits = sent.filter(({ seq }) => named.has(seq));
  const suspects = earlier.length > 0 && culprits.every((item) => earlier.includes(item)) ? earlier : sent;
  const keys = new Set(culprits.map((item) => foreignKey(item, fingerprint)));
  const alike = isUnreadable && suspects === earlier
    ? earlier.filter((item) => keys.has(foreignKey(item, fingerprint)))
    : [];
  const omitted = widest ? sent : alike.length > 0 ? alike : suspects;
  const guilty = alike.length > 0 ? alike : culprits.length > 0 ? culprits : refusedAgain(refusal, omitted);
  const items = omitted.map((item): ReplayAction => ({
    seq: item.seq,
    action: guilty.includes(item) ? "quarantined" : "left_out",
  }));
  return { type: "replay_notice", reason: "reasoning_refused", items, ...scopeOf(fingerprint), error };
}

/**
 * The items of `omitted` that a second refusal without a name quarantines. Items of other keys are the likelier reason,
 * so they are quarantined first: the next run then shows whether the others are refused too.
 */
function refusedAgain(
  { turns, run, fingerprint }: Refusal,
  omitted: readonly ReasoningDecision[],
): readonly ReasoningDecision[] {
  const before = leftOutBefore(turns, run, fingerprint);
  const foreign = omitted.filter((item) => foreignKey(item, fingerprint) !== null);
  if (foreign.length === 0) return omitted.filter(({ seq }) => before.has(seq));
  return foreign.some(({ seq }) => before.has(seq)) ? foreign : [];
}

/** The key that an item was issued to, if it may be of another account than that of `fingerprint`; `null` if not. */
function foreignKey({ origin }: ReasoningDecision, fingerprint: Fingerprint): string | null {
  return mayBeSameAccount(origin.fingerprint, fingerprint) ? null : origin.fingerprint.key ?? null;
}

/** The scope of a refusal, if the fingerprint has more facts than the turns of the items. */
function scopeOf({ endpoint, portless, account, key }: Fingerprint): { scope?: RefusalScope } {
  if (portless === undefined && key === undefined) return {};
  return { scope: { endpoint, account, ...defined({ portless, key }) } };
}

/** The calls of a request that go as items. */
function sentCalls({ folded }: Pick<Refusal, "folded">) {
  return folded.entries.flatMap((entry, index) =>
    entry.kind === "tool_call" ? [{ callId: entry.callId, seq: folded.seqs[index] ?? 0 }] : []
  );
}

/**
 * The retry sends refused calls with their results as text: a model that does not see a call that ran would make it
 * again. `callIds` of `null` are all calls.
 */
function withCallsAsText(refusal: Refusal, callIds: readonly string[] | null): RetryEvent | null {
  const { error, everyCall } = refusal;
  const calls = sentCalls(refusal);
  const named = calls.filter(({ callId }) => callIds === null || callIds.includes(callId));
  if (named.length === 0) return null;
  return { type: "calls_as_text", call_seqs: (everyCall ? calls : named).map(({ seq }) => seq), error };
}

/** Omits a refused optional member on every item of that type; any other refusal omits the item. */
function withoutMember(refusal: Refusal, index: number, field: string | null): RetryEvent | null {
  const { folded, error } = refusal;
  const [entry, seq] = [folded.entries[index], folded.seqs[index]];
  if (entry === undefined || seq === undefined) return null;
  const carriers = field === null ? [] : carriersOf(refusal, entry, field);
  if (carriers.length > 0 && field !== null && "item" in entry) {
    const items = carriers.map((seq): ReplayAction => ({ seq, action: "stripped", field }));
    const { endpoint, account } = refusal.fingerprint;
    return {
      type: "replay_notice",
      reason: "unknown_field",
      items,
      scope: { endpoint, account, ...scopeOf(refusal.fingerprint).scope },
      member: { item_type: entry.item.type, field },
      error,
    };
  }
  return entry.kind === "reasoning" ? withoutReasoning(refusal, new Set([seq])) : null;
}

/** The `seq` of each item like `refused` that is sent with `field`; empty if `refused` is sent without it. */
function carriersOf({ folded }: Refusal, refused: FoldedEntry, field: string): number[] {
  const carries = (entry: FoldedEntry) =>
    "item" in entry && Object.hasOwn(entry.item, field) && entry.omit?.includes(field) !== true;
  // A member that is already left out cannot be the reason.
  if (!("item" in refused) || !carries(refused)) return [];
  return folded.entries.flatMap((entry, index) => {
    const seq = folded.seqs[index];
    const isAlike = "item" in entry && entry.kind === refused.kind && entry.item.type === refused.item.type;
    return isAlike && carries(entry) && seq !== undefined ? [seq] : [];
  });
}

function byIds(ids: readonly string[], { folded }: Refusal): number[] {
  return folded.reasoning.filter(({ id }) => id !== null && ids.includes(id)).map(({ seq }) => seq);
}

function byIndex(index: number | null, { folded }: Refusal): number[] {
  if (index === null || folded.entries[index]?.kind !== "reasoning") return [];
  const seq = folded.seqs[index];
  return seq === undefined ? [] : [seq];
}

export function reportOf(event: RetryEvent): ReportedRetry {
  switch (event.type) {
    case "replay_notice":
      return event;
    case "calls_as_text":
      return {
        reason: "call_refused",
        items: event.call_seqs.map((seq) => ({ seq, action: "as_text" })),
      };
    case "endpoint_notice":
      return { reason: `${event.without}_refused`, items: [] };
  }
}
