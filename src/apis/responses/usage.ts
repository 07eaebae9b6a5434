import { type AnswerCounts, type RequestUsage, usageOfCounts } from "../../domain/usage.ts";
import { type JsonObject, knownCount, objectMember } from "../../domain/json.ts";

/** Token counts of a response. Older models and other servers count no cache writes (§7.1). */
export function responsesCounts(usage: JsonObject): AnswerCounts {
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

/** Token counts of a response as sums need them. */
export function responsesUsage(usage: JsonObject): RequestUsage {
  return usageOfCounts(responsesCounts(usage));
}
