/** The verb `doctor`: the environment, the home, the key's presence, and where each setting comes from. */
import { accessSync, constants } from "node:fs";
import { asRepriseError, type ErrorCode, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { isLoopback, PROVIDER_KINDS } from "../../domain/fingerprint.ts";
import { counted } from "../../domain/text.ts";
import { fileError } from "../../store/fs_errors.ts";
import { openHome, strayNames } from "../../store/home.ts";
import { parentOf } from "../../store/layout.ts";
import { listSessions } from "../../store/list.ts";
import { policyText } from "../../tools/permission/policy.ts";
import { authoritiesText } from "../../transport/authorities.ts";
import { failed, liveChecks } from "./live_checks.ts";
import type { Check } from "../../schemas/inspection.ts";
import type { DoctorFlags } from "./command.ts";
import { type Config, NO_CONFIG, readConfig, readConfigObject, withProfile } from "../config_file.ts";
import { makeOutput } from "../context.ts";
import { isIntact } from "../start/executable_sum.ts";
import {
  endpointSetting,
  keySetting,
  keyVariable,
  providerSetting,
  type SettingSources,
} from "../run/endpoint.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { DEFAULT_PROVIDER, PROVIDERS } from "../../apis/providers.ts";
import { unreadSetting } from "../run/prompt.ts";
import { readCall, type SettingCall, type SettingFlags } from "../run/resolve_run.ts";
import {
  configuredPolicy,
  modelSetting,
  permissionsOf,
  policySetting,
  reasoningSettings,
  replaySetting,
  replayText,
  transportSetting,
} from "../run/run_settings.ts";
import { configPath, homeSetting, remoteSetting } from "../settings.ts";
import { VERSION } from "../../domain/version.ts";
import type { Ports } from "../../domain/ports.ts";
import { remoteOf } from "../remote/given_remote.ts";

/**
 * Performs `doctor`. The first check that a run would fail at decides the exit code, so 0 means that a run could start.
 * The key itself is never shown.
 */
export async function doctorVerb(
  live: ProgramPorts,
  { live: asks, ...given }: DoctorFlags,
): Promise<ExitCode> {
  const output = makeOutput(live, given);
  const detail = `reprise ${VERSION}, Deno ${Deno.version.deno}, ${Deno.build.target}`;
  const checks: Check[] = [{ name: "version", level: "ok", detail }, check("executable", executableText)];
  try {
    const call = readCall(live, given);
    checks.push(...settingChecks(call));
    checks.push(await checkLater("remote", () => remoteText(call.ports, call.config)));
    if (asks === true) {
      checks.push(...await liveChecks(call));
      checks.push(await checkLater("remote live", () => liveRemoteText(call.ports, call.config)));
    }
  } catch (error) {
    const readable = readableSettings(live, given);
    checks.push(...settingChecks(readable));
    checks.push(await checkLater("remote", () => remoteText(live, readable.config)));
    // No verb could use this flag or variable; the check of its own, if there is one, reports the same.
    const cause = failed("settings", error);
    if (!checks.some((check) => check.detail === cause.detail)) checks.push(cause);
  }
  const failure = checks.find(({ level }) => level === "missing" || level === "failed");
  const exitCode = failure?.exit_code ?? 0;
  if (output.options.json) output.json<"doctor">({ ok: failure === undefined, exit_code: exitCode, checks });
  else {
    for (const { name, level, detail } of checks) output.text(`${level.padEnd(7)}  ${name}: ${detail}\n`);
    const unknown = checks.filter(({ level }) => level === "unknown").map(({ name }) => name).join(", ");
    const more = unknown === "" ? "" : `; not checked: ${unknown}`;
    output.text(
      failure === undefined
        ? `A run could start${more}\n`
        : `A run could not start: ${failure.name}${more}\n`,
    );
  }
  return exitCode;
}

/**
 * Describes the executable of this process.
 *
 * @throws {RepriseError} `damaged_executable` if it differs from what was built.
 */
function executableText(): string {
  const intact = isIntact();
  if (intact === null) return "it has no checksum";
  if (intact) return "it fits its checksum";
  throw new RepriseError("damaged_executable", `${Deno.execPath()} does not fit its checksum`, {
    hint: "Install it again: its file was changed",
  });
}

/** Settings that {@linkcode settingChecks} looks at, each as far as it can be read. */
type CheckedSettings = Pick<SettingCall, "ports" | "flags" | "config">;

/** The settings of a call that no run could use: without configuration or profile if they cannot be used. */
function readableSettings(ports: ProgramPorts, given: SettingFlags): CheckedSettings {
  try {
    return { ports, ...withProfile(ports, given, readConfig(ports)) };
  } catch {
    return { ports, flags: given, config: NO_CONFIG };
  }
}

/** Checks each setting alone, so that one that is wrong hides no other. */
function settingChecks({ ports, flags, config }: CheckedSettings): Check[] {
  const sources = { ports, flags, config, fixture: null, manifest: null };
  return [
    check("home", () => homeText(ports, flags.home, config)),
    check("configuration", () => {
      const path = configPath(ports);
      if (path === null) return "none: HOME is not set";
      const object = readConfigObject(ports, path);
      if (object === null) return `${path}: not there`;
      withProfile(ports, flags, readConfig(ports));
      return `${path}: ${Object.keys(object).join(", ") || "empty"}`;
    }),
    check("endpoint", () => {
      const { provider, providerSource, source, endpoint, urlOf } = endpointSetting(sources);
      return `${provider} (${providerSource}) at ${urlOf("")} (${source}), endpoint ${endpoint}`;
    }),
    check("transport", () => {
      const provider = orNull(() => providerSetting(sources).value) ?? DEFAULT_PROVIDER;
      const { value, source } = transportSetting(sources, { provider });
      return `${value === "ws" ? "one WebSocket" : "HTTP"} (${source})`;
    }),
    check("model", () => {
      const { value, source } = modelSetting(sources);
      return `${value} (${source})`;
    }),
    check("reasoning", () => {
      const { effort = "the model's default", summary = "none" } = reasoningSettings(sources);
      return `effort ${effort}, summary ${summary}, replay ${replayText(replaySetting(sources))}`;
    }),
    check("stdin", () => {
      const unread = unreadSetting(ports, { stdin: true }, config);
      return unread === null ? "added to the prompt" : `not read (${unread})`;
    }),
    check("permissions", () => {
      const rules = policyText(configuredPolicy(config)).filter((line) => line !== "read");
      const text = permissionsOf(policySetting(flags, config), null).text.join(", ");
      return rules.length === 0 ? text : `${text} (from config.json: ${rules.join(", ")})`;
    }),
    ...keyChecks(sources),
    proxyCheck(ports.env),
    check("authorities", () => authoritiesText(ports.env)),
  ];
}

/** Most names that the check of the home lists. */
const MAX_NAMED = 3;

/**
 * Describes the home.
 *
 * @throws {RepriseError} `usage` if no home is known, `storage_denied` if a run could not write there.
 */
function homeText(ports: ProgramPorts, flag: string | undefined, config: Config): string {
  const home = homeSetting(ports, flag, () => config);
  const opened = openHome(ports, home.value, { create: false });
  const facts = ports.files.facts(opened.path);
  requireWritable(ports, opened.path);
  const mode = facts?.mode ?? null;
  const sessions = facts === null ? "not there yet" : counted(listSessions(ports, opened).length, "session");
  const open = mode !== null && (mode & 0o077) !== 0 ? `, open to others (mode ${mode.toString(8)})` : "";
  const strays = facts === null ? [] : strayNames(ports, opened);
  const others = strays.slice(0, MAX_NAMED).map(({ name, message }) =>
    `; ${JSON.stringify(name)} ${message}`
  );
  const more = strays.length > MAX_NAMED ? `; ${strays.length - MAX_NAMED} more (reprise fsck --all)` : "";
  return `${opened.path} (${home.source}): ${sessions}${open}${others.join("")}${more}`;
}

/** Requires that a directory, or the nearest one above it that exists, can be written. */
function requireWritable(ports: ProgramPorts, path: string): void {
  let directory = path;
  while (ports.files.facts(directory) === null && directory !== "/") directory = parentOf(directory);
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw fileError(error, "write sessions", directory);
  }
}

/** Codes of errors in settings that only a run needs. */
const NEEDED_BY_A_RUN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "no_model",
  "no_base_url",
  "missing_key",
]);

function check(name: string, look: () => string): Check {
  try {
    return { name, level: "ok", detail: look() };
  } catch (error) {
    const failure = failed(name, error);
    return NEEDED_BY_A_RUN.has(asRepriseError(error).code) ? { ...failure, level: "missing" } : failure;
  }
}

/** Runs a check of the request that the user wanted: anything missing is a failure. */
async function checkLater(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, level: "ok", detail: await look() };
  } catch (error) {
    return failed(name, error);
  }
}

/** Checks that the provider in force has its key, then lists every provider. No key is shown. */
function keyChecks(sources: SettingSources): Check[] {
  const { ports } = sources;
  const inForce = check("key", () => {
    const provider = providerSetting(sources).value;
    const variable = keyVariable(ports, provider);
    const endpoint = orNull(() => endpointSetting(sources));
    if (variable !== null) {
      if (endpoint !== null) keySetting(ports, endpoint);
      return `${variable.name} is set`;
    }
    const { keyVariables, keylessOnLoopback } = PROVIDERS[provider];
    const names = keyVariables.map(({ name }) => name).join(" or ");
    if (endpoint !== null && keylessOnLoopback && isLoopback(endpoint.baseUrl)) {
      return `${names} is not set: requests to the local server have no key`;
    }
    throw new RepriseError("missing_key", `${names} is not set: only fixtures can be played`);
  });
  const all = PROVIDER_KINDS.map((kind) => `${kind} ${keyVariable(ports, kind)?.name ?? "none"}`).join(", ");
  return [inForce, { name: "keys", level: "ok", detail: all }];
}

function orNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Reports proxies and TLS key logs, which see or redirect the traffic; none is a failure. */
function proxyCheck(env: (name: string) => string | undefined): Check {
  const names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "SSLKEYLOGFILE"];
  const set = names.filter((name) => (env(name) ?? env(name.toLowerCase()) ?? "") !== "");
  return {
    name: "network",
    level: "ok",
    detail: set.length === 0 ? "no proxy is set" : `set: ${set.join(", ")}`,
  };
}

/** Describes the remote, without its keys. Throws the errors of a run that cannot use the settings. */
async function remoteText(ports: Ports, config: Config): Promise<string> {
  const setting = remoteSetting(ports, undefined, config);
  if (setting === null) return "none";
  const { parseRemote } = await import("../../remote/address.ts");
  const { readS3Settings } = await import("../../remote/credentials.ts");
  const { name } = parseRemote(setting.value);
  const { region, endpoint } = readS3Settings(ports);
  const server = endpoint === null ? "AWS" : endpoint.href;
  return `${name} (${setting.source}) at ${server}, region ${region}; keys are set`;
}

/** Asks the remote for its first object. Throws the errors of a run that cannot use it. */
async function liveRemoteText(ports: Ports, config: Config): Promise<string> {
  const store = await remoteOf(ports, null, { flag: undefined, config });
  if (store === null) return "no remote to ask";
  for await (const _ of store.list("")) return `${store.name} answered: it has objects`;
  return `${store.name} answered: it is empty`;
}
