/**
 * The arguments that play a recorded run again anywhere: what flags, environment, configuration and session decided
 * about it, written as flags; nothing about keys, addresses, paths of the machine, or the form of the output.
 *
 * @module
 */
import { readable } from "../fixture/format.ts";
import { canBeArgument } from "../fixture/session/argument.ts";
import type { RunSetup } from "../run/setup.ts";
import type { RunFlags } from "./run_plan.ts";

/** How a run is called again. */
export interface ReplayCall {
  readonly args: readonly string[];
  /** The prompt, where it cannot be an argument. */
  readonly stdin?: string;
  /** Files that `args` name, by their names in the fixture's folder. */
  readonly files: ReadonlyMap<string, string>;
}

/** What a run was called with, beside its setup. */
export interface CalledRun {
  readonly flags: RunFlags;
  readonly isNew: boolean;
  /** `null` where the run went on without a prompt. */
  readonly words: string | null;
}

/** What `run` does without the flag. */
const DEFAULT_MAX_STEPS = 50;

/** The call for a run of `setup`. */
export function replayCall(setup: RunSetup, { flags, isNew, words }: CalledRun): ReplayCall {
  const files = new Map<string, string>();
  const given = (name: string, value: string | number | null | undefined): string[] =>
    value === undefined || value === null ? [] : [name, String(value)];
  const list = (name: string, values: readonly string[] = []) => values.flatMap((value) => [name, value]);
  const { prompt, stdin } = promptArguments(words);
  const args = [
    "run",
    ...(isNew ? ["--new"] : []),
    "-s",
    setup.writer.id,
    "-m",
    setup.model,
    ...given("--effort", setup.effort),
    ...given("--summary", setup.summary),
    ...(setup.replay === "exact" ? [] : ["--replay", setup.replay]),
    ...given("--replay-window", setup.window),
    ...list("--allow", flags.allow),
    ...list("--deny", flags.deny),
    ...(flags.ask === true ? ["--ask"] : []),
    ...(setup.failOnDenied ? ["--fail-on-denied"] : []),
    ...(setup.maxSteps === DEFAULT_MAX_STEPS ? [] : ["--max-steps", String(setup.maxSteps)]),
    ...given("--max-tokens", setup.maxTokens),
    ...given("--auto-compact", setup.autoCompact),
    // A session has its own; what a new one starts with may be another in another version.
    ...(isNew || flags.instructions !== undefined ? instructionsArguments(setup.instructions, files) : []),
    ...schemaArguments(setup, files),
    ...prompt,
  ];
  return { args, files, ...(stdin === undefined ? {} : { stdin }) };
}

function instructionsArguments(text: string, files: Map<string, string>): string[] {
  if (!text.startsWith("@") && canBeArgument(text)) return ["--instructions", text];
  files.set("instructions.txt", text);
  return ["--instructions", "@instructions.txt"];
}

function schemaArguments({ outputSchema }: RunSetup, files: Map<string, string>): string[] {
  if (outputSchema === undefined) return [];
  files.set("output_schema.json", readable(outputSchema));
  return ["--output-schema", "output_schema.json"];
}

function promptArguments(words: string | null): { readonly prompt: string[]; readonly stdin?: string } {
  if (words === null) return { prompt: [] };
  if (words === "-" || !canBeArgument(words)) return { prompt: ["-"], stdin: words };
  return { prompt: words.startsWith("-") ? ["--", words] : [words] };
}
