/**
 * Token counts of recorded answers, whatever names their API gives them.
 *
 * @module
 */
import { countMember, type JsonObject, objectMember } from "../../domain/json.ts";
import type { RequestPoint } from "./page.ts";

/** Token counts from a usage object of any API; 0 where it has none. */
export function anyUsage(
  usage: JsonObject | null,
): Pick<RequestPoint, "input" | "cached" | "output" | "reasoning"> {
  const whole = usage ?? {};
  const details = (name: string) => objectMember(whole, name) ?? {};
  const first = (...counts: readonly number[]) => counts.find((count) => count > 0) ?? 0;
  // If an API counts cached tokens beside the input, they are added to it here.
  const beside = countMember(whole, "cache_read_input_tokens") +
    countMember(whole, "cache_creation_input_tokens");
  return {
    input: first(countMember(whole, "input_tokens") + beside, countMember(whole, "prompt_tokens")),
    cached: first(
      countMember(details("input_tokens_details"), "cached_tokens"),
      countMember(details("prompt_tokens_details"), "cached_tokens"),
      countMember(whole, "cache_read_input_tokens"),
    ),
    output: first(countMember(whole, "output_tokens"), countMember(whole, "completion_tokens")),
    reasoning: first(
      countMember(details("output_tokens_details"), "reasoning_tokens"),
      countMember(details("output_tokens_details"), "thinking_tokens"),
      countMember(details("completion_tokens_details"), "reasoning_tokens"),
    ),
  };
}
