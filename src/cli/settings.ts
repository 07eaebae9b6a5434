/**
 * Settings and their sources: flags, then the environment, then `config.json` in the user's configuration directory.
 * Files in the working directory set nothing.
 */
import { decodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import type { Ports } from "../domain/ports.ts";
import { withoutSlash } from "../domain/text.ts";
import { parentOf } from "../store/layout.ts";
import { specialKind } from "../tools/sandbox_path.ts";
import { configMemberOf, type Flag, variablesOf } from "./declare.ts";
import { COMMON_FLAGS, REMOTE } from "./flags.ts";

export interface Setting<T> {
  readonly value: T;
  readonly source: "flag" | "environment" | "config" | "session" | "fixture" | "default";
}

/** `$XDG_CONFIG_HOME/reprise/config.json`, or under `~/.config`; `null` without a home directory. */
export function configPath(ports: Ports): string | null {
  const base = xdgDirectory(ports, "XDG_CONFIG_HOME", ".config");
  return base === null ? null : `${base}/reprise/config.json`;
}

/** Strings of `config.json` by their members. */
export interface ConfigValues {
  readonly values: Readonly<Record<string, string>>;
}

/** The first of flag, environment variable and configuration member that is set and not empty. */
export function firstSetting(
  ports: Ports,
  sources: {
    readonly flag?: string | undefined;
    readonly env: readonly string[];
    readonly config: string | undefined;
  },
): Setting<string> | null {
  if (sources.flag !== undefined) return { value: sources.flag, source: "flag" };
  for (const name of sources.env) {
    const value = ports.env(name);
    if (value !== undefined && value !== "") return { value, source: "environment" };
  }
  return sources.config === undefined ? null : { value: sources.config, source: "config" };
}

/** The variables and the member of the configuration that a flag names as its sources, for {@linkcode firstSetting}. */
export function declaredSources(
  flag: Flag,
  { values }: ConfigValues,
): { readonly env: readonly string[]; readonly config: string | undefined } {
  const member = configMemberOf(flag);
  return { env: variablesOf(flag), config: member === null ? undefined : values[member] };
}

const SWITCH_VALUES: ReadonlyMap<string, boolean> = new Map([
  ...["1", "true", "on", "yes"].map((value) => [value, true] as const),
  ...["0", "false", "off", "no"].map((value) => [value, false] as const),
]);

/**
 * The first of these environment variables that is set and not empty, as a switch; `null` if all are unset. Ignores
 * case.
 *
 * @throws {RepriseError} `usage` if its value is neither on nor off.
 */
export function switchVariable(ports: Pick<Ports, "env">, names: readonly string[]): boolean | null {
  const found = names.flatMap((name): boolean[] => {
    const text = ports.env(name) ?? "";
    return text === "" ? [] : [switchOf(text, name)];
  });
  return found[0] ?? null;
}

/**
 * Reads the value of the variable or member `name` as a switch. Ignores case.
 *
 * @throws {RepriseError} `usage` if it is neither on nor off.
 */
export function switchOf(text: string, name: string): boolean {
  const value = SWITCH_VALUES.get(text.toLowerCase());
  if (value !== undefined) return value;
  throw new RepriseError("usage", `Cannot use ${name}=${JSON.stringify(text)}: it is neither on nor off`, {
    hint: `Use one of ${[...SWITCH_VALUES.keys()].join(", ")}, or unset it`,
  });
}

/**
 * The directory of the sessions: `--home`, `REPRISE_HOME`, the configuration, else `reprise` in the XDG data directory.
 *
 * @param readConfig Called only if neither flag nor variable is set.
 * @throws {RepriseError} `usage` if all of them are unknown.
 */
export function homeSetting(
  ports: Ports,
  flag: string | undefined,
  readConfig: () => ConfigValues,
): Setting<string> {
  const direct = firstSetting(ports, { flag, env: variablesOf(COMMON_FLAGS.home), config: undefined });
  const set = direct ?? firstSetting(ports, declaredSources(COMMON_FLAGS.home, readConfig()));
  if (set !== null) {
    if (set.value === "") {
      throw new RepriseError("usage", "Cannot use an empty path as the home of the sessions", {
        hint: "Give --home DIR, or leave it out",
      });
    }
    return { ...set, value: absolute(ports, set.value) };
  }
  const data = xdgDirectory(ports, "XDG_DATA_HOME", ".local/share");
  if (data === null) {
    throw new RepriseError(
      "usage",
      "Cannot tell where sessions live: neither HOME nor XDG_DATA_HOME is set",
      { hint: "Set REPRISE_HOME or give --home DIR" },
    );
  }
  return { value: `${data}/reprise`, source: "default" };
}

/** The remote of a call: `--remote`, `REPRISE_REMOTE`, the configuration; `null` if there is none. */
export function remoteSetting(
  ports: Ports,
  flag: string | undefined,
  config: ConfigValues,
): Setting<string> | null {
  return flag === "" ? null : firstSetting(ports, { flag, ...declaredSources(REMOTE, config) });
}

/** A path made absolute against the working directory, without its trailing slashes. */
export function absolute(ports: Ports, path: string): string {
  const full = path.startsWith("/") ? path : `${ports.workingDirectory()}/${path}`;
  return withoutSlash(full);
}

/** XDG variables that are not absolute paths are ignored, as their specification asks. */
function xdgDirectory(ports: Ports, name: string, fallback: string): string | null {
  const set = ports.env(name);
  if (set?.startsWith("/")) return withoutSlash(set);
  const home = ports.env("HOME");
  return home === undefined || home === "" ? null : `${home.replace(/\/+$/, "")}/${fallback}`;
}

/**
 * Names the kind of a file that is not regular, such as `a FIFO`: opening it may wait forever. Follows links. `null` for
 * a regular or missing file.
 */
export function otherKind(path: string): string | null {
  let facts: Deno.FileInfo;
  try {
    facts = Deno.statSync(path);
  } catch {
    return null;
  }
  if (facts.isFile) return null;
  return facts.isDirectory ? "a directory" : specialKind(facts);
}

/**
 * Checks the directory of a new file.
 *
 * @throws {RepriseError} `usage` if it is missing.
 */
export function requireDirectoryOf(path: string, tried: string): void {
  const directory = parentOf(path);
  if (otherKind(directory) === "a directory") return;
  throw new RepriseError("usage", `Cannot ${tried}: there is no directory ${JSON.stringify(directory)}`, {
    hint: "Create that directory, or name another file",
  });
}

/** True for a regular file that is there. Follows links. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * `TEXT`, or the content of a file for `@FILE`.
 *
 * @throws {RepriseError} `usage` when the file cannot be read as UTF-8.
 */
export function textOrFile(ports: Ports, value: string, flag: string): string {
  return value.startsWith("@") ? readTextFile(ports, value.slice(1), flag) : value;
}

/** Reads `--output-schema FILE`: a JSON schema, or an object with `name` and `schema`. */
export function readOutputSchema(ports: Ports, path: string): JsonObject {
  const refuse = (why: string) =>
    new RepriseError("usage", `Cannot use the output schema "${path}": ${why}`, {
      hint: "Give a file with a JSON schema, or with an object of name and schema",
    });
  let value: unknown;
  try {
    value = JSON.parse(readTextFile(ports, path, "--output-schema"));
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw refuse("it is not JSON");
  }
  if (!isJsonObject(value)) throw refuse("it is not a JSON object");
  const named = isJsonObject(value.schema) && typeof value.name === "string";
  return named ? value : { name: "answer", schema: value, strict: true };
}

function readTextFile(ports: Ports, path: string, flag: string): string {
  const refuse = (why: string, cause?: unknown) =>
    new RepriseError("usage", `Cannot use the file "${path}" of ${flag}: ${why}`, {
      hint: "Give a text file that exists; its path is relative to the working directory",
      ...(cause === undefined ? {} : { cause }),
    });
  const full = absolute(ports, path);
  const kind = otherKind(full);
  if (kind !== null) throw refuse(`it is ${kind}, not a regular file`);
  try {
    return decodeUtf8(ports.files.read(full));
  } catch (cause) {
    throw refuse(cause instanceof TypeError ? "it is not valid UTF-8" : "it cannot be read", cause);
  }
}
