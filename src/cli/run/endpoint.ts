/** Resolves the provider, its base URL, the URL of each request, and the key that may go there. */
import type { ApiKey } from "../../apis/api.ts";
import { RepriseError } from "../../domain/errors.ts";
import {
  type EndpointHashes,
  endpointHashes,
  IMPORTED_ENDPOINT,
  isLoopback,
  mayBeSameEndpoint,
  parseBaseUrl,
  portlessEndpoint,
  PROVIDER_KINDS,
  type ProviderKind,
} from "../../domain/fingerprint.ts";
import { parsedObject } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { REQUEST_FLAGS, type RequestFlags, type Transport } from "../flags.ts";
import type { Fixture } from "../../fixture/read.ts";
import {
  AZURE_VERSION_VARIABLES,
  DEFAULT_PROVIDER,
  type KeyVariable,
  PROVIDERS,
} from "../../apis/providers.ts";
import type { ServedRoute } from "../serve/client_environment.ts";
import type { Config } from "../config_file.ts";
import { declaredSources, firstSetting, type Setting } from "../settings.ts";

/** Sources of settings; the environment is one of the ports. */
export interface SettingSources {
  readonly ports: Ports;
  readonly flags: RequestFlags & { readonly transport?: Transport | undefined };
  readonly config: Config;
  readonly fixture: Fixture | null;
  /** `null` for a session without a run. */
  readonly manifest: Manifest | null;
}

/** The server that requests go to. */
export interface Endpoint extends EndpointHashes {
  readonly provider: ProviderKind;
  readonly providerSource: Setting<string>["source"];
  /** Normalised, without Azure's query and without a `/v1` that clients add. */
  readonly baseUrl: URL;
  readonly source: Setting<string>["source"];
  /** The URL of a request from its path in the API, such as `/responses`. */
  urlOf(path: string): string;
}

/**
 * The provider: flag; the session's last, unless `-m` names another model; then the played fixture's, or without a
 * fixture environment, configuration, `openai`.
 *
 * @throws {RepriseError} `usage` for an unknown provider.
 */
export function providerSetting(
  { ports, flags, config, fixture, manifest }: SettingSources,
): Setting<ProviderKind> {
  const setting = ((): Setting<string> => {
    if (flags.provider !== undefined) return { value: flags.provider, source: "flag" };
    if (manifest !== null && (flags.model ?? "") === "") {
      return { value: manifest.pins.fingerprint.provider, source: "session" };
    }
    if (fixture !== null) return { value: fixture.provider, source: "fixture" };
    return firstSetting(ports, declaredSources(REQUEST_FLAGS.provider, config)) ??
      { value: DEFAULT_PROVIDER, source: "default" };
  })();
  const kind = PROVIDER_KINDS.find((known) => known === setting.value);
  if (kind === undefined) {
    throw new RepriseError(
      "usage",
      `Cannot use the provider ${JSON.stringify(setting.value)} (${setting.source}): this version speaks ` +
        PROVIDER_KINDS.join(", "),
      { hint: 'Servers that speak the Responses API are reached with "-p compatible" and --base-url' },
    );
  }
  return { value: kind, source: setting.source };
}

/**
 * The provider and base URL in force: flag, environment, configuration, default; under a fixture only flag or fixture.
 * The configuration's base URL counts only for the configuration's provider, so that no key goes to the server of
 * another.
 *
 * @throws {RepriseError} `usage` for an unknown provider; `no_base_url` if the provider has no default;
 * `bad_url`.
 */
export function endpointSetting(from: SettingSources): Endpoint {
  const { ports, flags, fixture } = from;
  const { value: provider, source: providerSource } = providerSetting(from);
  const setting = fixture === null
    ? liveBaseUrl(from, provider)
    : flags.baseUrl === undefined
    ? { value: fixture.baseUrl, source: "fixture" } as const
    : { value: flags.baseUrl, source: "flag" } as const;
  // The target of a played fixture must not depend on the machine.
  const version = fixture === null ? azureVersion(ports) : null;
  const { baseUrl, prefix, query } = readBaseUrl(provider, setting.value, version);
  return {
    provider,
    providerSource,
    baseUrl,
    source: setting.source,
    ...hashesOf({ provider, baseUrl }, from),
    urlOf: (path) => `${prefix}${path}${query}`,
  };
}

/** The hashes of the endpoint at `baseUrl`, or of the endpoint that a loopback server there represents. */
function hashesOf(
  { provider, baseUrl }: Pick<Endpoint, "provider" | "baseUrl">,
  { ports, fixture, manifest }: SettingSources,
): EndpointHashes {
  if (fixture === null) {
    const represented = representedUrl(ports, baseUrl);
    return endpointHashes(represented === null ? baseUrl : readBaseUrl(provider, represented, null).baseUrl);
  }
  // A fixture recorded at a random port plays the same way each time, unless the session distinguishes ports.
  const portless = portlessEndpoint(baseUrl);
  const countsPorts = manifest?.pins.fingerprint.portless !== undefined;
  return portless === null || countsPorts ? endpointHashes(baseUrl) : { endpoint: portless };
}

function liveBaseUrl({ ports, flags, config }: SettingSources, provider: ProviderKind): Setting<string> {
  const { urlVariables, defaultUrl, urlHint } = PROVIDERS[provider];
  const declared = declaredSources(REQUEST_FLAGS.baseUrl, config);
  const configured = declaredSources(REQUEST_FLAGS.provider, config).config ?? DEFAULT_PROVIDER;
  const setting = firstSetting(ports, {
    flag: flags.baseUrl,
    env: [...declared.env, ...urlVariables],
    config: configured === provider ? declared.config : undefined,
  });
  if (setting !== null) return setting;
  if (defaultUrl !== null) return { value: defaultUrl, source: "default" };
  throw new RepriseError("no_base_url", `Cannot use the provider ${provider}: no base URL is set`, {
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
  // The endpoint is the same with and without the version that clients add.
  baseUrl.pathname = baseUrl.pathname.replace(/\/v1$/, "");
  return { baseUrl, prefix: `${textOf(baseUrl)}/v1`, query: "" };
}

/**
 * Azure's two forms (protocol §12): `/openai/v1`, and `/openai` with an `api-version`. The bare resource
 * becomes one of them.
 */
function readAzureUrl(text: string, version: string | null, urlHint: string): ReadUrl {
  const [address = "", ...rest] = text.split("?");
  const queryVersion = rest.length === 0 ? null : /^api-version=([\w.-]+)$/.exec(rest.join("?"))?.[1];
  if (queryVersion === undefined) {
    throw new RepriseError(
      "bad_url",
      `Cannot use ${JSON.stringify(text)} as a base URL: its query is not one api-version`,
      { hint: urlHint },
    );
  }
  const baseUrl = parseBaseUrl(address, urlHint);
  const isResource = /^\/(openai)?$/.test(baseUrl.pathname);
  const wanted = queryVersion ?? (isResource ? version : null);
  if (isResource) baseUrl.pathname = wanted === null ? "/openai/v1" : "/openai";
  return { baseUrl, prefix: textOf(baseUrl), query: wanted === null ? "" : `?api-version=${wanted}` };
}

/** The dated API version of the environment; `null` for versions such as `v1` or `preview`, which need no query. */
function azureVersion(ports: Ports): string | null {
  const set = firstSetting(ports, { env: AZURE_VERSION_VARIABLES, config: undefined })?.value ?? "";
  return /^\d{4}-\d{2}-\d{2}(-\w+)?$/.test(set) ? set : null;
}

function textOf(baseUrl: URL): string {
  return baseUrl.href.replace(/\/+$/, "");
}

/**
 * Refuses to send a session's history to another endpoint than that of its last run, if neither a flag nor the
 * environment names the new endpoint. A flag or variable that names another provider counts as naming its endpoint.
 *
 * @throws {RepriseError} `endpoint_changed`.
 */
export function requireNamedEndpoint(endpoint: Endpoint, manifest: Manifest | null): void {
  if (manifest === null || endpoint.source !== "config" && endpoint.source !== "default") return;
  const before = manifest.pins.fingerprint;
  if (before.provider === endpoint.provider && mayBeSameEndpoint(before, endpoint)) return;
  const { providerSource } = endpoint;
  const namesProvider = providerSource === "flag" || providerSource === "environment";
  if (before.provider !== endpoint.provider && namesProvider) return;
  const { urlVariables: [variable] } = PROVIDERS[endpoint.provider];
  const asked = publicUrl(before.endpoint) ?? "a base URL that it keeps as a hash only";
  const past = before.endpoint === IMPORTED_ENDPOINT
    ? "it was imported from another agent and names no endpoint"
    : `its last run asked ${before.provider} endpoint ${before.endpoint} (${asked})`;
  throw new RepriseError(
    "endpoint_changed",
    `Cannot continue session "${manifest.session}": ${past}, ` +
      `and this run would ask ${endpoint.provider} endpoint ${endpoint.endpoint} ` +
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

/** The public base URL of a provider with this hash; `null` if there is none. */
function publicUrl(endpoint: string): string | null {
  const urls = Object.values(PROVIDERS).flatMap(({ defaultUrl }) => defaultUrl ?? []);
  return urls.find((url) => endpointHashes(parseBaseUrl(url)).endpoint === endpoint) ?? null;
}

/** The first variable that holds a key for this provider; `null` when none is set. */
export function keyVariable(ports: Ports, provider: ProviderKind): KeyVariable | null {
  return PROVIDERS[provider].keyVariables.find(({ name }) => valueOf(ports, name) !== "") ?? null;
}

/** The key for requests to this provider, unchecked; `null` if none is set. */
export function keyInForce(ports: Ports, provider: ProviderKind): ApiKey | null {
  const variable = keyVariable(ports, provider);
  return variable === null ? null : { value: valueOf(ports, variable.name), scheme: variable.scheme };
}

/**
 * The key for an endpoint; `null` if none is set for a compatible server on this machine: many need no key.
 *
 * @throws {RepriseError} `missing_key`; `insecure_url` when the key would cross a network unencrypted.
 */
export function keySetting(ports: Ports, { provider, baseUrl }: Endpoint): ApiKey | null {
  const key = keyInForce(ports, provider);
  if (key === null) {
    const { keyVariables, keylessOnLoopback, takesAnyKey } = PROVIDERS[provider];
    if (keylessOnLoopback && isLoopback(baseUrl)) return null;
    const names = keyVariables.map(({ name }) => name).join(" or ");
    const anyValue = takesAnyKey ? " (servers that need none take any value)" : "";
    throw new RepriseError("missing_key", `Cannot send a request to ${baseUrl.origin}: no key is set`, {
      hint: `Set ${names}${anyValue}, or play a fixture with --fixture DIR`,
    });
  }
  // Header values are one line of visible ASCII; any other character is a copying mistake.
  if (!/^[\x21-\x7e]+$/.test(key.value)) {
    throw new RepriseError(
      "missing_key",
      `Cannot use the key in ${
        keyVariable(ports, provider)?.name
      }: it holds spaces or unprintable characters`,
      { hint: "Set the key again, without spaces, quotes or line ends" },
    );
  }
  if (baseUrl.protocol !== "https:" && !isLoopback(baseUrl)) {
    throw new RepriseError(
      "insecure_url",
      `Cannot send the key to ${baseUrl.origin}: it would cross the network unencrypted`,
      { hint: "Use an https URL; plain http works for this machine only" },
    );
  }
  return key;
}

function valueOf(ports: Ports, name: string): string {
  return (ports.env(name) ?? "").trim();
}

/**
 * Names the endpoints that the loopback servers of `serve` and `record` represent: a JSON object with the base URL that
 * each loopback base URL represents.
 *
 * Their ports are random, and reasoning is bound to its endpoint: without the variable each run would have another
 * endpoint. The variable only changes fingerprints: requests and keys go to the base URL in force. It counts only if
 * that is a loopback URL that the variable names.
 */
const REPRESENTS = "REPRISE_REPRESENTS";

/**
 * The variable for clients of our servers on these routes. An API with an unknown base URL gets a host that cannot
 * exist. If our own upstream is such a server, the variable names the endpoint that the upstream represents.
 */
export function representing(
  ports: Pick<Ports, "env">,
  served: readonly ServedRoute[],
): Record<string, string> {
  const pairs = served.map(({ route: { path, baseUrl }, origin }) => {
    // Fingerprints exclude Azure's query.
    const [upstream = ""] = (baseUrl ?? `http://recorded.invalid${path}`).split("?", 1);
    const url = URL.parse(upstream);
    return [`${origin}${path}`, (url === null ? null : representedUrl(ports, url)) ?? upstream] as const;
  });
  return { [REPRESENTS]: JSON.stringify(Object.fromEntries(pairs)) };
}

/**
 * The base URL that the server at `baseUrl` represents; `null` if the variable does not name the server, or the server
 * is not on loopback.
 *
 * @throws {RepriseError} `bad_configuration` when the variable is not an object of base URLs.
 */
function representedUrl(ports: Pick<Ports, "env">, baseUrl: URL): string | null {
  const text = ports.env(REPRESENTS) ?? "";
  if (text === "" || !isLoopback(baseUrl)) return null;
  const hrefOf = (url: string) => parseBaseUrl(url, REPRESENTS_HINT).href;
  const entry = representedEntries(text).find(([ours]) => hrefOf(ours) === hrefOf(baseUrl.href));
  return entry?.[1] ?? null;
}

const REPRESENTS_HINT = `Unset ${REPRESENTS}: serve and record set it for the commands that they start`;

function representedEntries(text: string): [string, string][] {
  const entries = Object.entries(parsedObject(text) ?? { "": null });
  if (
    entries.every((entry): entry is [string, string] =>
      URL.canParse(entry[0]) && typeof entry[1] === "string"
    )
  ) {
    return entries;
  }
  throw new RepriseError(
    "bad_configuration",
    `Cannot use ${REPRESENTS}: it is not a JSON object of base URLs`,
    { hint: REPRESENTS_HINT },
  );
}
