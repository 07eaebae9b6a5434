/**
 * Where each kind of provider is, and which variables hold its base URL and its key: the one place for such names.
 *
 * @module
 */
import type { ProviderKind } from "../../domain/fingerprint.ts";
import type { ApiKey } from "../../apis/api.ts";

/** Holds the base URL of whatever provider, before any variable of the provider's own. */
export const OWN_URL_VARIABLE = "REPRISE_BASE_URL";

/** A variable that may hold a key, and how that key goes out. */
export interface KeyVariable {
  readonly name: string;
  readonly scheme: ApiKey["scheme"];
}

/** What a kind of provider is reached with. */
export interface ProviderAccess {
  /** Variables with its base URL, after {@linkcode OWN_URL_VARIABLE}; the first that is set counts. */
  readonly urlVariables: readonly string[];
  /** `null` where only the user can know it. */
  readonly defaultUrl: string | null;
  /** How to give a base URL, for hints. */
  readonly urlHint: string;
  /** Variables with its key; the first that is set counts. */
  readonly keyVariables: readonly KeyVariable[];
}

/** The access of each kind. */
export const PROVIDER_ACCESS: Readonly<Record<ProviderKind, ProviderAccess>> = {
  openai: {
    urlVariables: ["OPENAI_BASE_URL"],
    defaultUrl: "https://api.openai.com/v1",
    urlHint: "Give a URL such as https://api.openai.com/v1 with --base-url or OPENAI_BASE_URL",
    keyVariables: [{ name: "OPENAI_API_KEY", scheme: "bearer" }],
  },
  azure: {
    urlVariables: ["AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"],
    defaultUrl: null,
    urlHint:
      "Give https://RESOURCE.openai.azure.com/openai/v1, or with a dated version https://RESOURCE.openai.azure.com" +
      "/openai?api-version=VERSION, with --base-url or AZURE_OPENAI_BASE_URL",
    keyVariables: [
      { name: "AZURE_OPENAI_API_KEY", scheme: "api_key" },
      { name: "AZURE_OPENAI_AD_TOKEN", scheme: "bearer" },
    ],
  },
  anthropic: {
    urlVariables: ["ANTHROPIC_BASE_URL"],
    defaultUrl: "https://api.anthropic.com",
    urlHint: "Give a URL such as https://api.anthropic.com with --base-url or ANTHROPIC_BASE_URL",
    keyVariables: [
      { name: "ANTHROPIC_API_KEY", scheme: "bearer" },
      { name: "ANTHROPIC_AUTH_TOKEN", scheme: "bearer" },
    ],
  },
  compatible: {
    urlVariables: ["OPENAI_BASE_URL"],
    defaultUrl: null,
    urlHint: "Give a URL such as http://localhost:1234/v1 with --base-url or OPENAI_BASE_URL",
    keyVariables: [{ name: "OPENAI_API_KEY", scheme: "bearer" }],
  },
};
