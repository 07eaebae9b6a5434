import { RepriseError } from "../../domain/errors.ts";
import { endpointHashes, mayBeSameEndpoint, parseBaseUrl } from "../../domain/fingerprint.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Endpoint } from "./endpoint.ts";
import { PROVIDERS } from "../../apis/providers.ts";

/**
 * Refuses to send a session's history to another endpoint than its last run asked, where neither a flag nor the
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
