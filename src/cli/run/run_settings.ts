/** Settings of a run, each from the first of its sources: model, reasoning, replay, transport, time limits, permissions. */
import { apiOf } from "../../apis/apis.ts";
import { asRepriseError, RepriseError } from "../../domain/errors.ts";
import { UNKNOWN_MODEL } from "../../domain/fingerprint.ts";
import { defined, isJsonObject } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ReplayMode } from "../../fold/guard.ts";
import { parsePolicy, type Policy, policyFromText, policyText } from "../../tools/permission/policy.ts";
import { ALL_TOOLS } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Config } from "../config_file.ts";
import { type PermissionFlags, REQUEST_FLAGS, TRANSPORT, type Transport, TRANSPORTS } from "../flags.ts";
import { declaredSources, firstSetting, type Setting, switchVariable } from "../settings.ts";
import { type Endpoint, providerSetting, type SettingSources } from "./endpoint.ts";

/**
 * The model: flag, the session's last, the fixture's, environment, configuration. The configuration's model of the
 * provider precedes its other one, and a session's model that is of another provider.
 *
 * @throws {RepriseError} `no_model` if none of them names a model.
 */
export function modelSetting(from: SettingSources): Setting<string> {
  const { ports, flags, config, fixture, manifest } = from;
  if (flags.model !== undefined && flags.model !== "") return { value: flags.model, source: "flag" };
  const hasModels = Object.keys(config.models).length > 0;
  const provider = hasModels ? providerSetting(from).value : null;
  const ofProvider = provider === null ? undefined : config.models[provider];
  if (
    manifest !== null && manifest.pins.model !== UNKNOWN_MODEL &&
    (ofProvider === undefined || manifest.pins.fingerprint.provider === provider)
  ) {
    return { value: manifest.pins.model, source: "session" };
  }
  // The model of a played fixture must not depend on the machine.
  const { env, config: usual } = declaredSources(REQUEST_FLAGS.model, config);
  const setting: Setting<string> | null = fixture === null
    ? firstSetting(ports, { env, config: ofProvider ?? usual })
    : fixture.model === null
    ? null
    : { value: fixture.model, source: "fixture" };
  if (setting !== null) return setting;
  throw new RepriseError("no_model", "Cannot send a request: no model is named", {
    hint: "Name it with -m MODEL, REPRISE_MODEL, or model in config.json",
  });
}

/**
 * Effort and summary, if set: flag, the session's last, environment, configuration; under a fixture its first request
 * instead of the last two, so that they do not depend on the machine. An empty flag removes the session's value.
 */
export function reasoningSettings(
  { ports, flags, config, fixture, manifest }: SettingSources,
): { effort?: string; summary?: string } {
  const pick = (name: "effort" | "summary") => {
    if (flags[name] !== undefined) return flags[name] === "" ? undefined : flags[name];
    const pinned = manifest?.pins[name];
    if (pinned !== undefined) return pinned;
    if (fixture === null) return firstSetting(ports, declaredSources(REQUEST_FLAGS[name], config))?.value;
    const first = fixture.exchanges[0]?.request.json;
    return isJsonObject(first) ? apiOf(fixture.provider).reasoningOf(first)[name] : undefined;
  };
  return defined({ effort: pick("effort"), summary: pick("summary") });
}

/** Environment variables that switch the replay of reasoning off; the first that is set wins. */
const REPLAY_SWITCHES = ["REPRISE_REASONING_REPLAY", "LLM_REASONING_REPLAY"];

/** A mode of replay, and the most items from before the last user message; `null` for all. */
export interface ReplaySetting {
  readonly mode: ReplayMode;
  readonly window: number | null;
}

/**
 * The replay: `--replay`, then `REPRISE_REASONING_REPLAY` or its alias `LLM_REASONING_REPLAY`. Under a fixture only the
 * flag counts.
 *
 * @throws {RepriseError} `usage` when a variable is neither on nor off.
 */
export function replaySetting(
  { ports, flags, fixture }: Pick<SettingSources, "ports" | "flags" | "fixture">,
): ReplaySetting {
  const variable = fixture === null ? switchVariable(ports, REPLAY_SWITCHES) : null;
  const [mode, last] = (flags.replay ?? (variable === false ? "none" : "exact")).split(":");
  return mode === "last"
    ? { mode: "exact", window: Number(last) }
    : { mode: mode as ReplayMode, window: null };
}

/** The value of `--replay` for a setting. */
export function replayText({ mode, window }: ReplaySetting): string {
  return window === null ? mode : `last:${window}`;
}

/**
 * The transport: flag, environment, configuration, `sse`. The last three are `sse` for an API without a WebSocket, and a
 * played fixture needs none.
 *
 * @throws {RepriseError} `usage` for an unknown transport, and for a flag that asks for a WebSocket of such an API.
 */
export function transportSetting(
  { ports, config, fixture, flags }: Omit<SettingSources, "manifest">,
  { provider }: Pick<Endpoint, "provider">,
): Setting<Transport> {
  if (fixture !== null) return { value: "sse", source: "fixture" };
  const setting = firstSetting(ports, { flag: flags.transport, ...declaredSources(TRANSPORT, config) });
  if (setting === null) return { value: "sse", source: "default" };
  const value = TRANSPORTS.find((known) => known === setting.value);
  if (value === undefined) {
    const message = `Cannot use the transport ${JSON.stringify(setting.value)} (${setting.source})`;
    throw new RepriseError("usage", message, { hint: `Use one of ${TRANSPORTS.join(", ")}` });
  }
  if (value === "sse" || apiOf(provider).socket !== null) return { value, source: setting.source };
  if (setting.source !== "flag") return { value: "sse", source: "default" };
  const message = `Cannot use --transport ws with the provider ${provider}: its API has no WebSocket`;
  throw new RepriseError("usage", message, { hint: "Leave it out; only the Responses API has one" });
}

/** Seconds until a server must have begun to answer. */
const RESPONSE_TIMEOUT = 120;
/** Seconds of silence inside a stream: long reasoning is silent. */
const IDLE_TIMEOUT = 300;
/** Most bytes of one decoded response body. */
const MAX_BODY_BYTES = 2 ** 30;

/** The limits of the live transport; `REPRISE_RESPONSE_TIMEOUT` and `REPRISE_IDLE_TIMEOUT` are in seconds. */
export function liveTimeouts(ports: Ports) {
  return {
    responseTimeoutMs: seconds(ports, "REPRISE_RESPONSE_TIMEOUT", RESPONSE_TIMEOUT) * 1000,
    idleTimeoutMs: seconds(ports, "REPRISE_IDLE_TIMEOUT", IDLE_TIMEOUT) * 1000,
    maxBodyBytes: MAX_BODY_BYTES,
  };
}

function seconds(ports: Ports, variable: string, otherwise: number): number {
  const text = ports.env(variable) ?? "";
  if (text === "") return otherwise;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 86_400) return value;
  throw new RepriseError(
    "bad_configuration",
    `Cannot use ${variable}=${text}: it is not a number of seconds up to 86400`,
    { hint: `Unset it (the default is ${otherwise}), or give a number above 0` },
  );
}

/**
 * The permissions that flags and configuration give.
 *
 * @throws {RepriseError} `usage` for an invalid pattern; `bad_configuration` if the configuration has it.
 */
export function policySetting({ allow = [], deny = [], ask }: PermissionFlags, config: Config): Policy {
  const fromFlags = parsePolicy({ allow, deny, ask: ask === true });
  const configured = configuredPolicy(config);
  return {
    ...fromFlags,
    allow: [...configured.allow, ...fromFlags.allow],
    deny: [...configured.deny, ...fromFlags.deny],
  };
}

/**
 * The permissions that the configuration gives.
 *
 * @throws {RepriseError} `bad_configuration` for an invalid pattern.
 */
export function configuredPolicy({ allow, deny }: Pick<Config, "allow" | "deny">): Policy {
  try {
    return parsePolicy({ allow, deny, ask: false });
  } catch (cause) {
    const { message, hint } = asRepriseError(cause);
    const text = `Cannot use a rule of the configuration: ${message}`;
    throw new RepriseError("bad_configuration", text, { ...defined({ hint }), cause });
  }
}

export interface Permissions {
  readonly policy: Policy;
  /** Lines in canonical order, as the pins keep them. */
  readonly text: readonly string[];
  /** The tools in the request: those that a rule or a person may allow. */
  readonly offered: readonly Tool[];
}

/**
 * Adds the denials of the session's last run to a policy. Allowances have to be given again, because files of a session
 * must not extend permissions.
 */
export function permissionsOf(given: Policy, manifest: Manifest | null): Permissions {
  const denials = manifest === null ? [] : policyFromText(manifest.pins.permissions).deny;
  const policy: Policy = { ...given, deny: [...given.deny, ...denials] };
  const offered = ALL_TOOLS.filter((tool) => mayRun(policy, tool));
  return { policy, text: policyText(policy), offered };
}

function mayRun(policy: Policy, tool: Tool): boolean {
  const subject = { tool: tool.name, group: tool.group, target: { kind: "none" } } as const;
  if (policy.deny.some((rule) => rule.matches(subject))) return false;
  if (tool.group === "read" || policy.ask) return true;
  return policy.allow.some(({ text }) => {
    const name = text.split(":", 1)[0];
    return name === tool.name || name === tool.group;
  });
}
