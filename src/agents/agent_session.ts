/** A session of another agent, as its reader returns it: independent of the agent's file format. */
import type { LostPart } from "../schemas/maintenance.ts";
import type { Item } from "../domain/event.ts";
import type { ProviderKind } from "../domain/fingerprint.ts";
import type { JsonObject } from "../domain/json.ts";

export const AGENT_NAMES = ["codex", "claude", "pi"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

interface EntryBase {
  /** First line of the source that the entry was read from: 1, 2, 3, … */
  readonly line: number;
}

interface UserEntry extends EntryBase {
  readonly kind: "user";
  /** Content parts in the Responses shape, such as `{"type":"input_text","text":"…"}`; at least one. */
  readonly content: readonly Item[];
}

/** One answer of a model, whose lines are joined. */
export interface ResponseEntry extends EntryBase {
  readonly kind: "response";
  /** The API provider, or `null` if the file does not prove it. */
  readonly provider: ProviderKind | null;
  /** The model, or `null` if the file does not name it. */
  readonly model: string | null;
  readonly responseId: string | null;
  /** `completed`, or `interrupted` if the file ends before the answer does. */
  readonly status: "completed" | "interrupted";
  /** Items verbatim, in the shape of the API that returned them; at least one. */
  readonly items: readonly Item[];
  /** The provider's usage object, if the file has it. */
  readonly usage: JsonObject | null;
  /** True for the copy of an answer to another session, of which this one is a fork. */
  readonly isCopied?: true;
}

/** The result of a call in an earlier response of the branch. */
export interface ResultEntry extends EntryBase {
  readonly kind: "result";
  readonly callId: string;
  readonly isError: boolean;
  /** Text for the model. */
  readonly output: string;
}

/** A summary that replaces entries before it in later requests. */
export interface CompactionEntry extends EntryBase {
  readonly kind: "compaction";
  readonly summary: string;
  /** Line of the first entry before it that stays in requests; `null` if none stays. */
  readonly keptFrom: number | null;
}

export type AgentEntry = UserEntry | ResponseEntry | ResultEntry | CompactionEntry;

/** A branch that is not the main one: a fork after some entries of the main branch. */
export interface AgentBranch {
  /** Name for people, such as `branch at line 12` or `sidechain at line 30`. */
  readonly name: string;
  /** Number of entries of the main branch that come before `entries`; 0 if it shares none. */
  readonly shared: number;
  readonly entries: readonly AgentEntry[];
  /** Times of its lines, if they are in a file of its own. */
  readonly times?: ReadonlyMap<number, string> | undefined;
}

export interface AgentSession {
  readonly agent: AgentName;
  /** Version of the program that wrote the file, as the file names it. */
  readonly version: string | null;
  /** The agent's own id of the session. */
  readonly id: string | null;
  /** Entries of the branch that the agent itself would continue. */
  readonly main: readonly AgentEntry[];
  readonly others: readonly AgentBranch[];
  readonly lost: readonly LostPart[];
}
