/**
 * Which provider is asked, at which base URL, and the URL of each request there.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import {
  type EndpointHashes,
  endpointHashes,
  isLoopback,
  mayBeSameEndpoint,
  parseBaseUrl,
  portlessEndpoint,
  PROVIDER_KINDS,
  type ProviderKind,
} from "../../domain/fingerprint.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { REQUEST_FLAGS, type RequestFlags } from "../flags.ts";
import type { Fixture } from "../../fixture/read.ts";
import { AZURE_VERSION_VARIABLES, DEFAULT_PROVIDER, PROVIDERS } from "../../apis/providers.ts";
import type { ServedRoute } from "../serve/wrapped_command.ts";
import { type Config, declaredSources, firstSetting, type Setting } from "../settings.ts";

/** Sources of settings beside flags and environment. */
export interface SettingSources {
  readonly config: Config;
  /** The fixture that is played; `null` for none. */
  readonly fixture: Fixture | null;
  /** `null` for a session without a run. */
  readonly manifest: Manifest | null;
}

/** The server that requests go to. */
export interface Endpoint extends EndpointHashes {
  readonly provider: ProviderKind;
  readonly providerSource: Setting<string>["source"];
  /** Normalised, without the query of Azure and without a `/v1` that clients add. */
  readonly baseUrl: URL;
  readonly source: Setting<string>["source"];
  /** The URL of a request by the path that the API gives it, such as `/responses`. */
  urlOf(path: string): string;
}

/**
 * The provider: flag; the session's last, unless `-m` names another model; then the fixture's own where one is
 * played, otherwise environment, configuration, `openai`.
 *
 * @throws {RepriseError} `usage` for a provider that is none.
 */
export function providerSetting(
  ports: Ports,
  flags: RequestFlags,
  from: SettingSources,
): Setting<ProviderKind> {
  const { config, fixture, manifest } = from;
  const found = ((): Setting<string> => {
    if (flags.provider !== undefined) return { value: flags.provider, source: "flag" };
    if (manifest !== null && !namesModel(flags)) {
      return { value: manifest.pins.fingerprint.provider, source: "session" };
    }
    if (fixture !== null) return { value: fixture.provider, source: "fixture" };
    return firstSetting(ports, declaredSources(REQUEST_FLAGS.provider, config)) ??
      { value: DEFAULT_PROVIDER, source: "default" };
  })();
  const kind = PROVIDER_KINDS.find((known) => known === found.value);
  if (kind === undefined) {
    throw new RepriseError(
      "usage",
      `Cannot use the provider ${JSON.stringify(found.value)} (${found.source}): this version speaks ` +
        PROVIDER_KINDS.join(", "),
      { hint: 'Servers that speak the Responses API are reached with "-p compatible" and --base-url' },
    );
  }
  return { value: kind, source: found.source };
}

function namesModel(flags: RequestFlags): boolean {
  return flags.model !== undefined && flags.model !== "";
}

/**
 * The provider and base URL in force: flag, environment, configuration, default; under a fixture flag or fixture,
 * whatever the environment says. The configuration's base URL counts only for the configuration's provider, so that
 * no key goes to the server of another.
 *
 * @throws {RepriseError} `usage` for a provider that is none; `no_base_url` where the provider has no default;
 * `bad_url`.
 */
export function endpointSetting(ports: Ports, flags: RequestFlags, from: SettingSources): Endpoint {
  const { config, fixture } = from;
  const { value: provider, source: providerSource } = providerSetting(ports, flags, from);
  const found = fixture === null
    ? liveBaseUrl(ports, flags, { provider, config })
    : flags.baseUrl === undefined
    ? { value: fixture.baseUrl, source: "fixture" } as const
    : { value: flags.baseUrl, source: "flag" } as const;
  // The target of a played fixture must not depend on the machine.
  const version = fixture === null ? azureVersion(ports) : null;
  const { baseUrl, prefix, query } = readBaseUrl(provider, found.value, version);
  return {
    provider,
    providerSource,
    baseUrl,
    source: found.source,
    ...hashesOf(ports, { provider, baseUrl }, from),
    urlOf: (path) => `${prefix}${path}${query}`,
  };
}

/** The hashes of the endpoint that `baseUrl` is, or that the loopback server there represents. */
function hashesOf(
  ports: Ports,
  { provider, baseUrl }: Pick<Endpoint, "provider" | "baseUrl">,
  { fixture, manifest }: SettingSources,
): EndpointHashes {
  if (fixture === null) {
    const represented = representedUrl(ports, baseUrl);
    return endpointHashes(represented === null ? baseUrl : readBaseUrl(provider, represented, null).baseUrl);
  }
  // A fixture that was recorded at a random port is played the same way each time, unless the session tells ports apart.
  const portless = portlessEndpoint(baseUrl);
  const countsPorts = manifest?.pins.fingerprint.portless !== undefined;
  return portless === null || countsPorts ? endpointHashes(baseUrl) : { endpoint: portless };
}

function liveBaseUrl(
  ports: Ports,
  flags: RequestFlags,
  { provider, config }: { readonly provider: ProviderKind } & Pick<SettingSources, "config">,
): Setting<string> {
  const { urlVariables, defaultUrl, urlHint } = PROVIDERS[provider];
  const declared = declaredSources(REQUEST_FLAGS.baseUrl, config);
  const configured = declaredSources(REQUEST_FLAGS.provider, config).config ?? DEFAULT_PROVIDER;
  const found = firstSetting(ports, {
    flag: flags.baseUrl,
    env: [...declared.env, ...urlVariables],
    config: configured === provider ? declared.config : undefined,
  });
  if (found !== null) return found;
  if (defaultUrl !== null) return { value: defaultUrl, source: "default" };
  throw new RepriseError("no_base_url", `Cannot tell where the provider ${provider} is: no base URL is set`, {
    hint: urlHint,
  });
}

/** A base URL, with the texts before and after the path of a request. */
interface ReadUrl {
  readonly baseUrl: URL;
  readonly prefix: string;
  readonly query: string;
}

function readBaseUrl(provider: ProviderKind, text: string, version: string | null): ReadUrl {
  const { urlHint, urlForm } = PROVIDERS[provider];
  if (urlForm === "resource") return readAzureUrl(text, version, urlHint);
  const baseUrl = parseBaseUrl(text, urlHint);
  if (urlForm === "plain") return { baseUrl, prefix: textOf(baseUrl), query: "" };
  // With or without the version that clients add, it is the same endpoint.
  baseUrl.pathname = baseUrl.pathname.replace(/\/v1$/, "");
  return { baseUrl, prefix: `${textOf(baseUrl)}/v1`, query: "" };
}

/**
 * Azure's two forms (protocol §12): `/openai/v1`, and `/openai` with an `api-version`. The resource alone becomes the
 * one or the other.
 */
function readAzureUrl(text: string, version: string | null, urlHint: string): ReadUrl {
  const [address = "", ...rest] = text.split("?");
  const given = rest.length === 0 ? null : /^api-version=([\w.-]+)$/.exec(rest.join("?"))?.[1];
  if (given === undefined) {
    throw new RepriseError(
      "bad_url",
      `Cannot use ${JSON.stringify(text)} as a base URL: its query is not one api-version`,
      { hint: urlHint },
    );
  }
  const baseUrl = parseBaseUrl(address, urlHint);
  const isResource = /^\/(openai)?$/.test(baseUrl.pathname);
  const wanted = given ?? (isResource ? version : null);
  if (isResource) baseUrl.pathname = wanted === null ? "/openai/v1" : "/openai";
  return { baseUrl, prefix: textOf(baseUrl), query: wanted === null ? "" : `?api-version=${wanted}` };
}

/** The dated API version of the environment; `null` for one such as `v1` or `preview`, which needs no query. */
function azureVersion(ports: Ports): string | null {
  const set = firstSetting(ports, { env: AZURE_VERSION_VARIABLES, config: undefined })?.value ?? "";
  return /^\d{4}-\d{2}-\d{2}(-\w+)?$/.test(set) ? set : null;
}

function textOf(baseUrl: URL): string {
  return baseUrl.href.replace(/\/+$/, "");
}

/**
 * Refuses to send a session's history to another endpoint than its last run asked, if neither a flag nor the
 * environment names that endpoint. A flag or variable that names another provider counts as naming its endpoint.
 *
 * @throws {RepriseError} `endpoint_changed`.
 */
export function requireNamedEndpoint(
  endpoint: Endpoint,
  manifest: Manifest | null,
): void {
  if (manifest === null || endpoint.source !== "config" && endpoint.source !== "default") return;
  const before = manifest.pins.fingerprint;
  if (before.provider === endpoint.provider && mayBeSameEndpoint(before, endpoint)) return;
  const { providerSource } = endpoint;
  const namesProvider = providerSource === "flag" || providerSource === "environment";
  if (before.provider !== endpoint.provider && namesProvider) return;
  const { urlVariables: [variable] } = PROVIDERS[endpoint.provider];
  const asked = publicUrl(before.endpoint) ?? "a base URL that it keeps as a hash only";
  throw new RepriseError(
    "endpoint_changed",
    `Cannot continue session "${manifest.session}": its last run asked ${before.provider} endpoint ` +
      `${before.endpoint} (${asked}), and this one would ask ${endpoint.provider} endpoint ${endpoint.endpoint} ` +
      `(${endpoint.urlOf("")}, ${endpoint.source}), which neither a flag nor the environment names`,
    {
      hint: `Name the endpoint that may have the whole history, with --base-url or ${variable}`,
      details: {
        session: manifest.session,
        before: { provider: before.provider, endpoint: before.endpoint },
        now: { provider: endpoint.provider, endpoint: endpoint.endpoint, base_url: endpoint.urlOf("") },
      },
    },
  );
}

/** The public base URL of a provider that has that hash; `null` where none has. */
function publicUrl(endpoint: string): string | null {
  const urls = Object.values(PROVIDERS).flatMap(({ defaultUrl }) => defaultUrl ?? []);
  return urls.find((url) => endpointHashes(parseBaseUrl(url)).endpoint === endpoint) ?? null;
}

/**
 * Names the endpoints that the loopback servers of `serve` and `record` represent: a JSON object with the base URL that
 * each loopback base URL represents.
 *
 * Their ports are random, and reasoning is bound to its endpoint: without the variable each run would meet another
 * one. It decides fingerprints and nothing else. Requests and keys go to the base URL in force, and the variable counts
 * only where that is a loopback URL that it names.
 */
const REPRESENTS = "REPRISE_REPRESENTS";

/**
 * The variable for clients that these routes lead to our servers. An API whose base URL is not known is at a host that
 * cannot exist. Where our own upstream is such a server, the endpoint that this one represents counts.
 */
export function representing(
  ports: Pick<Ports, "env">,
  served: readonly ServedRoute[],
): Record<string, string> {
  const pairs = served.map(({ route: { path, baseUrl }, origin }) => {
    // The query of Azure is in no fingerprint.
    const [upstream = ""] = (baseUrl ?? `http://recorded.invalid${path}`).split("?", 1);
    const url = URL.parse(upstream);
    return [`${origin}${path}`, (url === null ? null : representedUrl(ports, url)) ?? upstream] as const;
  });
  return { [REPRESENTS]: JSON.stringify(Object.fromEntries(pairs)) };
}

/**
 * The base URL that the server at `baseUrl` represents; `null` where the variable does not name it, or it is not on
 * loopback.
 *
 * @throws {RepriseError} `bad_configuration` when the variable is not an object of base URLs.
 */
export function representedUrl(ports: Pick<Ports, "env">, baseUrl: URL): string | null {
  const text = ports.env(REPRESENTS) ?? "";
  if (text === "" || !isLoopback(baseUrl)) return null;
  const hrefOf = (url: string) => parseBaseUrl(url, REPRESENTS_HINT).href;
  const found = representedEntries(text).find(([ours]) => hrefOf(ours) === hrefOf(baseUrl.href));
  return found?.[1] ?? null;
}

const REPRESENTS_HINT = `Unset ${REPRESENTS}: serve and record set it for the commands that they start`;

function representedEntries(text: string): [string, string][] {
  let value: JsonValue | undefined;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusableVariable();
  }
  if (!isJsonObject(value)) throw unusableVariable();
  return Object.entries(value).map(([ours, represented]) => {
    if (!URL.canParse(ours) || typeof represented !== "string") throw unusableVariable();
    return [ours, represented];
  });
}

function unusableVariable(): RepriseError {
  return new RepriseError(
    "bad_configuration",
    `Cannot use ${REPRESENTS}: it is not a JSON object of base URLs`,
    { hint: REPRESENTS_HINT },
  );
}
