/**
 * The proxy that the runtime sends a request through, as the environment names it: the runtime reads the variables itself,
 * and its errors name only the target.
 *
 * @module
 */
import { isLoopback } from "../domain/fingerprint.ts";

/** Reads a variable of the environment. */
type Env = (name: string) => string | undefined;

/**
 * The variable that puts a proxy between us and `url`, and the proxy's host with its port, without a name and
 * password; `null` if none is set, `NO_PROXY` may exempt the host, or the host is this machine.
 */
export function proxyFor(url: URL, env: Env): { readonly variable: string; readonly host: string } | null {
  if (isLoopback(url)) return null;
  if (isExempt(url.hostname, setOf(env, "NO_PROXY")?.value ?? "")) return null;
  const proxy = setOf(env, "ALL_PROXY") ??
    setOf(env, url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === null) return null;
  const { variable, value } = proxy;
  // Without a scheme it is taken for http.
  const host = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`)?.host ?? "";
  return host === "" ? null : { variable, host };
}

/** The hosts of this machine, in the forms that the runtime and other clients compare with. */
const LOOPBACK = "localhost,127.0.0.1,127.0.0.0/8,::1,[::1]";
const PROXY_VARIABLES = ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"];

/**
 * The variables that keep a proxy out of the way to this machine, in addition to what is exempt already: a request to
 * an `http:` URL, with its key, would go through it in clear. Empty where no proxy is set.
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

/** An entry is a host, a domain with all below it, or a network; of networks nothing is worked out here. */
function isExempt(hostname: string, list: string): boolean {
  const entries = list.split(",").map((entry) => entry.trim().toLowerCase().replace(/^\./, ""));
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  return entries.some((entry) =>
    entry !== "" &&
    (hostname.replace(/^\[|\]$/g, "") === entry || hostname.endsWith(`.${entry}`) ||
      (isAddress && entry.includes("/")))
  );
}
