/**
 * Kinds of provider, one row each: API, base URL, and the variables with base URL and key. Also recognises the provider
 * of a recorded request. Every start of the program loads this file, so it holds little code.
 */
import { PROVIDER_KINDS, type ProviderKind } from "../domain/fingerprint.ts";
import type { Api, ApiKey, ApiName } from "./api.ts";
import type { RuleSet } from "./rule.ts";

/** Variable with the base URL of any provider; it precedes the provider's own variables. */
export const OWN_URL_VARIABLE = "REPRISE_BASE_URL";

/** The provider of requests and recordings that name no provider. */
export const DEFAULT_PROVIDER: ProviderKind = "openai";

export interface KeyVariable {
  readonly name: string;
  readonly scheme: ApiKey["scheme"];
}

export interface Provider {
  /** The API that runs use. */
  readonly api: ApiName;
  /** Variables with its base URL, after {@linkcode OWN_URL_VARIABLE}; the first that is set counts. */
  readonly urlVariables: readonly string[];
  /** `null` if only the user knows it. */
  readonly defaultUrl: string | null;
  /** Advice on a base URL, for hints. */
  readonly urlHint: string;
  /**
   * Form of its base URLs. `plain`: requests go below it. `resource`: a resource of Azure, with `/openai/v1` or a
   * dated version (protocol §12). `unversioned`: clients add `/v1` themselves, whether it is given or not.
   */
  readonly urlForm: "plain" | "resource" | "unversioned";
  /** Variables with its key; the first that is set counts. */
  readonly keyVariables: readonly KeyVariable[];
  /** True if some of its servers check no key, so that any value works. */
  readonly takesAnyKey?: true;
  /** True if a server on this machine gets requests without a key. */
  readonly keylessOnLoopback?: true;
  /** True if it accepts visible reasoning as input (protocol §2.2, §12). */
  readonly takesVisibleReasoning?: true;
  readonly rules: RuleSet;
  /**
   * Its name in the price list, and whether models are named by deployments, whose names say nothing about the model;
   * `null` if each of its servers has other prices.
   */
  readonly priceList: { readonly name: string; readonly ofDeployments: boolean } | null;
  /** Hosts of its own servers, and the name of their owner, if its rules hold nowhere else. */
  readonly ownHosts?: { readonly owner: string; readonly pattern: RegExp };
}

export const PROVIDERS: Readonly<Record<ProviderKind, Provider>> = {
  openai: {
    api: "responses",
    urlVariables: ["OPENAI_BASE_URL"],
    defaultUrl: "https://api.openai.com/v1",
    urlHint: "Give a URL such as https://api.openai.com/v1 with --base-url or OPENAI_BASE_URL",
    urlForm: "plain",
    keyVariables: [{ name: "OPENAI_API_KEY", scheme: "bearer" }],
    takesAnyKey: true,
    rules: "openai",
    priceList: { name: "openai", ofDeployments: false },
    // Includes the hosts of its regions.
    ownHosts: { owner: "OpenAI", pattern: /^(?:[a-z-]+\.)?api\.openai\.com$/ },
  },
  azure: {
    api: "responses",
    urlVariables: ["AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"],
    defaultUrl: null,
    urlHint:
      "Give https://RESOURCE.openai.azure.com/openai/v1, or with a dated version https://RESOURCE.openai.azure.com" +
      "/openai?api-version=VERSION, with --base-url or AZURE_OPENAI_BASE_URL",
    urlForm: "resource",
    keyVariables: [
      { name: "AZURE_OPENAI_API_KEY", scheme: "api_key" },
      { name: "AZURE_OPENAI_AD_TOKEN", scheme: "bearer" },
    ],
    rules: "azure",
    priceList: { name: "azure", ofDeployments: true },
  },
  anthropic: {
    api: "messages",
    urlVariables: ["ANTHROPIC_BASE_URL"],
    defaultUrl: "https://api.anthropic.com",
    urlHint: "Give a URL such as https://api.anthropic.com with --base-url or ANTHROPIC_BASE_URL",
    urlForm: "unversioned",
    keyVariables: [
      { name: "ANTHROPIC_API_KEY", scheme: "bearer" },
      { name: "ANTHROPIC_AUTH_TOKEN", scheme: "bearer" },
    ],
    rules: "anthropic",
    priceList: { name: "anthropic", ofDeployments: false },
  },
  compatible: {
    api: "responses",
    urlVariables: ["OPENAI_BASE_URL"],
    defaultUrl: null,
    urlHint: "Give a URL such as http://localhost:1234/v1 with --base-url or OPENAI_BASE_URL",
    urlForm: "plain",
    keyVariables: [{ name: "OPENAI_API_KEY", scheme: "bearer" }],
    takesAnyKey: true,
    keylessOnLoopback: true,
    takesVisibleReasoning: true,
    rules: "none",
    priceList: null,
  },
};

/** The row of a kind of provider; the default one for the unknown kinds that turns of later versions may name. */
export function providerRow(provider: ProviderKind): Provider {
  return PROVIDERS[Object.hasOwn(PROVIDERS, provider) ? provider : DEFAULT_PROVIDER];
}

/** The main provider of an API; `null` if no run uses the API. */
export function usualProviderOf(api: ApiName): ProviderKind | null {
  return PROVIDER_KINDS.find((kind) => PROVIDERS[kind].api === api) ?? null;
}

/** Variables that may be read for providers, as patterns: a final `*` matches any rest. */
export const PROVIDER_VARIABLES: readonly string[] = ["OPENAI_*", "ANTHROPIC_*", "AZURE_*"];

/** Variables with the dated API version, for base URLs of the form `resource` without a version. */
export const AZURE_VERSION_VARIABLES: readonly string[] = ["AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"];

/** A variable with the base URL that a vendor's clients use. */
export interface ClientRoute {
  readonly variable: string;
  /** The provider whose clients read it. */
  readonly provider: ProviderKind;
  /** The path of the provider's own base URL. */
  readonly path: string;
  /** Part of a request's path that begins after such a base URL. */
  readonly resource: RegExp;
}

/** The routes of `record` and `serve` for the clients of a wrapped command. */
export const CLIENT_ROUTES: readonly ClientRoute[] = [
  {
    variable: "OPENAI_BASE_URL",
    provider: "openai",
    path: "/v1",
    resource: /\/(?:responses|chat\/completions)(?=[/?]|$)/,
  },
  {
    variable: "ANTHROPIC_BASE_URL",
    provider: "anthropic",
    path: "",
    resource: /\/v1\/messages(?=[/?]|$)/,
  },
];

/** The server of a recorded request, and what is known of its API. */
interface RequestOrigin {
  /** `https://HOST` of the server that received it. */
  readonly origin: string;
  /** Its API, as `apiOfRequest` resolves it; `null` if unknown. */
  readonly api: Pick<Api, "name"> | null;
  /** The route of the request; its provider, if not `null`, decides instead of path and headers. */
  readonly route?: { readonly provider: ProviderKind | null; readonly baseUrl: string | null };
}

/** Resources of the APIs: the path after a base URL begins with one of them (protocol §1, §8, §9). */
const RESOURCE = /\/(responses|messages|models|chat\/completions)(\/[^?]*)?$/;
const AZURE_HOSTS = /\.(openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/;

/**
 * The provider of a recorded request. Azure has hosts and a key header of its own, Anthropic an API and a header
 * (protocol §9, §12), OpenAI its hosts; any other server is compatible: it may accept what OpenAI refuses. Names of
 * `headers` are in lower case.
 */
export function providerOf(
  { headers, origin, route, api }: RequestOrigin & { readonly headers: Readonly<Record<string, string>> },
): ProviderKind {
  const url = new URL(origin);
  if (route?.provider === "anthropic" || route?.provider === "azure") return route.provider;
  if (isAzureHost(url) || headers["api-key"] !== undefined) return "azure";
  const isMessages = api?.name === "messages" || headers["anthropic-version"] !== undefined;
  if ((route?.provider ?? null) === null && isMessages) return "anthropic";
  return isOwnServer("openai", url) ? "openai" : "compatible";
}

export function isAzureHost({ hostname }: URL): boolean {
  return AZURE_HOSTS.test(hostname);
}

/** True for a server of the provider's own; of a provider without a list of hosts, for every server. */
export function isOwnServer(provider: ProviderKind, { hostname }: URL): boolean {
  return PROVIDERS[provider].ownHosts?.pattern.test(hostname) ?? true;
}

/** The base URL of a recorded request in the form for clients: up to the resource. */
export function baseUrlOf(
  { path, origin, route, api }: RequestOrigin & { readonly path: string },
  provider: ProviderKind,
): string {
  if (typeof route?.baseUrl === "string") return route.baseUrl;
  const pathname = pathOnly(path);
  const resource = RESOURCE.exec(pathname);
  const [versioned] = /^.*?\/v1(?=\/|$)/.exec(pathname) ?? [];
  const above = resource === null ? undefined : pathname.slice(0, resource.index);
  const base = (api === null ? versioned ?? above : above ?? versioned) ?? "";
  return `${origin}${clientPath(provider, base)}`;
}

/** The path of a base URL in the form for clients of the provider. */
export function clientPath(provider: ProviderKind, path: string): string {
  return PROVIDERS[provider].urlForm === "unversioned" ? path.replace(/\/v1$/, "") : path;
}

export function pathOnly(path: string): string {
  return path.split("?", 1)[0] ?? "";
}
