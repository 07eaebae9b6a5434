/**
 * Finds the proxy of a request in the environment: the runtime reads the variables itself, and its errors name only the
 * target.
 */
import { isLoopback } from "../domain/fingerprint.ts";

type Env = (name: string) => string | undefined;

/**
 * Returns the variable that sets a proxy for `url`, and the proxy's host with its port, without user name and password;
 * `null` if no proxy is set, `NO_PROXY` may exempt the host, or the host is this machine.
 */
export function proxyFor(url: URL, env: Env): { readonly variable: string; readonly host: string } | null {
  if (isLoopback(url)) return null;
  if (isExempt(url.hostname, setOf(env, "NO_PROXY")?.value ?? "")) return null;
  const proxy = setOf(env, "ALL_PROXY") ??
    setOf(env, url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === null) return null;
  const { variable, value } = proxy;
  // Without a scheme, http is assumed.
  const host = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`)?.host ?? "";
  return host === "" ? null : { variable, host };
}

/** The hosts of this machine, in the forms that the runtime and other clients compare with. */
const LOOPBACK = "localhost,127.0.0.1,127.0.0.0/8,::1,[::1]";
const PROXY_VARIABLES = ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"];

/**
 * Returns the variables that exempt this machine from a proxy, in addition to the hosts that are exempt already: a
 * request to an `http:` URL would pass the proxy in clear, with its key. Empty if no proxy is set.
 */
export function loopbackDirect(env: Env): Readonly<Record<string, string>> {
  if (PROXY_VARIABLES.every((name) => setOf(env, name) === null)) return {};
  const exempt = setOf(env, "NO_PROXY")?.value;
  const value = exempt === undefined ? LOOPBACK : `${LOOPBACK},${exempt}`;
  return { NO_PROXY: value, no_proxy: value };
}

function setOf(env: Env, name: string): { readonly variable: string; readonly value: string } | null {
  for (const variable of [name, name.toLowerCase()]) {
    const value = env(variable);
    if (value !== undefined && value !== "") return { variable, value };
  }
  return null;
}

/** An entry is a host, a domain with its subdomains, or a network, which is taken to contain every address. */
function isExempt(hostname: string, list: string): boolean {
  const entries = list.split(",").map((entry) => entry.trim().toLowerCase().replace(/^\./, ""));
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  return entries.some((entry) =>
    entry !== "" &&
    (hostname.replace(/^\[|\]$/g, "") === entry || hostname.endsWith(`.${entry}`) ||
      (isAddress && entry.includes("/")))
  );
}
