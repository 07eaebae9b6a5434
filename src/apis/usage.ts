/** Token counts of any provider's usage objects, without the rest of the APIs: `ls`, `show` and `stats` read them. */
import {
  addTokenCounts,
  type AnswerCounts,
  type RequestUsage,
  type Usage,
  usageOfCounts,
} from "../domain/usage.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../domain/fingerprint.ts";
import { countMember, type JsonObject, knownCount, objectMember, stringMember } from "../domain/json.ts";
import { providerRow } from "./providers.ts";

/** Returns the token counts of a usage object, each `null` if it has none. */
export function countsOf(provider: ProviderKind, usage: JsonObject): AnswerCounts {
  return providerRow(provider).api === "messages" ? messagesCounts(usage) : responsesCounts(usage);
}

/** Token counts of a response. Older models and other servers count no cache writes (§7.1). */
function responsesCounts(usage: JsonObject): AnswerCounts {
  const input = objectMember(usage, "input_tokens_details");
  const output = objectMember(usage, "output_tokens_details") ?? {};
  return {
    input_tokens: knownCount(usage, "input_tokens"),
    cached_tokens: knownCount(input ?? {}, "cached_tokens"),
    cache_write_tokens: input === undefined ? null : knownCount(input, "cache_write_tokens") ?? 0,
    output_tokens: knownCount(usage, "output_tokens"),
    reasoning_tokens: knownCount(output, "reasoning_tokens"),
  };
}

/**
 * Token counts of a message. Unlike OpenAI's, the three input counts are disjoint: the input is their sum (§10). Without
 * the members of the cache, it was not used.
 */
function messagesCounts(usage: JsonObject): AnswerCounts {
  const input = knownCount(usage, "input_tokens");
  const cached = knownCount(usage, "cache_read_input_tokens") ?? 0;
  const written = knownCount(usage, "cache_creation_input_tokens") ?? 0;
  return {
    input_tokens: input === null ? null : [input, written, cached].reduce(addTokenCounts),
    cached_tokens: cached,
    cache_write_tokens: written,
    output_tokens: knownCount(usage, "output_tokens"),
    reasoning_tokens: knownCount(objectMember(usage, "output_tokens_details") ?? {}, "thinking_tokens"),
  };
}

/** Returns the token counts of a usage object; missing counts are 0. */
export function requestUsageOf(provider: ProviderKind, usage: JsonObject): RequestUsage {
  return usageOfCounts(countsOf(provider, usage));
}

/** Token counts from a usage object of any API; 0 where it has none. */
export function anyUsage(usage: JsonObject): Usage {
  if ("prompt_tokens" in usage) {
    const details = (name: string) => objectMember(usage, `${name}_tokens_details`) ?? {};
    return {
      input_tokens: countMember(usage, "prompt_tokens"),
      cached_tokens: countMember(details("prompt"), "cached_tokens"),
      output_tokens: countMember(usage, "completion_tokens"),
      reasoning_tokens: countMember(details("completion"), "reasoning_tokens"),
    };
  }
  const messages = usageOfCounts(messagesCounts(usage));
  const responses = usageOfCounts(responsesCounts(usage));
  return messages.input_tokens > responses.input_tokens || messages.reasoning_tokens > 0
    ? messages
    : responses;
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
