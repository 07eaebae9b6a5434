/**
 * What a refusal of the API changes in the history, so that the same request without the refused part can go once
 * more, and no later one meets it again.
 *
 * @module
 */
import type { EventDraft, ReplayAction, RunError } from "../domain/event.ts";
import type { ApiFailure } from "../domain/failure.ts";
import type { ReprError } from "../domain/errors.ts";
import type { Turn } from "../domain/turn.ts";
import type { Folded } from "../fold/fold.ts";
import { leftOutBefore, standingNotices } from "../fold/steering.ts";
import type { RequestRefusal } from "../provider/provider.ts";

/** The refused request. */
export interface RefusedRequest {
  readonly folded: Folded;
  readonly turns: readonly Turn[];
  readonly run: number;
  readonly endpoint: string;
  readonly model: string;
  /** Whether the request asked for encrypted content. */
  readonly include: boolean;
  readonly error: RunError;
}

/** An error of the transport as the failure that it was made from, or `null` when no API said it. */
export function failureOfError(error: ReprError): ApiFailure | null {
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

/** The event that mends the request, or `null` when nothing in it can be left out or changed. */
export function mendingOf(refusal: RequestRefusal, request: RefusedRequest): EventDraft | null {
  switch (refusal.kind) {
    case "reasoning":
      return withoutReasoning(
        request,
        new Set([...byIds(refusal.ids, request), ...byIndex(refusal.index, request)]),
      );
    case "include":
      return request.include
        ? {
          type: "endpoint_notice",
          endpoint: request.endpoint,
          model: request.model,
          without: "include",
          error: request.error,
        }
        : null;
    case "call":
      return withoutCall(request, refusal.callId);
    case "item":
      return withoutMember(request, refusal.index, refusal.field);
  }
}

/**
 * No reasoning of the refused request goes once more. What the error names is quarantined; so is what it does not
 * name when an earlier run met the same. The rest is tried again in the next run.
 */
function withoutReasoning(
  { folded, turns, run, error }: RefusedRequest,
  named: ReadonlySet<number>,
): EventDraft | null {
  const sent = folded.reasoning.filter(({ reason }) => reason === null).map(({ seq }) => seq);
  if (sent.length === 0) return null;
  const known = sent.some((seq) => named.has(seq));
  const before = leftOutBefore(turns, run);
  const items = sent.map((seq): ReplayAction => {
    const guilty = known ? named.has(seq) : before.has(seq);
    return { seq, action: guilty ? "quarantined" : "left_out" };
  });
  return { type: "replay_notice", reason: "reasoning_refused", items, error };
}

function withoutCall({ folded, error }: RefusedRequest, callId: string | null): EventDraft | null {
  const index = folded.entries.findIndex((entry) => entry.kind === "tool_call" && entry.callId === callId);
  const seq = folded.seqs[index];
  if (seq === undefined) return null;
  return { type: "replay_notice", reason: "call_refused", items: [{ seq, action: "left_out" }], error };
}

function withoutMember(request: RefusedRequest, index: number, field: string | null): EventDraft | null {
  const { folded, error } = request;
  const [entry, seq] = [folded.entries[index], folded.seqs[index]];
  if (entry?.kind === "reasoning" && seq !== undefined) return withoutReasoning(request, new Set([seq]));
  if (entry?.kind !== "provider_item" || seq === undefined || field === null) return null;
  // A member that is left out already cannot be what is wrong.
  if (!Object.hasOwn(entry.item, field) || entry.omit?.includes(field) === true) return null;
  return {
    type: "replay_notice",
    reason: "unknown_field",
    items: [{ seq, action: "stripped", field }],
    error,
  };
}

function byIds(ids: readonly string[], { folded }: RefusedRequest): number[] {
  return folded.reasoning.filter(({ id }) => id !== null && ids.includes(id)).map(({ seq }) => seq);
}

function byIndex(index: number | null, { folded }: RefusedRequest): number[] {
  if (index === null || folded.entries[index]?.kind !== "reasoning") return [];
  const seq = folded.seqs[index];
  return seq === undefined ? [] : [seq];
}

/** Whether an earlier refusal said that this endpoint does not take `include` for this model. */
export function refusesInclude(turns: readonly Turn[], endpoint: string, model: string): boolean {
  return standingNotices(turns).some((notice) => notice.endpoint === endpoint && notice.model === model);
}
