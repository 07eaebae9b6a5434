/**
 * A session or a fixture for people: facts about it, and its turns or exchanges as blocks. The terminal, Markdown and a
 * page are three drawings of it.
 */
import type { Block } from "./blocks.ts";

export type Fact = readonly [name: string, value: string];

/** The whole. */
export interface Transcript {
  /** The id of a session, the path of a fixture. */
  readonly name: string;
  /** Empty without one. */
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Runs of a session, recordings of a fixture that has several. */
  readonly groups: readonly Group[];
  readonly entries: readonly Entry[];
}

/** Entries that belong together. */
export interface Group {
  /** Such as `Run 2`. */
  readonly name: string;
  /** Such as the outcome of a run. */
  readonly state: string;
  readonly isError: boolean;
  /** The prompt of a run. */
  readonly about: string;
}

/** A turn or an exchange. */
export interface Entry {
  /** The fragment of its link, such as `turn-12`. */
  readonly id: string;
  /** Such as `Turn 12`. */
  readonly name: string;
  /** Writer, time, model and cost; as many as are known. */
  readonly words: readonly string[];
  readonly from: "user" | "model" | "other";
  readonly isError: boolean;
  readonly group: number;
  readonly blocks: readonly Block[];
}
