/**
 * Resolves the API of a request. Paths such as `/responses` and `/messages` are common, so a path alone does not claim a
 * request for an API of models: its server or its body has to.
 */
import { isJsonObject, type JsonValue } from "../domain/json.ts";
import type { Api } from "./api.ts";
import { HISTORY_MEMBERS } from "./canonical.ts";
import { apiOfPath } from "./apis.ts";
import { KNOWN_UPSTREAMS, knownUpstream } from "./known_upstreams.ts";
import { isAzureHost, isOwnServer, pathOnly, PROVIDERS } from "./providers.ts";
import type { ProviderKind } from "../domain/fingerprint.ts";

export interface RequestServer {
  /** Base URL, in the form that clients take, or an origin; empty if unknown. */
  readonly baseUrl: string;
  /** Provider that the user named, or that is known otherwise; `null` if unknown. */
  readonly provider: ProviderKind | null;
  /** Variable that led the client to the server; `null` if unknown. */
  readonly variable: string | null;
}

/** Resources of the APIs at the end of a path; the rest is the base URL, and what clients append to it. */
const RESOURCE = /\/(?:responses(?:\/[^/]+)?|messages(?:\/count_tokens)?|chat\/completions)\/?$/;
/** Beginnings of a path that clients put between a base URL, or a host, and a resource. */
const APPENDED = /^(?:\/openai)?(?:\/v\d+|\/deployments\/[^/]+)?$/;
/** Path after the host at servers whose hosts are known, such as `/api/v1` and `/anthropic/v1`. */
const OF_HOST = /^(?:\/(?:api|anthropic|inference|openai|models))?(?:\/v\d+|\/deployments\/[^/]+)?$/;

/** Hosts of model APIs: those of providers, and the defaults of the known variables. */
const KNOWN_HOSTS: ReadonlySet<string> = new Set(
  [
    ...Object.values(PROVIDERS).map(({ defaultUrl }) => defaultUrl),
    ...KNOWN_UPSTREAMS.filter(({ adds }) => RESOURCE.test(adds)).map(({ defaultUrl }) => defaultUrl),
  ].flatMap((url) => url === null ? [] : new URL(url).hostname),
);

/** Hosts of all APIs that clients find by a known variable, with their ports. */
const MODEL_HOSTS: ReadonlySet<string> = new Set(
  KNOWN_UPSTREAMS.flatMap(({ defaultUrl }) => defaultUrl === null ? [] : new URL(defaultUrl).host),
);

/** True for a host of a model API, whatever its paths. */
export function isModelHost(url: URL): boolean {
  return MODEL_HOSTS.has(url.host) || isAzureHost(url) || isOwnServer("openai", url);
}

/**
 * Returns the API of a request; `null` if neither its server nor its body shows that it is one of a model. Without a known
 * server, the body decides.
 */
export function apiOfRequest(
  path: string,
  json: JsonValue | undefined,
  server: RequestServer | null,
): Api | null {
  const api = apiOfPath(path);
  return api !== null && (asksModel(api, json) || server !== null && claims(server, path)) ? api : null;
}

/** True for a body with the members that every request of the API has. */
function asksModel({ canonical }: Api, json: JsonValue | undefined): boolean {
  return isJsonObject(json) && typeof json.model === "string" && json[canonical.list] !== undefined;
}

/**
 * True for a body that asks a model, whatever the API: with a model, or a version of an API in its place, and messages or a
 * prompt; or with the contents of the Gemini API, whose paths name the model.
 */
export function isModelRequest(json: JsonValue): boolean {
  if (!isJsonObject(json)) return false;
  const { contents, model, anthropic_version: version } = json;
  if (Array.isArray(contents) && contents.length > 0) {
    return contents.every((item) =>
      isJsonObject(item) && Array.isArray(item.parts) && item.parts.every(isJsonObject)
    );
  }
  const asks = [...HISTORY_MEMBERS, "prompt"].some((name) => json[name] !== undefined);
  return asks && (typeof model === "string" || typeof version === "string");
}

/** True if a server has an API of models at a path that ends in the resource of one, whatever the body. */
export function claims({ baseUrl, provider, variable }: RequestServer, path: string): boolean {
  const url = URL.parse(baseUrl);
  const pathname = pathOnly(path);
  const resource = RESOURCE.exec(pathname);
  if (url === null || resource === null) return false;
  const before = pathname.slice(0, resource.index);
  const isKnown = KNOWN_HOSTS.has(url.hostname) || isAzureHost(url) || isOwnServer("openai", url);
  if (isKnown && OF_HOST.test(before)) return true;
  const isNamed = provider !== null && provider !== "compatible" ||
    RESOURCE.test(variable === null ? "" : knownUpstream(variable)?.adds ?? "");
  const base = url.pathname.replace(/\/+$/, "");
  return isNamed && before.startsWith(base) && APPENDED.test(before.slice(base.length));
}
