/**
 * A session test of the project: what it shows, and the calls and answers that create it.
 *
 * @module
 */
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import type { StepKill } from "../../src/fixture/session/session_file.ts";
import { read } from "../../tests/support/calls.ts";
import type { ScriptedAnswer } from "../../tests/support/messages_server/script.ts";
import {
  answer,
  type DialectName,
  message,
  reasoning,
  type RecordedRequest,
} from "../../tests/support/responses_server.ts";
import type { ScriptedResponse } from "../../tests/support/responses_server/script.ts";

/** An answer, or a function that creates one for the request. */
export type GivenAnswer = ScriptedResponse | ((request: RecordedRequest) => ScriptedResponse);

/** A call of the program. */
export interface StoryStep {
  /** Without provider, endpoint and key; the session is always `s`. */
  readonly args: readonly string[];
  /** Flags in front of the recorded arguments that a recording does not keep, such as `--timeout`. */
  readonly extra?: readonly string[];
  /** Answers of the servers; a step without answers sends no request. */
  readonly answers?: readonly GivenAnswer[];
  /** The same of a Messages API. */
  readonly says?: readonly ScriptedAnswer[];
  /** @default {"openai"}, or `anthropic` with `says` */
  readonly provider?: ProviderKind;
  /** @default {"gpt-5.6"}, or a Claude with `says` */
  readonly model?: string;
  /** `base_url` of the fixture, if it is not the provider's own. */
  readonly baseUrl?: string;
  /** The kind of server. @default {"openai"}, or `azure` with that provider */
  readonly dialect?: DialectName;
  /** The organization that the server answers for, which then checks no rules. */
  readonly organization?: string;
  /** Faults by the number of the exchange. */
  readonly faults?: Readonly<Record<number, string>>;
  readonly kill?: StepKill;
  readonly exit: number;
  readonly state?: string;
}

/** One folder of `tests/sessions`. */
export interface Story {
  readonly name: string;
  /** Its promise, in one line. */
  readonly note: string;
  readonly steps: readonly StoryStep[];
  /** Files that the tools find; with `runsTools` the tools run when the story is played. */
  readonly workspace?: Readonly<Record<string, string>>;
  readonly runsTools?: true;
}

/** A workspace with one file. */
export const A = { "a.txt": "alpha\n" };
/** The model of the Messages steps whose thinking is bound to what came before it. */
export const CLAUDE = "claude-fable-5-1";
/** The outcome of most steps. */
export const COMPLETED = { exit: 0, state: "completed" } as const;
/** An answer without calls. */
export const HELLO = answer([reasoning("Thinking"), message("Hello.")]);
/** Another one. */
export const AGAIN = answer([reasoning("Thinking again"), message("Hello again.")]);
/** A call that reads a.txt. */
export const READS_A = answer([reasoning("Looking"), read("a.txt")]);

/** The beginning of a first run. */
export const START = ["run", "--new", "-s", "s", "--instructions", "Be brief."];
/** Flags of a run that offers no tools. */
const NO_TOOLS = ["--deny", "read_file,list_files,search_text"];
/** Flags of a run that offers to read files only. */
export const READING = ["--deny", "list_files,search_text"];

/** A first run without tools. */
export function greets(...answers: readonly GivenAnswer[]): StoryStep {
  return {
    args: [...START, ...NO_TOOLS, "Hello?"],
    answers: answers.length > 0 ? answers : [HELLO],
    ...COMPLETED,
  };
}
/** A later run without tools; without a prompt it resumes the one before. */
export function next(prompt: string | null, ...answers: readonly GivenAnswer[]): StoryStep {
  return { args: [...CONTINUE, ...NO_TOOLS, ...prompt === null ? [] : [prompt]], answers, ...COMPLETED };
}
/** A first run that reads a.txt. */
export const READ_A: StoryStep = {
  args: [...START, ...READING, "What is in a.txt?"],
  answers: [READS_A, HELLO],
  ...COMPLETED,
};
/** A later run that may read; without a prompt it resumes the one before. */
export function reads(
  prompt: string | null,
  answers: readonly GivenAnswer[] = [READS_A, HELLO],
  ...flags: readonly string[]
): StoryStep {
  return {
    args: [...CONTINUE, ...READING, ...flags, ...prompt === null ? [] : [prompt]],
    answers,
    ...COMPLETED,
  };
}
/** The step, killed once that turn is saved. */
export function killed({ state: _state, ...step }: StoryStep, turn: number): StoryStep {
  return { ...step, kill: { after: "turn.saved", turn }, exit: 137 };
}
const CONTINUE = ["run", "-s", "s"];

/** The step that finds every file sound, and every request equal to what the turns fold to. */
export const SOUND: readonly StoryStep[] = [
  { args: ["fsck", "--all", "--requests"], exit: 0 },
];
