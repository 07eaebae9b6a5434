/**
 * The arguments that play a recorded run again anywhere: what flags, environment, configuration and session decided
 * about it, written as flags; nothing about keys, addresses, paths of the machine, or the form of the output.
 *
 * @module
 */
import { readable } from "../../fixture/format.ts";
import { canBeArgument } from "../../fixture/session/session_file.ts";
import type { RunSetup } from "../../run/setup.ts";
import { RUN_FLAGS, type RunFlags } from "./command.ts";
import { type Flag, flagArguments } from "../declare.ts";

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

/** The call for a run of `setup`. */
export function replayCall(setup: RunSetup, { flags, isNew, words }: CalledRun): ReplayCall {
  const files = new Map<string, string>();
  const { prompt, stdin } = promptArguments(words);
  const values = {
    new: isNew ? true : undefined,
    session: setup.writer.id,
    model: setup.model,
    effort: setup.effort,
    summary: setup.summary,
    replay: setup.replay === "exact" ? undefined : setup.replay,
    ...recordedFlags(flags),
    // A session has its own; what a new one starts with may be another in another version.
    instructions: isNew || flags.instructions !== undefined
      ? instructionsValue(setup.instructions, files)
      : undefined,
    outputSchema: schemaValue(setup, files),
  } as const;
  return {
    args: ["run", ...flagArguments(RUN_FLAGS, values), ...prompt],
    files,
    ...(stdin === undefined ? {} : { stdin }),
  };
}

/** The values of the flags that a recorded run keeps as they were given, in the order of their declarations. */
function recordedFlags(flags: RunFlags): Partial<RunFlags> {
  const names = Object.entries<Flag>(RUN_FLAGS).flatMap(([name, { step }]) =>
    step === "recorded" ? [name as keyof RunFlags] : []
  );
  return Object.fromEntries(names.map((name) => [name, flags[name]]));
}

function instructionsValue(text: string, files: Map<string, string>): string {
  if (!text.startsWith("@") && canBeArgument(text)) return text;
  files.set("instructions.txt", text);
  return "@instructions.txt";
}

function schemaValue({ outputSchema }: RunSetup, files: Map<string, string>): string | undefined {
  if (outputSchema === undefined) return undefined;
  files.set("output_schema.json", readable(outputSchema));
  return "output_schema.json";
}

function promptArguments(words: string | null): { readonly prompt: string[]; readonly stdin?: string } {
  if (words === null) return { prompt: [] };
  if (words === "-" || !canBeArgument(words)) return { prompt: ["-"], stdin: words };
  return { prompt: words.startsWith("-") ? ["--", words] : [words] };
}
