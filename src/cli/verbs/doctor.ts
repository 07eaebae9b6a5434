/** The verb `doctor`: the environment, the home, the key's presence, and where each setting comes from. */
import { asReprError, type ExitCode } from "../../domain/errors.ts";
import { listSessions, openHome } from "../../store/home.ts";
import { type CommonFlags, makeContext } from "../context.ts";
import {
  endpointSetting,
  modelSetting,
  reasoningSettings,
  replaySetting,
  type RequestFlags,
} from "../run_settings.ts";
import { configPath } from "../settings.ts";
import { tinyRequest } from "../tiny_request.ts";
import { VERSION } from "../version.ts";

interface Check {
  readonly name: string;
  /** `missing`: nothing is broken, but a run will need it. */
  readonly level: "ok" | "missing" | "failed";
  readonly detail: string;
  /** The exit code that a failed check stands for. */
  readonly exit_code?: ExitCode;
}

/** The flags of `doctor`. */
export interface DoctorFlags extends CommonFlags, RequestFlags {
  readonly live?: true | undefined;
}

/** Performs `doctor`. The first failed check decides the exit code; the key itself is never shown. */
export async function doctorVerb(flags: DoctorFlags): Promise<ExitCode> {
  const context = makeContext(flags);
  const { ports, config, output, home } = context;
  const sources = { config, fixture: null, manifest: null };
  const checks: Check[] = [
    {
      name: "version",
      level: "ok",
      detail: `reprise ${VERSION}, Deno ${Deno.version.deno}, ${Deno.build.target}`,
    },
    check("home", () => {
      const opened = openHome(ports, home.value, { create: false });
      const facts = ports.files.facts(opened.path);
      const mode = facts?.mode ?? null;
      const sessions = facts === null ? "not there yet" : `${listSessions(ports, opened).length} sessions`;
      const open = mode !== null && (mode & 0o077) !== 0 ? `, open to others (mode ${mode.toString(8)})` : "";
      return `${opened.path} (${home.source}): ${sessions}${open}`;
    }),
    check("configuration", () => {
      const path = configPath(ports);
      const there = path !== null && ports.files.facts(path) !== null;
      return there ? `${path}: ${Object.keys(config).join(", ") || "empty"}` : `${path ?? "none"}: not there`;
    }),
    check("endpoint", () => {
      const endpoint = endpointSetting(ports, flags, sources);
      return `${endpoint.provider} at ${endpoint.prefix} (${endpoint.source}), endpoint ${endpoint.endpoint}`;
    }),
    check("model", () => {
      const { value, source } = modelSetting(ports, flags, sources);
      return `${value} (${source})`;
    }),
    check("reasoning", () => {
      const { effort = "the model's default", summary = "none" } = reasoningSettings(ports, flags, sources);
      return `effort ${effort}, summary ${summary}, replay ${replaySetting(ports, flags, null)}`;
    }),
    keyCheck(ports.env("OPENAI_API_KEY")),
    proxyCheck((name) => ports.env(name)),
  ];
  if (flags.live === true) {
    checks.push(await checkLater("live", () => tinyRequest(context, flags)));
  }
  const failed = checks.find(({ level }) => level === "failed");
  const exitCode = failed?.exit_code ?? 0;
  if (output.options.json) output.json({ ok: failed === undefined, exit_code: exitCode, checks });
  else for (const { name, level, detail } of checks) output.text(`${level.padEnd(7)}  ${name}: ${detail}\n`);
  return exitCode;
}

function check(name: string, look: () => string): Check {
  try {
    return { name, level: "ok", detail: look() };
  } catch (error) {
    const known = asReprError(error);
    const hint = known.hint === undefined ? "" : ` (${known.hint})`;
    const level = known.code === "no_model" ? "missing" : "failed";
    return { name, level, detail: `${known.message}${hint}`, exit_code: known.exitCode };
  }
}

async function checkLater(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    const detail = await look();
    return check(name, () => detail);
  } catch (error) {
    return check(name, () => {
      throw error;
    });
  }
}

function keyCheck(key: string | undefined): Check {
  return (key ?? "").trim() === ""
    ? { name: "key", level: "missing", detail: "OPENAI_API_KEY is not set: only fixtures can be played" }
    : { name: "key", level: "ok", detail: "OPENAI_API_KEY is set" };
}

/** Proxies and extra certificates see or steer the traffic: worth knowing, no failure. */
function proxyCheck(env: (name: string) => string | undefined): Check {
  const names = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "NODE_EXTRA_CA_CERTS",
  ];
  const set = names.filter((name) => (env(name) ?? env(name.toLowerCase()) ?? "") !== "");
  return {
    name: "network",
    level: "ok",
    detail: set.length === 0 ? "no proxy is set" : `set: ${set.join(", ")}`,
  };
}
