/**
 * The requests that turns record, with their tokens: the base of budgets and costs. Reads turns of any version, and
 * loads no schema.
 */
import type { RequestUsage } from "../domain/usage.ts";
import type { ProviderKind } from "../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, numberMember, objectMember, stringMember } from "../domain/json.ts";
import type { Turn } from "../domain/turn.ts";
import { PROVIDERS } from "../apis/providers.ts";
import { otherTier, providerKind, usageOf } from "../apis/usage.ts";

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
}

/** The requests of one turn: that of a model turn, or of a checkpoint that a model or the provider wrote. */
export function requestsIn(turn: Turn | JsonObject): LedgerRequest[] {
  const value = turn as JsonObject;
  const events = Array.isArray(value.events) ? value.events.filter(isJsonObject) : [];
  if (value.kind === "model") {
    const usage = events.findLast(({ type }) => type === "provider_usage");
    return [requestOf(value, {
      fingerprint: objectMember(value, "fingerprint"),
      model: objectMember(value, "model"),
      usage: objectMember(usage ?? {}, "usage"),
    })];
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

interface RequestParts {
  readonly fingerprint: JsonObject | undefined;
  readonly model: JsonObject | undefined;
  readonly usage: JsonObject | undefined;
}

function requestOf(
  turn: JsonObject,
  { fingerprint = {}, model = {}, usage }: RequestParts,
): LedgerRequest {
  const provider = providerKind(stringMember(fingerprint, "provider"));
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
    usage: usage === undefined || provider === null ? null : usageOf(provider, usage),
  };
}

/** True if an answer came from a server: a played fixture gets no key, and only some servers need none. */
export function isPaid(provider: ProviderKind, hasKey: boolean): boolean {
  return hasKey || PROVIDERS[provider].keylessOnLoopback;
}
