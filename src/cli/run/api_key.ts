/** The key for an endpoint: its variable, and the URLs that must not get it. */
import { RepriseError } from "../../domain/errors.ts";
import { isLoopback, type ProviderKind } from "../../domain/fingerprint.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ApiKey } from "../../apis/api.ts";
import type { Endpoint } from "./endpoint.ts";
import { type KeyVariable, PROVIDERS } from "../../apis/providers.ts";

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
export function keySetting(ports: Ports, endpoint: Endpoint): ApiKey | null {
  const { provider, baseUrl } = endpoint;
  const variable = keyVariable(ports, provider);
  if (variable === null) {
    if (PROVIDERS[provider].keylessOnLoopback && isLoopback(baseUrl)) return null;
    throw missingKey(endpoint);
  }
  const value = valueOf(ports, variable.name);
  // Header values are one line of visible ASCII; any other character is a copying mistake.
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new RepriseError(
      "missing_key",
      `Cannot use the key in ${variable.name}: it holds spaces or unprintable characters`,
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
  return { value, scheme: variable.scheme };
}

function missingKey({ provider, baseUrl }: Endpoint): RepriseError {
  const { keyVariables, takesAnyKey } = PROVIDERS[provider];
  const names = keyVariables.map(({ name }) => name).join(" or ");
  const anyValue = takesAnyKey ? " (servers that need none take any value)" : "";
  return new RepriseError("missing_key", `Cannot send a request to ${baseUrl.origin}: no key is set`, {
    hint: `Set ${names}${anyValue}, or play a fixture with --fixture DIR`,
  });
}

function valueOf(ports: Ports, name: string): string {
  return (ports.env(name) ?? "").trim();
}
