/** Token counts of answers, whatever names their API gives them. */
import { messagesUsage } from "../../apis/messages/usage.ts";
import { responsesUsage } from "../../apis/responses/usage.ts";
import { countMember, type JsonObject, objectMember } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { Usage } from "../../domain/usage.ts";

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
  const [messages, responses] = [messagesUsage(usage), responsesUsage(usage)];
  return messages.input_tokens > responses.input_tokens || messages.reasoning_tokens > 0
    ? messages
    : responses;
}

/** Token counts in words. */
export function usageText(usage: Usage): string {
  const { input_tokens: input, cached_tokens: cached, output_tokens: output, reasoning_tokens: reasoning } =
    usage;
  if (input + output === 0) return "no token counts";
  const missing = usage.uncounted === undefined ? "" : `; ${counted(usage.uncounted, "answer")} not counted`;
  const part = (count: number, what: string) => count === 0 ? "" : `, ${count} of them ${what}`;
  return `${counted(input, "token")} in${part(cached, "cached")}, ${output} out${
    part(reasoning, "reasoning")
  }${missing}`;
}
