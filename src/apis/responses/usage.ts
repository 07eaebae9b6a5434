import { cacheWrites, type RequestUsage } from "../../domain/usage.ts";
import { countMember, type JsonObject, objectMember } from "../../domain/json.ts";

/** Token counts of a response; missing counts are 0. Older models and other servers count no cache writes (§7.1). */
export function responsesUsage(usage: JsonObject): RequestUsage {
  const input = objectMember(usage, "input_tokens_details") ?? {};
  const output = objectMember(usage, "output_tokens_details") ?? {};
  return {
    input_tokens: countMember(usage, "input_tokens"),
    cached_tokens: countMember(input, "cached_tokens"),
    ...cacheWrites(countMember(input, "cache_write_tokens")),
    output_tokens: countMember(usage, "output_tokens"),
    reasoning_tokens: countMember(output, "reasoning_tokens"),
  };
}
