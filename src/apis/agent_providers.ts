/** Providers in the sessions of other agents, by the names that those use. */
import type { ProviderKind } from "../domain/fingerprint.ts";
import type { JsonValue } from "../domain/json.ts";
import { DEFAULT_PROVIDER, PROVIDERS } from "./providers.ts";

/** The provider of each answer in a transcript of Claude Code: it speaks one API. */
export const CLAUDE_CODE_PROVIDER: ProviderKind = "anthropic";

/** The provider of an answer in a session of pi; other APIs, and servers of the user's own, are `compatible`. */
export function providerInPi(api: JsonValue | undefined, provider: JsonValue | undefined): ProviderKind {
  if (api === "anthropic-messages") return "anthropic";
  return api === "openai-responses" && provider === "openai" ? "openai" : "compatible";
}

export function namesInPi(provider: ProviderKind): { readonly api: string; readonly provider: string } {
  const api = answersInBlocks(provider) ? "anthropic-messages" : "openai-responses";
  return { api, provider };
}

/** True if answers of this provider's API are blocks, and its thinking counts only under its own system prompt and tools. */
export function answersInBlocks(provider: ProviderKind): boolean {
  return PROVIDERS[provider].api !== PROVIDERS[DEFAULT_PROVIDER].api;
}
