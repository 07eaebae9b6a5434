/** Streams that servers send, in any cutting, and what a run leaves of them. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { type Api, RecordedRuns } from "./recorded_runs.ts";
import { PLAIN } from "./streams_answers.ts";

/** The remains of a stream after a run. */
export interface Received {
  /** Items of the turn. */
  readonly items: readonly Json[];
  /** `response` of the turn, with the model that answered, or `null` if no turn was written. */
  readonly response: Json;
  readonly usage: Json;
  /** Text of the turn's file; empty without one. */
  readonly file: string;
  /** Texts of the notices about the stream. */
  readonly notices: readonly string[];
  /** Text and reasoning as they were shown. */
  readonly text: string;
  readonly reasoning: string;
  /** Code of the error that ended the run, if one did, and its message. */
  readonly error: string | null;
  readonly says: string;
}

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
  readonly notices?: readonly string[];
  readonly text?: string;
  readonly reasoning?: string;
  readonly error?: string | null;
}

/** Rows with a sentence as their name. */
export type StreamRows = Readonly<Record<string, StreamRow>>;

/** A server that sends given streams. */
export class StreamHome extends RecordedRuns {
  #streams = 0;

  /** Runs against a server whose first answer has these bytes, in pieces that begin at `cuts`. */
  async receive(api: Api, body: string | Uint8Array, cuts: readonly number[] = []): Promise<Received> {
    const session = `s${++this.#streams}`;
    const first = cuts.length === 0 ? {} : { chunks: [0, ...cuts].map((offset) => [offset, 0]) };
    const { lines, turns, error, stdout } = await this.run([body, PLAIN[api]], { api, session, first });
    assert.ok(lines.some(({ type }) => type === "run.started"), stdout);
    // Only lines of the first answer.
    const end = lines.findIndex(({ type, kind }) => type === "turn.saved" && kind === "model");
    const before = end < 0 ? lines : lines.slice(0, end + 1);
    const shown = (type: string) =>
      before.flatMap((line) => line.type === type ? [line.text ?? line.delta] : []).join("");
    const at = turns.findIndex(({ kind }) => kind === "model");
    const turn = turns[at] ?? null;
    const file = `${this.home}/sessions/${session}/turns/${this.turnNames(session)[at]}`;
    return {
      items: turn?.events.flatMap(({ item }: Json) => item === undefined ? [] : [item]) ?? [],
      response: turn === null ? null : { model: turn.model.answered, ...turn.response },
      usage: turn?.events.find(({ usage }: Json) => usage !== undefined)?.usage ?? null,
      file: turn === null ? "" : Deno.readTextFileSync(file),
      notices: lines.flatMap(({ type, message, kind }) => type === "notice" ? [`${kind}: ${message}`] : []),
      text: shown("text.delta"),
      reasoning: shown("reasoning.delta"),
      error: error?.code ?? null,
      says: error?.message ?? "",
    };
  }
}
