/** The user's `config.json`: its members, its profiles, and the configuration that they give. */
import { DEFAULT_PROVIDER } from "../apis/providers.ts";
import { decodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { PROVIDER_KINDS } from "../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { Ports } from "../domain/ports.ts";
import { type OwnPrices, parsePrices } from "./cost/own_prices.ts";
import { configMemberOf, type Flag } from "./declare.ts";
import { COMMON_FLAGS, REMOTE, REQUEST_FLAGS, STDIN, TRANSPORT } from "./flags.ts";
import { configPath, type ConfigValues, otherKind } from "./settings.ts";

/** The members of `config.json` that flags name as sources: each a string. */
const CONFIG_NAMES: readonly string[] = Object.values({
  ...REQUEST_FLAGS,
  TRANSPORT,
  STDIN,
  REMOTE,
  ...COMMON_FLAGS,
})
  .flatMap((flag: Flag) => configMemberOf(flag) ?? []);

/** Lists of permission rules, as `--allow` and `--deny` take them. */
const RULE_NAMES = ["allow", "deny"] as const;

/** Members of a profile that are strings. */
const PROFILE_NAMES = ["provider", "base_url", "model", "effort", "summary", "transport"] as const;

interface ConfigRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** A named set of settings. It holds no key: keys come from the environment. */
type Profile = { readonly [Name in typeof PROFILE_NAMES[number]]?: string } & ConfigRules;

export interface ConfigFile extends ConfigRules, ConfigValues {
  /** The default model of each provider. */
  readonly models: Readonly<Record<string, string>>;
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Prices that replace list prices. */
  readonly prices: OwnPrices;
}

/** The configuration of a call: that of the file, with its profile applied. */
export interface Config extends ConfigValues {
  /** The default model of each provider; it precedes `values.model`. */
  readonly models: Readonly<Record<string, string>>;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const EMPTY_FILE: ConfigFile = { values: {}, models: {}, profiles: {}, prices: {} };

/** A configuration without settings, under which only flags, environment, session and fixture count. */
export const NO_CONFIG: Config = { values: {}, models: {}, allow: [], deny: [] };

/**
 * Reads `config.json`; a missing file has no members.
 *
 * @throws {RepriseError} `bad_configuration` when it cannot be read or has another shape than {@linkcode ConfigFile}.
 */
export function readConfig(ports: Ports): ConfigFile {
  const path = configPath(ports);
  const value = path === null ? null : readConfigObject(ports, path);
  return path === null || value === null ? EMPTY_FILE : parseConfig(value, path);
}

/**
 * The object in `config.json`, unchecked; `null` if there is no file.
 *
 * @throws {RepriseError} `bad_configuration` when it is no JSON object.
 */
export function readConfigObject(ports: Ports, path: string): JsonObject | null {
  try {
    if (ports.files.facts(path) === null) return null;
  } catch (cause) {
    throw badConfig(path, "it cannot be read", cause);
  }
  const kind = otherKind(path);
  if (kind !== null) throw badConfig(path, `it is ${kind}, not a regular file`);
  let value: JsonValue;
  try {
    value = JSON.parse(decodeUtf8(ports.files.read(path)));
  } catch (cause) {
    throw badConfig(path, cause instanceof SyntaxError ? "it is not JSON" : "it cannot be read", cause);
  }
  if (!isJsonObject(value)) throw badConfig(path, "it is not an object");
  return value;
}

/**
 * Parses the object of `config.json`; `path` is for messages.
 *
 * @throws {RepriseError} `bad_configuration` for an unknown member, or one of another type.
 */
export function parseConfig(object: JsonObject, path: string): ConfigFile {
  const { models = {}, profiles = {}, prices = {}, allow, deny, ...values } = object;
  const text = (name: string, value: JsonValue | undefined): string => {
    if (typeof value !== "string") throw badConfig(path, `"${name}" is not a string`);
    return value;
  };
  const list = (name: string, value: JsonValue): readonly string[] => {
    if (!Array.isArray(value)) throw badConfig(path, `"${name}" is not a list of strings`);
    return value.map((each) => text(name, each));
  };
  const members = (
    name: string,
    value: JsonValue | undefined,
    known: readonly string[],
  ): JsonObject => {
    if (!isJsonObject(value)) throw badConfig(path, `"${name}" is not an object`);
    const unknown = Object.keys(value).find((each) => !known.includes(each));
    if (unknown !== undefined) throw badConfig(path, `"${name}.${unknown}" is not a setting`);
    return value;
  };
  const texts = (prefix: string, value: JsonObject) =>
    Object.fromEntries(Object.entries(value).map(([name, each]) => [name, text(`${prefix}${name}`, each)]));
  const rules = (prefix: string, each: { allow?: JsonValue | undefined; deny?: JsonValue | undefined }) => ({
    ...(each.allow === undefined ? {} : { allow: list(`${prefix}allow`, each.allow) }),
    ...(each.deny === undefined ? {} : { deny: list(`${prefix}deny`, each.deny) }),
  });
  const unknown = Object.keys(values).find((name) => !CONFIG_NAMES.includes(name));
  if (unknown !== undefined) throw badConfig(path, `"${unknown}" is not a setting`);
  if (!isJsonObject(profiles)) throw badConfig(path, `"profiles" is not an object`);
  return {
    values: texts("", values),
    models: texts("models.", members("models", models, PROVIDER_KINDS)),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => {
        const prefix = `profiles.${name}`;
        const { allow, deny, ...others } = members(prefix, profile, [...PROFILE_NAMES, ...RULE_NAMES]);
        return [name, { ...texts(`${prefix}.`, others), ...rules(`${prefix}.`, { allow, deny }) }];
      }),
    ),
    prices: parsePrices(prices, (why) => badConfig(path, why)),
    ...rules("", { allow, deny }),
  };
}

function badConfig(path: string, why: string, cause?: unknown): RepriseError {
  const names = [...CONFIG_NAMES, ...RULE_NAMES, "models", "profiles", "prices"].join(", ");
  const keys = /key|token|secret/i.test(why) ? "; keys come from the environment" : "";
  return new RepriseError("bad_configuration", `Cannot use the configuration "${path}": ${why}`, {
    hint: `Its members: ${names}${keys}; see "reprise doctor"`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Flags whose values a profile can give. */
interface ProfileFlags {
  readonly profile?: string | undefined;
  readonly provider?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly summary?: string | undefined;
  readonly transport?: string | undefined;
}

/**
 * The flags and the configuration of a call with its profile. A profile of `--profile` gives the flags that are not
 * given; a profile of the environment or of the file replaces members of the file.
 *
 * A base URL and a model belong to a provider: they never meet another one, so that no key goes to a server of
 * another provider.
 *
 * @throws {RepriseError} `bad_configuration` if the file has no profile of that name.
 */
export function withProfile<Flags extends ProfileFlags>(
  ports: Ports,
  flags: Flags,
  file: ConfigFile,
): { readonly flags: Flags; readonly config: Config } {
  const { values, models } = file;
  const named = flags.profile;
  const variable = ports.env("REPRISE_PROFILE") ?? "";
  const name = named ?? (variable === "" ? values.profile : variable);
  const profile: Profile = name === undefined ? {} : profileOf(ports, file, name);
  const rules = {
    allow: [...file.allow ?? [], ...profile.allow ?? []],
    deny: [...file.deny ?? [], ...profile.deny ?? []],
  };
  const usual = values.provider ?? DEFAULT_PROVIDER;
  const provider = profile.provider ?? usual;
  const { allow: _, deny: __, ...texts } = profile;
  if (named === undefined) {
    const { base_url, model, ...others } = values;
    const kept = provider === usual ? definedOf({ base_url, model }) : {};
    return {
      flags,
      config: { values: { ...others, ...kept, ...definedOf(texts) }, models, ...rules },
    };
  }
  const isProvider = flags.provider === undefined || flags.provider === provider;
  const bound = profile.base_url !== undefined || profile.model !== undefined;
  const added = {
    effort: profile.effort,
    summary: profile.summary,
    transport: profile.transport,
    ...(isProvider ? { model: profile.model, baseUrl: profile.base_url } : {}),
    provider: bound ? provider : profile.provider,
  };
  const missing = Object.entries(definedOf(added))
    .filter(([name]) => flags[name as keyof ProfileFlags] === undefined);
  return {
    flags: { ...flags, ...Object.fromEntries(missing) },
    config: { values, models, ...rules },
  };
}

function profileOf(ports: Ports, { profiles }: ConfigFile, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles).join(", ") || "none";
  throw new RepriseError(
    "bad_configuration",
    `Cannot use the profile ${JSON.stringify(name)}: "${configPath(ports)}" has no such profile`,
    { hint: `Profiles: ${names}; create it with "reprise config set profiles.NAME.model MODEL"` },
  );
}

function definedOf(members: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
}
