/** Origin that an encrypted item is bound to: provider kind, endpoint, account, model (protocol §4.3). */
import { RepriseError } from "./errors.ts";
import { sha256Hex } from "./hash.ts";

/**
 * API providers: OpenAI, Azure OpenAI, Anthropic, or another server that speaks the Responses API. No encrypted item
 * goes from one kind to another.
 */
export const PROVIDER_KINDS = ["openai", "azure", "anthropic", "compatible"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** The hashes by which an endpoint is recognised (docs/format.md). */
export interface EndpointHashes {
  /** First 8 hex digits of the sha256 of the normalised base URL. */
  readonly endpoint: string;
  /** On loopback only: the hash without the port, which older turns have in `endpoint`. */
  readonly portless?: string;
}

/**
 * Endpoint in fingerprints of imported responses, unless the user named their origin. No hash equals it, so that their
 * reasoning goes nowhere.
 */
export const IMPORTED_ENDPOINT = "imported";

/** Model in turns of an imported session whose source names none. */
export const UNKNOWN_MODEL = "unknown";

/** Origin of a response. Written `provider:model:endpoint` for people. */
export interface Fingerprint extends EndpointHashes {
  readonly provider: ProviderKind;
  /**
   * First 16 hex digits of the sha256 of organization and project (or workspace), or `null` while no response named
   * them.
   */
  readonly account: string | null;
  /** Hash of the key that was sent with the request, by {@linkcode keyHash}; absent if a fixture is played. */
  readonly key?: string;
}

/** Formats a fingerprint for people: `openai:gpt-5.6:1f3a9c02`. */
export function fingerprintText(fingerprint: Fingerprint, modelAsked: string): string {
  return `${fingerprint.provider}:${modelAsked}:${fingerprint.endpoint}`;
}

/**
 * Parses a base URL into the form that is hashed and requested: lower-case scheme and host, no trailing slash, no
 * query. `hint` is the advice for a URL that cannot be used.
 *
 * @throws {RepriseError} `bad_url` when it is not an http(s) URL, or carries credentials, a query or a fragment.
 */
export function parseBaseUrl(text: string, hint = "Give a URL such as https://api.openai.com/v1"): URL {
  // A user or password may be a key.
  const shown = JSON.stringify(text.replace(/[^/]*@/, "…@"));
  const refuse = (why: string) =>
    new RepriseError("bad_url", `Cannot use ${shown} as a base URL: ${why}`, { hint });
  if (!URL.canParse(text)) throw refuse("it is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("it is neither http nor https");
  if (url.username !== "" || url.password !== "") throw refuse("it carries a user name or password");
  if (url.search !== "" || url.hash !== "") throw refuse("it carries a query or a fragment");
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

/**
 * True for the hosts that name only this machine: `localhost`, 127.0.0.0/8 and ::1, as a URL writes them. The same as
 * `isLoopbackHost` in `address.ts`, whose library takes 2 ms to load: too long for every command.
 */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/**
 * Hashes a base URL: scheme, host, port (the default one of the scheme is left out, except on loopback), path without
 * trailing slash.
 */
export function endpointHashes(baseUrl: URL): EndpointHashes {
  const portless = portlessEndpoint(baseUrl);
  if (portless === null) return { endpoint: hashOf(baseUrl, baseUrl.host) };
  const port = baseUrl.port || (baseUrl.protocol === "https:" ? "443" : "80");
  return { endpoint: hashOf(baseUrl, `${baseUrl.hostname}:${port}`), portless };
}

/** Hashes a loopback base URL without its port; `null` for the URL of any other host. */
export function portlessEndpoint(baseUrl: URL): string | null {
  return isLoopback(baseUrl) ? hashOf(baseUrl, baseUrl.hostname) : null;
}

function hashOf(baseUrl: URL, host: string): string {
  return sha256Hex(`${baseUrl.protocol}//${host}${baseUrl.pathname.replace(/\/+$/, "")}`).slice(0, 8);
}

/** True unless the endpoints are known to differ: a loopback endpoint whose port is unknown may be any of its host. */
export function mayBeSameEndpoint(a: EndpointHashes, b: EndpointHashes): boolean {
  return a.endpoint === b.endpoint || a.endpoint === b.portless || a.portless === b.endpoint;
}

/** True if two endpoints may be the same only because the port of one of them is unknown. */
export function differOnlyByPort(a: EndpointHashes, b: EndpointHashes): boolean {
  return a.endpoint !== b.endpoint && mayBeSameEndpoint(a, b);
}

/** True unless the accounts are known to differ: by their names, or by the keys if an account has no name. */
export function mayBeSameAccount(
  a: Pick<Fingerprint, "account" | "key">,
  b: Pick<Fingerprint, "account" | "key">,
): boolean {
  if (a.account !== null && b.account !== null) return a.account === b.account;
  return a.key === undefined || b.key === undefined || a.key === b.key;
}

/** First 16 hex digits of the sha256 of a session's family id and a key: equal for the same key of one family only. */
export function keyHash(family: string, key: string): string {
  return sha256Hex(`${family}\n${key}`).slice(0, 16);
}

/** The text of {@linkcode accountName}. */
const ACCOUNT_NAME = /^account-([0-9a-f]{16})$/;

/** The name that fixtures have instead of an organization, a project or a workspace, by the hash of their account. */
export function accountName(hash: string): string {
  return `account-${hash}`;
}

export function isAccountName(name: string): boolean {
  return ACCOUNT_NAME.test(name);
}

/** Hash of a response's account, from the names in its headers; `null` if they name none. */
export function accountHash(organization: string | null, project: string | null): string | null {
  if (organization === null && project === null) return null;
  // A played answer is of the account that it was recorded with.
  const recorded = ACCOUNT_NAME.exec(organization ?? project ?? "")?.[1];
  if (recorded !== undefined) return recorded;
  return sha256Hex(`${organization ?? ""}\n${project ?? ""}`).slice(0, 16);
}
