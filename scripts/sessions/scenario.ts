/**
 * What a session fixture of the project's own shows, and how it comes about.
 *
 * @module
 */
import type { StepKill } from "../../src/fixture/session/session_file.ts";
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import type { ScriptedAnswer } from "../../tests/support/messages_server/script.ts";
import type { DialectName, RecordedRequest } from "../../tests/support/responses_server.ts";
import type { ScriptedResponse } from "../../tests/support/responses_server/script.ts";

/** An answer, or what makes one of the request. */
export type GivenAnswer = ScriptedResponse | ((request: RecordedRequest) => ScriptedResponse);

/** A call of the program. */
export interface ScenarioStep {
  /** Without provider, endpoint and key; the session is always `s`. */
  readonly args: readonly string[];
  /** Put in front of the recorded arguments: what a recording does not keep, such as `--timeout`. */
  readonly extra?: readonly string[];
  /** What the servers answer; a step without answers asks nobody. */
  readonly answers?: readonly GivenAnswer[];
  /** The same of a Messages API. */
  readonly says?: readonly ScriptedAnswer[];
  /** @default {"openai"}, or `anthropic` with `says` */
  readonly provider?: ProviderKind;
  /** @default {"gpt-5.6"}, or a Claude with `says` */
  readonly model?: string;
  /** `base_url` of the fixture, where another than the provider's own. */
  readonly baseUrl?: string;
  /** The way of the server. @default {"openai"}, or `azure` with that provider */
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
export interface Scenario {
  readonly name: string;
  readonly note: string;
  readonly steps: readonly ScenarioStep[];
  /** Files that the tools find; with `runsTools` they run when it is played. */
  readonly workspace?: Readonly<Record<string, string>>;
  readonly runsTools?: true;
}

/** Text for a run that offers no tools. */
export const NO_TOOLS = ["--deny", "read_file,list_files,search_text"];
/** The arguments of a first run without tools. */
export function begin(words: string, ...args: readonly string[]): readonly string[] {
  return ["run", "--new", "-s", "s", "--instructions", "Be brief.", ...NO_TOOLS, ...args, words];
}
/** The arguments of a first run with reading tools. */
export function beginReading(words: string, ...args: readonly string[]): readonly string[] {
  const denied = ["--deny", "list_files,search_text"];
  return ["run", "--new", "-s", "s", "--instructions", "Be brief.", ...denied, ...args, words];
}
/** The arguments of a run that goes on. */
export function goOn(...args: readonly string[]): readonly string[] {
  return ["run", "-s", "s", ...args];
}
