/** Token counts of answers in words. */
import { counted } from "../../domain/text.ts";
import type { Usage } from "../../domain/usage.ts";

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
