/**
 * Certificate authorities that the environment names in addition to the runtime's own. The runtime reads `DENO_CERT` and
 * `DENO_TLS_CA_STORE` by itself, and the other variables never, or only with its store `system`.
 */
import { RepriseError } from "../domain/errors.ts";
import { counted } from "../domain/text.ts";

type Env = (name: string) => string | undefined;

interface Authorities {
  readonly variable: string;
  readonly path: string;
  /** In PEM. */
  readonly certificates: readonly string[];
}

const FILES = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] as const;
const DIRECTORIES = "SSL_CERT_DIR";
/** The store without `DENO_TLS_CA_STORE`. */
const DEFAULT_STORE = "mozilla";
const STORES: Readonly<Record<string, string>> = { mozilla: "Mozilla's list", system: "the system's list" };
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function readAuthorities(env: Env): Authorities[] {
  const authorities: Authorities[] = [];
  for (const variable of FILES) {
    const path = env(variable) ?? "";
    if (path !== "") authorities.push({ variable, path, certificates: certificatesIn(variable, path) });
  }
  for (const path of (env(DIRECTORIES) ?? "").split(Deno.build.os === "windows" ? ";" : ":")) {
    if (path !== "") authorities.push({ variable: DIRECTORIES, path, certificates: certificatesBelow(path) });
  }
  return authorities;
}

/**
 * Reads the certificates that a connection to `url` may use; none without TLS.
 *
 * @throws {RepriseError} `bad_configuration` for a file or directory that cannot be read, and for a file with no
 * certificate or a damaged one.
 */
export function extraCertificates(url: string, env: Env): string[] {
  return /^(https|wss):/.test(url) ? readAuthorities(env).flatMap(({ certificates }) => certificates) : [];
}

function certificatesIn(variable: string, path: string): string[] {
  const certificates = read(variable, path, () => Deno.readTextFileSync(path)).match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw unusable(variable, path, "it holds no certificate in PEM");
  read(variable, path, () => requireSound(certificates));
  return certificates;
}

/** Certificates of all files of a directory that have some. */
function certificatesBelow(directory: string): string[] {
  const names = read(DIRECTORIES, directory, () => [...Deno.readDirSync(directory)]).map(({ name }) => name);
  return [...new Set(names.sort().flatMap((name) => textOf(`${directory}/${name}`).match(CERTIFICATE) ?? []))]
    .filter(isSound);
}

/** A directory may hold links to nowhere, other directories and files of other kinds. */
function textOf(path: string): string {
  try {
    return Deno.statSync(path).isFile ? Deno.readTextFileSync(path) : "";
  } catch {
    return "";
  }
}

function isSound(certificate: string): boolean {
  try {
    requireSound([certificate]);
    return true;
  } catch {
    return false;
  }
}

/** Throws the runtime's error for certificates that it does not take. */
function requireSound(certificates: readonly string[]): void {
  Deno.createHttpClient({ caCerts: [...certificates] }).close();
}

function read<T>(variable: string, path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound
      ? "it does not exist"
      : error instanceof Deno.errors.PermissionDenied
      ? "it may not be read"
      : (error as Error).message;
    throw unusable(variable, path, why, error);
  }
}

function unusable(variable: string, path: string, why: string, cause?: unknown): RepriseError {
  const message = `Cannot use the certificates in ${JSON.stringify(path)}, which ${variable} names: ${why}`;
  return new RepriseError("bad_configuration", message, {
    hint: `Unset ${variable}, or set it to certificates in PEM`,
    cause,
  });
}

/** The variables that add authorities; the runtime reads the last one. */
export const AUTHORITY_VARIABLES: readonly string[] = [...FILES, DIRECTORIES, "DENO_CERT"];

/**
 * Describes the authorities in force.
 *
 * @throws {RepriseError} as {@linkcode extraCertificates} does, also for the variables that the runtime reads.
 */
export function authoritiesText(env: Env): string {
  const named = (env("DENO_TLS_CA_STORE") ?? DEFAULT_STORE).split(",").map((name) => name.trim());
  const stores = named.filter((name) => name !== "").map((name) => {
    const store = STORES[name];
    if (store !== undefined) return store;
    throw new RepriseError(
      "bad_configuration",
      `Cannot use DENO_TLS_CA_STORE=${name}: there is no such store`,
      {
        hint: "Use mozilla, system, or both: mozilla,system",
      },
    );
  });
  const path = env("DENO_CERT") ?? "";
  const ofRuntime = path === ""
    ? []
    : [{ variable: "DENO_CERT", path, certificates: certificatesIn("DENO_CERT", path) }];
  const extra = [...ofRuntime, ...readAuthorities(env)].map(({ variable, path, certificates }) =>
    `${variable} (${path}: ${counted(certificates.length, "certificate")})`
  );
  return [...stores, ...extra].join(", ") || "none";
}
