/** The verb `config`: reads and changes the user's `config.json`. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { parseBaseUrl, PROVIDER_KINDS } from "../../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { fileError, systemCode } from "../../store/fs_errors.ts";
import { parentOf } from "../../store/layout.ts";
import { unlinkQuietly, writeTemporary } from "../../store/write/publish.ts";
import { type ConfigFile, parseConfig, readConfigObject } from "../config_file.ts";
import { makeOutput } from "../context.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { configuredPolicy } from "../run/run_settings.ts";
import { configPath, switchOf } from "../settings.ts";
import type { ConfigFlags } from "./command.ts";

export function configVerb(
  ports: ProgramPorts,
  action: string,
  name: string | undefined,
  values: readonly string[],
  flags: ConfigFlags,
): ExitCode {
  const output = makeOutput(ports, flags);
  const path = configPath(ports);
  if (path === null) {
    throw new RepriseError(
      "usage",
      "Cannot tell where config.json is: neither HOME nor XDG_CONFIG_HOME is set",
      { hint: "Set one of them to a directory" },
    );
  }
  switch (action) {
    case "path":
      if (output.options.json) output.json<"config-path">({ path });
      else output.text(`${path}\n`);
      return 0;
    case "list":
      return print(output, readChecked(ports, path));
    case "get":
      return get(output, { object: readChecked(ports, path), name });
    case "set":
      return set(ports, output, { path, name, values, dryRun: flags.dryRun === true });
    default:
      throw new RepriseError(
        "usage",
        `Cannot run config ${JSON.stringify(action)}: there is no such action`,
        {
          hint:
            "reprise config list, reprise config get NAME, reprise config set NAME VALUE, or reprise config path",
        },
      );
  }
}

function readChecked(ports: ProgramPorts, path: string): JsonObject {
  const object = readConfigObject(ports, path) ?? {};
  parseConfig(object, path);
  return object;
}

function get(
  output: Output,
  { object, name }: { readonly object: JsonObject; readonly name: string | undefined },
): ExitCode {
  if (name === undefined) {
    throw new RepriseError("usage", "Cannot get a member without its name", {
      hint: "See all with: reprise config list",
    });
  }
  const value = stepsOf(name).reduce<JsonValue | undefined>(memberOf, object);
  if (value === undefined) {
    throw new RepriseError("usage", `Cannot get ${JSON.stringify(name)}: it is not set`, {
      hint: "See what is set with: reprise config list",
    });
  }
  return print(output, value);
}

function print(output: Output, value: JsonValue): ExitCode {
  if (output.options.json) output.json<"config-get">(value);
  else if (isJsonObject(value)) output.jsonText(`${JSON.stringify(value, null, 2)}\n`);
  else output.text((Array.isArray(value) ? value : [value]).map((each) => `${each}\n`).join(""));
  return 0;
}

function memberOf(value: JsonValue | undefined, step: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

interface Change {
  readonly path: string;
  readonly name: string | undefined;
  readonly values: readonly string[];
  readonly dryRun: boolean;
}

function set(ports: ProgramPorts, output: Output, { path, name, values, dryRun }: Change): ExitCode {
  if (name === undefined) {
    throw new RepriseError("usage", "Cannot set a member without its name", {
      hint: "Such as: reprise config set model gpt-5.6",
    });
  }
  const steps = stepsOf(name);
  const isList = ["allow", "deny"].includes(steps.at(-1) ?? "");
  const [first, ...more] = values;
  if (more.length > 0 && !isList) {
    throw new RepriseError("usage", `Cannot set ${JSON.stringify(name)} to ${values.length} values`, {
      hint: "Only allow and deny take several; quote a value with spaces",
    });
  }
  const value = first === undefined
    ? undefined
    : isList
    ? [...values]
    : steps[0] === "prices"
    ? Number(first)
    : first;
  const changed = withMember(readConfigObject(ports, path) ?? {}, steps, value);
  requireUsable(parseConfig(changed, path));
  if (!dryRun) writeConfig(ports, path, `${JSON.stringify(changed, null, 2)}\n`);
  const report = { path, name, value: value ?? null, written: !dryRun };
  if (output.options.json) {
    output.json<"config-set">(
      dryRun ? dryRunOf("config", plannedChanges("replace", "file", [path]), report) : report,
    );
  } else {
    output.note(
      `${dryRun ? "Would " : ""}${value === undefined ? "remove" : "set"} ${name} in ${path}`.replace(
        /^[a-z]/,
        (letter) => letter.toUpperCase(),
      ),
    );
  }
  return 0;
}

/** The names on the way to a member, such as `profiles`, `work`, `model`. */
function stepsOf(name: string): string[] {
  // Names of models have points, colons and slashes.
  const [, model, kind] = /^prices\.(.+)\.(\w+)$/.exec(name) ?? [];
  if (model !== undefined && kind !== undefined) return ["prices", model, kind];
  const steps = name.split(".");
  if (steps.every((step) => /^[A-Za-z][\w-]*$/.test(step))) return steps;
  throw new RepriseError("usage", `Cannot use ${JSON.stringify(name)} as the name of a member`, {
    hint: "Names are such as model, models.anthropic, profiles.work.base_url",
  });
}

/** A copy of an object with another member; without it, and without objects that it leaves empty, if `value` is absent. */
function withMember(object: JsonObject, steps: readonly string[], value: JsonValue | undefined): JsonObject {
  const [step = "", ...rest] = steps;
  const { [step]: before, ...others } = object;
  if (rest.length === 0) return value === undefined ? others : { ...object, [step]: value };
  const inner = withMember(isJsonObject(before) ? before : {}, rest, value);
  return value === undefined && Object.keys(inner).length === 0 ? others : { ...object, [step]: inner };
}

/** Refuses values that no run could use. @throws {RepriseError} `usage`, `bad_configuration`, `bad_url`. */
function requireUsable({ values, profiles, allow = [], deny = [] }: ConfigFile): void {
  if (values.stdin !== undefined) switchOf(values.stdin, "stdin");
  for (const each of [values, ...Object.values(profiles)]) {
    const { provider, base_url } = each;
    if (typeof provider === "string" && !PROVIDER_KINDS.some((known) => known === provider)) {
      throw new RepriseError("usage", `Cannot use the provider ${JSON.stringify(provider)}`, {
        hint: `Providers: ${PROVIDER_KINDS.join(", ")}`,
      });
    }
    // A base URL of Azure may have a query.
    if (typeof base_url === "string") parseBaseUrl(base_url.replace(/\?api-version=[\w.-]+$/, ""));
  }
  for (const each of [{ allow, deny }, ...Object.values(profiles)]) {
    configuredPolicy({ allow: each.allow ?? [], deny: each.deny ?? [] });
  }
}

/** Replaces the file as a whole, for the user only; a link to it stays a link. */
function writeConfig(ports: ProgramPorts, path: string, text: string): void {
  const { files } = ports;
  try {
    Deno.mkdirSync(parentOf(path), { recursive: true, mode: 0o700 });
    const target = files.facts(path) === null ? path : Deno.realPathSync(path);
    const temporary = writeTemporary(ports, parentOf(target), { bytes: encodeUtf8(text), sync: true });
    try {
      files.rename(temporary, target);
    } catch (error) {
      unlinkQuietly(files, temporary);
      throw error;
    }
  } catch (error) {
    if (systemCode(error) === null) throw error;
    throw fileError(error, "write the configuration", path);
  }
}
