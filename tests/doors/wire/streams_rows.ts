/** Rows of streams. */
import type { Json } from "./streams.ts";

/** A stream and what a run leaves of it; what is not named is not compared. */
export interface StreamRow {
  /** Events, or texts that are the data of events. */
  readonly events: readonly Json[];
  /** True if the stream has `event:` lines. */
  readonly isNamed?: true;
  readonly items?: readonly Json[];
  readonly response?: Json;
  readonly usage?: Json;
  /** Texts that the turn file holds. */
  readonly raw?: readonly string[];
  readonly transformations?: Json;
  readonly notices?: readonly string[];
  readonly text?: string;
  readonly reasoning?: string;
  readonly error?: string | null;
}

/** Rows with a sentence as their name. */
export type StreamRows = Readonly<Record<string, StreamRow>>;
