/** The verb `doctor`: the environment, the home, the key's presence, and where each setting comes from. */
import { asRepriseError, type ErrorCode, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../../domain/fingerprint.ts";
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { listSessions, openHome } from "../../store/home.ts";
import { itemKind } from "../../domain/item.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { requestOf } from "../../run/next_request.ts";
import { askOnce } from "../../run/request_step.ts";
import { isUnfinished, startWith } from "../../run/recover.ts";
import { keyVariable } from "../run/api_key.ts";
import type { DoctorFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import { endpointSetting, providerSetting } from "../run/endpoint.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { PROVIDERS } from "../../apis/providers.ts";
import { type CalledSession, calledSession, judgePrefix, keepAdvice } from "../run/preview.ts";
import {
  modelSetting,
  permissionsOf,
  policySetting,
  readCall,
  reasoningSettings,
  replaySetting,
  resolveRun,
  resolveTarget,
  type SettingCall,
  targetSettings,
} from "../run/resolve_run.ts";
import { liveSend, liveTimeouts } from "../run/sending.ts";
import { configPath } from "../settings.ts";
import { VERSION } from "../../domain/version.ts";

interface Check {
  readonly name: string;
  /** `missing`: only a run needs it. */
  readonly level: "ok" | "missing" | "failed";
  readonly detail: string;
  /** The exit code of a failed check. */
  readonly exit_code?: ExitCode;
}

/** Performs `doctor`. The first failed check decides the exit code; the key itself is never shown. */
export async function doctorVerb(live: ProgramPorts, flags: DoctorFlags): Promise<ExitCode> {
  const context = makeContext(live, flags);
  const { output } = context;
  const detail = `reprise ${VERSION}, Deno ${Deno.version.deno}, ${Deno.build.target}`;
  const checks: Check[] = [{ name: "version", level: "ok", detail }];
  try {
    const call = readCall(live, flags);
    const session = call.selector === null ? null : calledSession(call);
    checks.push(...settingChecks(call, session?.manifest ?? null));
    if (session !== null) checks.push(check("prefix", () => prefixText(call, session)));
    if (flags.live === true) {
      checks.push(await checkLater("live", () => ping(call, session?.manifest ?? null)));
    }
  } catch (error) {
    checks.push(...settingChecks({ context, ports: context.ports, fixture: null, flags }, null));
    // No verb could use this flag or variable; the check of its own, if there is one, reports the same.
    const cause = failed("settings", error);
    if (!checks.some((check) => check.detail === cause.detail)) checks.push(cause);
  }
  const failure = checks.find(({ level }) => level === "failed");
  const exitCode = failure?.exit_code ?? 0;
  if (output.options.json) output.json({ ok: failure === undefined, exit_code: exitCode, checks });
  else for (const { name, level, detail } of checks) output.text(`${level.padEnd(7)}  ${name}: ${detail}\n`);
  return exitCode;
}

/** Checks each setting alone, so that one that is wrong hides no other. */
function settingChecks(
  { context: { config, home }, ports, fixture, flags }: Pick<
    SettingCall,
    "context" | "ports" | "fixture" | "flags"
  >,
  manifest: Manifest | null,
): Check[] {
  const sources = { config, fixture, manifest };
  return [
    check("home", () => {
      const opened = openHome(ports, home.value, { create: false });
      const facts = ports.files.facts(opened.path);
      const mode = facts?.mode ?? null;
      const sessions = facts === null
        ? "not there yet"
        : counted(listSessions(ports, opened).length, "session");
      const open = mode !== null && (mode & 0o077) !== 0 ? `, open to others (mode ${mode.toString(8)})` : "";
      return `${opened.path} (${home.source}): ${sessions}${open}`;
    }),
    check("configuration", () => {
      const path = configPath(ports);
      const there = path !== null && ports.files.facts(path) !== null;
      return there ? `${path}: ${Object.keys(config).join(", ") || "empty"}` : `${path ?? "none"}: not there`;
    }),
    check("endpoint", () => {
      const { provider, providerSource, source, endpoint, urlOf } = endpointSetting(ports, flags, sources);
      return `${provider} (${providerSource}) at ${urlOf("")} (${source}), endpoint ${endpoint}`;
    }),
    check("model", () => {
      const { value, source } = modelSetting(ports, flags, sources);
      return `${value} (${source})`;
    }),
    check("reasoning", () => {
      const { effort = "the model's default", summary = "none" } = reasoningSettings(ports, flags, sources);
      return `effort ${effort}, summary ${summary}, replay ${replaySetting(ports, flags, fixture)}`;
    }),
    check("permissions", () => permissionsOf(policySetting(flags), manifest).text.join(", ")),
    ...keyChecks(ports, () => providerSetting(ports, flags, sources).value),
    proxyCheck((name) => ports.env(name)),
  ];
}

function prefixText(call: SettingCall, session: CalledSession): string {
  const { manifest } = session;
  const resolved = resolveRun(call, manifest, { key: "if_set", endpoint: "any" });
  const prefix = judgePrefix(resolved, session, startWith(isUnfinished(manifest) ? null : ""));
  if (prefix === null) return "the session has no request that can be compared";
  if (prefix.report.extends) return "the next request extends the last one of the session";
  return keepAdvice(prefix) ?? "the next request does not extend the last one of the session";
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

/** Anything missing is a failure here, because the user asked for the request. */
async function checkLater(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, level: "ok", detail: await look() };
  } catch (error) {
    return failed(name, error);
  }
}

function failed(name: string, error: unknown): Check {
  const { message, hint, exitCode } = asRepriseError(error);
  const detail = hint === undefined ? message : `${message} (${hint})`;
  return { name, level: "failed", detail, exit_code: exitCode };
}

/** Checks that the provider in force has its key, then lists every provider. The keys themselves are not read. */
function keyChecks(ports: Ports, providerInForce: () => ProviderKind): Check[] {
  const inForce = check("key", () => {
    const provider = providerInForce();
    const variable = keyVariable(ports, provider);
    if (variable !== null) return `${variable.name} is set`;
    const { keyVariables, keylessOnLoopback } = PROVIDERS[provider];
    const names = keyVariables.map(({ name }) => name).join(" or ");
    const without = keylessOnLoopback ? "servers of this machine can be asked" : "fixtures can be played";
    throw new RepriseError("missing_key", `${names} is not set: only ${without}`);
  });
  const all = PROVIDER_KINDS.map((kind) => `${kind} ${keyVariable(ports, kind)?.name ?? "none"}`).join(", ");
  return [inForce, { name: "keys", level: "ok", detail: all }];
}

/** Reports proxies, extra certificates and TLS key logs, which see or redirect the traffic; none is a failure. */
function proxyCheck(env: (name: string) => string | undefined): Check {
  const names = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "NODE_EXTRA_CA_CERTS",
    "SSLKEYLOGFILE",
  ];
  const set = names.filter((name) => (env(name) ?? env(name.toLowerCase()) ?? "") !== "");
  return {
    name: "network",
    level: "ok",
    detail: set.length === 0 ? "no proxy is set" : `set: ${set.join(", ")}`,
  };
}

/** The prompt of {@linkcode ping}; short, so that it costs little. */
const QUESTION = "Answer with the word ready.";
const MAX_OUTPUT_TOKENS = 64;

/**
 * Sends one short request with the settings in force, and describes the answer.
 *
 * @throws {RepriseError} the errors of a run.
 */
async function ping(call: SettingCall, manifest: Manifest | null): Promise<string> {
  const { ports } = call;
  const target = resolveTarget(call, manifest, { key: "required", endpoint: "named" });
  const { endpoint, key, model } = target;
  const { api } = targetSettings(target, { id: "doctor", turns: [] });
  const settings = { api, model, instructions: "", tools: [], cacheKey: "reprise-doctor" };
  const content = [{ type: "input_text", text: QUESTION }];
  const built = requestOf(settings, [{ kind: "user_message", content }], {
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  });
  const begun = ports.clock.monotonic();
  const { items, response, account } = await askOnce({
    ports,
    api,
    send: liveSend(ports, endpoint),
    urlOf: (path) => endpoint.urlOf(path),
    key,
    signal: AbortSignal.timeout(liveTimeouts(ports).responseTimeoutMs),
  }, built);
  const reasoning = items.filter((item) => itemKind(item) === "reasoning").length;
  const seconds = ((ports.clock.monotonic() - begun) / 1000).toFixed(1);
  return `${response.model ?? model} answered (${response.status}) in ${seconds} s, ${
    counted(reasoning, "reasoning item")
  }, ` +
    `account ${account === null ? "not named" : "named"}`;
}
