import type { ProviderKind } from "../domain/fingerprint.ts";
import { anthropicMessages } from "./messages/dialect.ts";
import { openaiResponses } from "./responses/dialect.ts";
import type { Dialect } from "./api.ts";

/** The dialect that a kind of provider speaks. */
export function dialectOf(provider: ProviderKind): Dialect {
  return provider === "anthropic" ? anthropicMessages : openaiResponses;
}
