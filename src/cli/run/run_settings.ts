/**
 * What the next request of a session is made with: the same answer for `run`, `input` and `explain`. Where it goes is
 * in `endpoint.ts`.
 *
 * @module
 */
import { decodeUtf8 } from "../../domain/bytes.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ReplayMode } from "../../fold/guard.ts";
import type { Fixture } from "../../fixture/read.ts";
import { variablesOf } from "../declare.ts";
import { REQUEST_FLAGS, type RequestFlags } from "../flags.ts";
import { otherKind } from "../regular_file.ts";
import {
  absolute,
  type Config,
  declaredSources,
  firstSetting,
  type Setting,
  switchVariable,
} from "../settings.ts";

/** Where settings come from beside flags and environment. */
export interface SettingSources {
  readonly config: Config;
  /** The fixture that is played, if one is. */
  readonly fixture: Fixture | null;
  /** `null` for a session that has no run yet. */
  readonly manifest: Manifest | null;
}

/**
 * The model: flag, the session's last, the fixture's, environment, configuration.
 *
 * @throws {RepriseError} `no_model` when none of them names one.
 */
export function modelSetting(ports: Ports, flags: RequestFlags, from: SettingSources): Setting<string> {
  if (flags.model !== undefined && flags.model !== "") return { value: flags.model, source: "flag" };
  if (from.manifest !== null) return { value: from.manifest.pins.model, source: "session" };
  // What a played fixture is asked must not depend on the machine.
  const found: Setting<string> | null = from.fixture === null
    ? firstSetting(ports, declaredSources(REQUEST_FLAGS.model, from.config))
    : from.fixture.model === null
    ? null
    : { value: from.fixture.model, source: "fixture" };
  if (found === null) {
    throw new RepriseError("no_model", "Cannot tell which model to ask: none is named", {
      hint: "Name it with -m MODEL, REPRISE_MODEL, or model in config.json",
    });
  }
  return found;
}

/**
 * Effort and summary, where they are set at all: flag, the session's last, environment, configuration; under a fixture
 * flag and session only. An empty flag takes back what the session has.
 */
export function reasoningSettings(
  ports: Ports,
  flags: RequestFlags,
  { config, fixture, manifest }: SettingSources,
): { effort?: string; summary?: string } {
  const pick = (name: "effort" | "summary") => {
    if (flags[name] !== undefined) return flags[name] === "" ? undefined : flags[name];
    const kept = manifest?.pins[name];
    if (kept !== undefined || fixture !== null) return kept;
    return firstSetting(ports, declaredSources(REQUEST_FLAGS[name], config))?.value;
  };
  const effort = pick("effort");
  const summary = pick("summary");
  return { ...(effort === undefined ? {} : { effort }), ...(summary === undefined ? {} : { summary }) };
}

/**
 * Whether and whose reasoning goes back: `--no-reasoning-replay`, then `--replay`, then `REPRISE_REASONING_REPLAY` or
 * its alias `LLM_REASONING_REPLAY`. Under a fixture only the flags count.
 *
 * @throws {RepriseError} `usage` when a variable is neither on nor off.
 */
export function replaySetting(ports: Ports, flags: RequestFlags, fixture: Fixture | null): ReplayMode {
  const names = variablesOf(REQUEST_FLAGS.reasoningReplay);
  const variable = fixture === null ? switchVariable(ports, names) : null;
  if (flags.reasoningReplay === false) return "none";
  return flags.replay ?? (variable === false ? "none" : "exact");
}

/**
 * `TEXT`, or the content of a file for `@FILE`.
 *
 * @throws {RepriseError} `usage` when the file cannot be read as UTF-8.
 */
export function textOrFile(ports: Ports, value: string, flag: string): string {
  if (!value.startsWith("@")) return value;
  return readTextFile(ports, value.slice(1), flag);
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
  const other = otherKind(full);
  if (other !== null) throw refuse(`it is ${other}, not a regular file`);
  try {
    return decodeUtf8(ports.files.read(full));
  } catch (cause) {
    throw refuse(cause instanceof TypeError ? "it is not valid UTF-8" : "it cannot be read", cause);
  }
}
