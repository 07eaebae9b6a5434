/**
 * The environment variables that the program reads. All other variables read as unset, although the runtime allows
 * them, so that no unrelated secret of the shell can end up in a turn, a message or a log.
 */
import { RepriseError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import { UPSTREAM_VARIABLES } from "../apis/known_upstreams.ts";
import { PROVIDER_VARIABLES } from "../apis/providers.ts";

/** Names of variables; a final `*` matches any rest. */
const READ_VARIABLES: readonly string[] = [
  // Ours, and the keys and endpoints of the providers.
  "REPRISE_*",
  "LLM_REASONING_REPLAY",
  ...PROVIDER_VARIABLES,
  ...UPSTREAM_VARIABLES,
  // Keys, region and server of a remote.
  "AWS_*",
  // The places of sessions and settings.
  "HOME",
  "XDG_*",
  "TMPDIR",
  // Colour; commander reads the last of them too.
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "CLICOLOR_FORCE",
  // The pager of `show`, and its options.
  "PAGER",
  "LESS",
  // Inherited by a command of the shell tool.
  "PATH",
  "LANG",
  "LC_ALL",
  "USER",
  "LOGNAME",
  "CI",
  // Trusted certificate authorities, and the file for the secrets of TLS connections.
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "SSLKEYLOGFILE",
  // `doctor` reports proxies.
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
];

/**
 * The value of a variable; `undefined` when it is unset or not in {@linkcode READ_VARIABLES}.
 *
 * @throws {RepriseError} `usage` if it is not UTF-8.
 */
export function readVariable(name: string): string | undefined {
  return isRead(name) ? readKey(name) : undefined;
}

/**
 * The value of the key variable of an API that the user named with `--env`.
 *
 * @throws {RepriseError} `usage` if it is not UTF-8.
 */
export function readKey(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    // The runtime's error shows the value, which may be a key.
    throw new RepriseError("usage", `Cannot read the variable ${name}: its value is not UTF-8`, {
      hint: `Set ${name} again, or unset it`,
    });
  }
}

/** True if there is a variable of that name, whether or not the program reads its value. */
export function isSet(name: string): boolean {
  return Deno.env.has(name);
}

/** True if a CI system runs us: `CI` is set to anything but an empty text, `0` and `false`. */
export function isCi({ env }: Pick<Ports, "env">): boolean {
  return !["", "0", "false"].includes(env("CI") ?? "");
}

export function setVariables(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
}

export function unsetVariables(names: readonly string[]): void {
  for (const name of names) Deno.env.delete(name);
}

const READ_NAMES: ReadonlySet<string> = new Set(READ_VARIABLES);
const READ_PREFIXES = READ_VARIABLES.filter((known) => known.endsWith("*")).map((known) =>
  known.slice(0, -1)
);

export function isRead(name: string): boolean {
  return READ_NAMES.has(name) || READ_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * Shows libraries only the variables that the program reads: `process.env` becomes a copy of them. Child processes
 * still inherit the whole environment, unless they get their own.
 */
export function narrowProcessEnvironment(): void {
  const read = Object.entries(allVariables()).filter(([name]) => isRead(name));
  globalThis.process.env = Object.fromEntries(read);
}

/** All variables, only to find the secrets among them. */
export function allVariables(): Record<string, string> {
  return Deno.env.toObject();
}
