/**
 * The requests that turns record, with their tokens: the base of budgets and costs. Reads turns of any version, and
 * loads no schema.
 */
import { type AnswerCounts, type RequestUsage, usageOfCounts } from "../domain/usage.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { ProviderKind } from "../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, numberMember, objectMember, stringMember } from "../domain/json.ts";
import type { Turn, TurnDraft } from "../domain/turn.ts";
import { PROVIDERS } from "../apis/providers.ts";
import { countsOf, otherTier, providerKind } from "../apis/usage.ts";

export interface LedgerRequest {
  /** The session that sent it: of the first turns of a fork, another session. */
  readonly session: string;
  readonly turn: number;
  readonly run: number;
  /** Time of its turn: ISO 8601 UTC. */
  readonly at: string;
  /** `null` if the turn does not name a known kind. */
  readonly provider: ProviderKind | null;
  readonly asked: string | null;
  readonly answered: string | null;
  /** False if nothing was paid, because a fixture answered. */
  readonly paid: boolean;
  /** The processing tier, if it has another price than the standard one. */
  readonly tier: string | null;
  /** `null` if the answer had no usage: it was cut, or the server counts no tokens. */
  readonly usage: RequestUsage | null;
  /** The usage as the answer has it; `null` without one. */
  readonly counts: AnswerCounts | null;
  /**
   * Answer of another agent. Its fork holds copies of answers, which were paid once: equal sums are of one answer.
   * `null` for requests of ours.
   */
  readonly imported: { readonly isCopied: boolean; readonly sum: string } | null;
}

/** Facts that decide the price of a request. */
export type PriceFacts = Omit<LedgerRequest, "session" | "turn" | "run" | "counts" | "imported">;

/** The requests of one turn: that of a model turn, or of a checkpoint that a model or the provider wrote. */
export function requestsIn(turn: Turn | TurnDraft | JsonObject): LedgerRequest[] {
  const value = turn as JsonObject;
  const events = Array.isArray(value.events) ? value.events.filter(isJsonObject) : [];
  if (value.kind === "model") {
    const usage = events.findLast(({ type }) => type === "provider_usage");
    return [requestOf(value, {
      fingerprint: objectMember(value, "fingerprint"),
      model: objectMember(value, "model"),
      usage: objectMember(usage ?? {}, "usage"),
    }, importedIn(value, events))];
  }
  return events.flatMap((event) => {
    const request = objectMember(event, "request");
    if (event.type !== "history_compaction" || request === undefined) return [];
    const origin = objectMember(event, "origin") ?? {};
    return [requestOf(value, {
      fingerprint: objectMember(request, "fingerprint") ?? objectMember(origin, "fingerprint"),
      model: objectMember(request, "model"),
      usage: objectMember(request, "usage"),
    })];
  });
}

/** Facts about the answer of another agent that a turn holds. */
function importedIn(turn: JsonObject, events: readonly JsonObject[]): LedgerRequest["imported"] {
  const imported = objectMember(objectMember(turn, "request") ?? {}, "imported");
  if (imported === undefined) return null;
  const parts = events.map(({ type, item, usage }) => [type ?? null, item ?? usage ?? null]);
  return { isCopied: imported.copied === true, sum: sha256Hex(JSON.stringify([imported.agent, ...parts])) };
}

function requestOf(
  turn: JsonObject,
  { fingerprint = {}, model = {}, usage }: Record<"fingerprint" | "model" | "usage", JsonObject | undefined>,
  imported: LedgerRequest["imported"] = null,
): LedgerRequest {
  const provider = providerKind(stringMember(fingerprint, "provider"));
  const counts = usage === undefined || provider === null ? null : countsOf(provider, usage);
  const isCounted = counts !== null && (counts.input_tokens !== null || counts.output_tokens !== null);
  return {
    session: stringMember(turn, "session") ?? "",
    turn: numberMember(turn, "turn") ?? 0,
    run: numberMember(turn, "run") ?? 0,
    at: stringMember(turn, "at") ?? "",
    provider,
    asked: stringMember(model, "asked") ?? null,
    answered: stringMember(model, "answered") ?? null,
    paid: provider !== null && isPaid(provider, fingerprint.key !== undefined),
    tier: usage === undefined ? null : otherTier(usage),
    usage: isCounted ? usageOfCounts(counts) : null,
    counts: isCounted ? counts : null,
    imported,
  };
}

/** True if an answer came from a server: a played fixture gets no key, and only some servers need none. */
export function isPaid(provider: ProviderKind, hasKey: boolean): boolean {
  return hasKey || PROVIDERS[provider].keylessOnLoopback === true;
}
