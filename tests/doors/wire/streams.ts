/** Streams that servers send, in any cutting, and what a run leaves of them: a recording is the server. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { Sandbox } from "../../support/reprise.ts";
import { writeFixture } from "../recordings/recording_files.ts";
import { answerText, responseStream } from "./streams_answers.ts";

export type { Json };
/** The APIs that a run speaks. */
export type Api = "responses" | "messages";

/** The remains of a stream after a run. */
export interface Received {
  /** Items of the turn. */
  readonly items: readonly Json[];
  /** `response` of the turn, with the model that answered, or `null` if no turn was written. */
  readonly response: Json;
  readonly usage: Json;
  /** The server's report about changed items, and other members of the turn. */
  readonly turn: Json;
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
  readonly transformations?: Json;
  readonly notices?: readonly string[];
  readonly text?: string;
  readonly reasoning?: string;
  readonly error?: string | null;
}

/** Rows with a sentence as their name. */
export type StreamRows = Readonly<Record<string, StreamRow>>;

const RUNS = {
  responses: { provider: "openai", model: "gpt-5.6", path: "/v1/responses" },
  messages: { provider: "anthropic", model: "claude-sonnet-5", path: "/v1/messages" },
} as const;

/** A server that sends given streams. */
export class StreamHome extends Sandbox {
  #runs = 0;

  /** Runs against a server whose first answer has these bytes, in pieces that begin at `cuts`. */
  async receive(api: Api, body: string | Uint8Array, cuts: readonly number[] = []): Promise<Received> {
    const { provider, model, path } = RUNS[api];
    const id = `s${++this.#runs}`;
    const chunks = [0, ...cuts].map((offset) => [offset, 0]);
    const fixture = writeFixture(`${this.directory}/f${id}`, [
      { request: { path }, response: cuts.length === 0 ? {} : { chunks }, body },
      { request: { path }, body: api === "responses" ? responseStream([answerText("Done.")]) : DONE },
    ], api === "responses" ? {} : { provider, base_url: "https://api.anthropic.com", models: [model] });
    const args = ["--fixture", fixture, "--match", "sequence", "--provider", provider, "-m", model];
    const { stdout, stderr } = await this.call(["run", "--json", "--new", "-s", id, ...args, "Go"]);
    const lines: Json[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(lines.some(({ type }) => type === "run.started"), stdout + stderr);
    // Only lines of the first answer.
    const end = lines.findIndex(({ type, kind }) => type === "turn.saved" && kind === "model");
    const before = end < 0 ? lines : lines.slice(0, end + 1);
    const shown = (type: string) =>
      before.flatMap((line) => line.type === type ? [line.text ?? line.delta] : []).join("");
    const turn = this.turns(id).find(({ kind }) => kind === "model") ?? null;
    const error = lines.find(({ type }) => type === "error");
    return {
      items: turn?.events.flatMap(({ item }: Json) => item === undefined ? [] : [item]) ?? [],
      response: turn === null ? null : { model: turn.model.answered, ...turn.response },
      usage: turn?.events.find(({ usage }: Json) => usage !== undefined)?.usage ?? null,
      turn,
      notices: lines.flatMap(({ type, message, kind }) => type === "notice" ? [`${kind}: ${message}`] : []),
      text: shown("text.delta"),
      reasoning: shown("reasoning.delta"),
      error: error?.code ?? null,
      says: error?.message ?? "",
    };
  }
}

const DONE = [
  {
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", model: "c", content: [], usage: {} },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

/** Events as a stream; texts are the data of an event. */
export function streamOf(events: readonly Json[], isNamed = false): string {
  return events.map((event) => {
    const name = isNamed && typeof event !== "string" ? `event: ${event.type}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  }).join("");
}
