import type { ProviderKind } from "../domain/fingerprint.ts";
import { anthropicMessages } from "./anthropic/dialect.ts";
import { openaiResponses } from "./openai/dialect.ts";
import type { Dialect } from "./provider.ts";

/** The dialect that a kind of provider speaks. */
export function dialectOf(provider: ProviderKind): Dialect {
  return provider === "anthropic" ? anthropicMessages : openaiResponses;
}
