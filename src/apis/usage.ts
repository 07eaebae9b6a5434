/** Token counts of any provider's usage objects, without the rest of the APIs: `ls`, `show` and `stats` read them. */
import { type AnswerCounts, type RequestUsage, usageOfCounts } from "../domain/usage.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../domain/fingerprint.ts";
import { type JsonObject, stringMember } from "../domain/json.ts";
import { messagesCounts } from "./messages/usage.ts";
import { PROVIDERS } from "./providers.ts";
import { responsesCounts } from "./responses/usage.ts";

/** Returns the token counts of a usage object, each `null` if it has none. */
export function countsOf(provider: ProviderKind, usage: JsonObject): AnswerCounts {
  return PROVIDERS[provider].api === "messages" ? messagesCounts(usage) : responsesCounts(usage);
}

/** Returns the token counts of a usage object; missing counts are 0. */
export function requestUsageOf(provider: ProviderKind, usage: JsonObject): RequestUsage {
  return usageOfCounts(countsOf(provider, usage));
}

/** Returns the kind of provider that a file names; `null` for an unknown name. */
export function providerKind(name: string | undefined): ProviderKind | null {
  return PROVIDER_KINDS.find((kind) => kind === name) ?? null;
}

/** The processing tier of a usage object if it has another price than the standard tier; `null` otherwise. */
export function otherTier(usage: JsonObject): string | null {
  const tier = stringMember(usage, "service_tier") ?? "standard";
  return tier === "standard" || tier === "default" ? null : tier;
}
