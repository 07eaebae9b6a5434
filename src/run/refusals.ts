/**
 * What a refusal of the API changes in the history, so that the same request without the refused part can go once
 * more, and no later one meets it again.
 *
 * @module
 */
import type { EventDraft, Omission, ReplayAction, RunError } from "../domain/event.ts";
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
  /** What the request went without. */
  readonly without: ReadonlySet<Omission>;
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
export function mendingOf(refusal: RequestRefusal, request: RefusedRequest): MendingEvent | null {
  switch (refusal.kind) {
    case "reasoning":
      return withoutReasoning(
        request,
        new Set([...byIds(refusal.ids, request), ...byIndex(refusal.index, request)]),
      );
    case "binding": {
      // What the server cannot be asked to drop is stripped, once and for good.
      const asked = request.without.has("binding_check") || request.without.has("drop_block");
      return asked
        ? withoutReasoning(request, sentReasoning(request))
        : withoutField(request, "binding_check");
    }
    case "field":
      return withoutField(request, refusal.without);
    case "call":
      return withoutCall(request, refusal.callId);
    case "item":
      return withoutMember(request, refusal.index, refusal.field);
  }
}

/** An event that mends. */
export type MendingEvent = Extract<EventDraft, { readonly type: "replay_notice" | "endpoint_notice" }>;

function withoutField({ endpoint, model, without, error }: RefusedRequest, field: Omission) {
  if (without.has(field)) return null;
  return { type: "endpoint_notice", endpoint, model, without: field, error } as const;
}

function sentReasoning({ folded }: RefusedRequest): ReadonlySet<number> {
  return new Set(folded.reasoning.filter(({ reason }) => reason === null).map(({ seq }) => seq));
}

/**
 * No reasoning of the refused request goes once more. What the error names is quarantined; so is what it does not
 * name when an earlier run met the same. The rest is tried again in the next run.
 */
function withoutReasoning(
  request: RefusedRequest,
  named: ReadonlySet<number>,
): MendingEvent | null {
  const { turns, run, error } = request;
  const sent = [...sentReasoning(request)];
  if (sent.length === 0) return null;
  const known = sent.some((seq) => named.has(seq));
  const before = leftOutBefore(turns, run);
  const items = sent.map((seq): ReplayAction => {
    const guilty = known ? named.has(seq) : before.has(seq);
    return { seq, action: guilty ? "quarantined" : "left_out" };
  });
  return { type: "replay_notice", reason: "reasoning_refused", items, error };
}

function withoutCall({ folded, error }: RefusedRequest, callId: string | null): MendingEvent | null {
  const index = folded.entries.findIndex((entry) => entry.kind === "tool_call" && entry.callId === callId);
  const seq = folded.seqs[index];
  if (seq === undefined) return null;
  return { type: "replay_notice", reason: "call_refused", items: [{ seq, action: "left_out" }], error };
}

function withoutMember(request: RefusedRequest, index: number, field: string | null): MendingEvent | null {
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

/** What earlier refusals said that requests to this endpoint for this model go without. */
export function standingOmissions(
  turns: readonly Turn[],
  endpoint: string,
  model: string,
): ReadonlySet<Omission> {
  const here = standingNotices(turns).filter((notice) =>
    notice.endpoint === endpoint && notice.model === model
  );
  return new Set(here.map(({ without }) => without));
}
