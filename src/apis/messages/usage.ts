import { addTokenCounts, cacheWrites, type RequestUsage } from "../../domain/usage.ts";
import { countMember, type JsonObject, objectMember } from "../../domain/json.ts";

/** Token counts of a message. Unlike OpenAI's, the three input counts are disjoint: the input is their sum (§10). */
export function messagesUsage(usage: JsonObject): RequestUsage {
  const cached = countMember(usage, "cache_read_input_tokens");
  const written = countMember(usage, "cache_creation_input_tokens");
  return {
    input_tokens: [countMember(usage, "input_tokens"), written, cached].reduce(addTokenCounts),
    cached_tokens: cached,
    ...cacheWrites(written),
    output_tokens: countMember(usage, "output_tokens"),
    reasoning_tokens: countMember(objectMember(usage, "output_tokens_details") ?? {}, "thinking_tokens"),
  };
}
