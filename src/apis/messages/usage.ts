import { addTokenCounts, type AnswerCounts, type RequestUsage, usageOfCounts } from "../../domain/usage.ts";
import { type JsonObject, knownCount, objectMember } from "../../domain/json.ts";

/**
 * Token counts of a message. Unlike OpenAI's, the three input counts are disjoint: the input is their sum (§10). Without
 * the members of the cache, it was not used.
 */
export function messagesCounts(usage: JsonObject): AnswerCounts {
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

/** Token counts of a message as sums need them. */
export function messagesUsage(usage: JsonObject): RequestUsage {
  return usageOfCounts(messagesCounts(usage));
}
