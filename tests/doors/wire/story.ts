/** A session as a row tells it: the runs, the ends of runs, and the `seq` of what an event names are filled in. */
import { type Json, sha256 } from "../../support/files.ts";
import {
  call,
  ended,
  FINGERPRINT,
  type GivenTurn,
  message,
  model,
  PINS,
  reasoning,
  user,
} from "../sessions/session_files.ts";

/** The hash of a base URL in fingerprints. */
export const endpointOf = (url: string) => sha256(url).slice(0, 8);
/** The origin of Anthropic's items. */
export const CLAUDE = {
  provider: "anthropic",
  endpoint: endpointOf("https://api.anthropic.com"),
  account: null,
};

/** Origin and outcome of a response. */
export interface Facts {
  readonly asked?: string;
  readonly answered?: string;
  readonly at?: Json;
  readonly status?: string;
  readonly paused?: true;
}

/** Turns that one step of a story adds. */
export type Beat = (story: Story) => void;

/** The turns so far. */
export class Story {
  readonly turns: GivenTurn[] = [];
  /** The `seq` of items, calls and results, by id; of a result `out ID`. */
  readonly #places = new Map<string, number>();
  #run = 0;
  #seq = 0;
  #isOpen = false;

  /** Adds a turn of the current run, or of the next one; returns the `seq` of its first event. */
  add(turn: GivenTurn, opens = false): number {
    if (opens && this.#isOpen) this.end();
    if (opens) this.#run++;
    this.#isOpen ||= opens;
    const events = turn.events.map((event) => "run" in event ? { ...event, run: this.#run } : event);
    this.turns.push({ ...turn, run: Math.max(1, this.#run), events });
    const first = this.#seq + 1;
    for (const event of turn.events) {
      this.#seq++;
      const { item, type, call_id } = event;
      for (const id of [item?.id, item?.call_id, item?.signature]) {
        if (id !== undefined) this.#places.set(id, this.#seq);
      }
      if (type === "tool_result") this.#places.set(`out ${call_id}`, this.#seq);
      if (type === "user_message") this.#places.set(event.content[0].text, this.#seq);
    }
    return first;
  }

  end(state = "completed", exit = 0): void {
    this.#isOpen = false;
    this.add(ended(1, state, exit));
  }

  /** The `seq` of an item, a call, a result, a prompt, or the newest event. */
  seqOf(name?: string): number {
    const found = name === undefined ? this.#seq : this.#places.get(name);
    if (found === undefined) throw new Error(`The story has no ${name}`);
    return found;
  }

  /** The number of the turn with an event. */
  turnOf(seq: number): number {
    let last = 0;
    return this.turns.findIndex(({ events }) => (last += events.length) >= seq) + 1;
  }
}

/** The turns of a story. */
export function tell(...beats: readonly Beat[]): GivenTurn[] {
  const story = new Story();
  for (const beat of beats) beat(story);
  return story.turns;
}

export const asks = (text: string): Beat => (story) => void story.add(user(text), true);
export const ends = (state?: string, exit?: number): Beat => (story) => story.end(state, exit);
export const resumes: Beat = (story) =>
  void story.add({ kind: "harness", pins: PINS, events: [{ type: "run_continued", run: 0 }] }, true);

/** An item: of reasoning `rs_ID`, of a message `ID: TEXT`, of a call its id, or the item itself. */
const itemOf = (given: Json): Json => {
  if (typeof given !== "string") return given;
  const [id = "", text] = given.split(": ");
  return text !== undefined ? message(id, text) : id.startsWith("rs_") ? reasoning(id) : call(id);
};

/** A response of OpenAI, or of the origin in its facts. */
export const says = (given: readonly Json[], facts: Facts = {}): Beat => (story) => {
  const items = given.map(itemOf);
  const { asked = PINS.model, answered = null, at = {}, status = "completed", paused } = facts;
  const turn = model(items, 1, {
    model: { asked, answered },
    fingerprint: { ...FINGERPRINT, ...at },
    response: { id: "resp_1", status, ...(paused ? { paused } : {}) },
  });
  const events = turn.events.map((event) => ({ ...event, type: KINDS[event.item?.type] ?? event.type }));
  story.add({ ...turn, events });
};

const KINDS: Readonly<Record<string, string>> = {
  text: "assistant_message",
  thinking: "reasoning",
  redacted_thinking: "reasoning",
  tool_use: "tool_call",
  custom_tool_call: "tool_call",
};

/** A response of Claude. */
export const claude = (items: readonly Json[], facts: Facts = {}): Beat =>
  says(items, { asked: "claude-opus-5", at: CLAUDE, ...facts });

/** The results of calls. */
export const gets = (...ids: readonly string[]): Beat => (story) =>
  void story.add(resultsOf(story, ids, "ok"));
/** The end of a run that never started its calls. */
export const neverRan = (...ids: readonly string[]): Beat => (story) =>
  void story.add({ ...resultsOf(story, ids, "not_run"), kind: "harness" });

function resultsOf(story: Story, ids: readonly string[], status: string): GivenTurn {
  const events = ids.map((call_id) => ({
    type: "tool_result",
    call_id,
    call_seq: story.seqOf(call_id),
    tool: "read_file",
    status,
    output: `got ${call_id}`,
  }));
  return { kind: "tools", events };
}

/** A notice about items, by id: an action, or `stripped FIELD`. */
export const notes =
  (actions: Readonly<Record<string, string>>, reason = "reasoning_refused", scope?: Json): Beat =>
  (
    story,
  ) => {
    const items = Object.entries(actions).map(([id, text]) => {
      const [action, field] = text.split(" ");
      return { seq: story.seqOf(id), action, ...(field === undefined ? {} : { field }) };
    });
    story.add({
      kind: "harness",
      events: [{ type: "replay_notice", reason, items, ...(scope === undefined ? {} : { scope }) }],
    });
  };

/** A checkpoint up to an event, or up to here; `keeps` is the prompt of a run that continues. */
export const compacts = (upTo?: string, keeps?: string): Beat => (story) => {
  const seq = story.seqOf(upTo);
  const turn = story.turnOf(seq);
  const end = story.turns.slice(0, turn).reduce((sum, { events }) => sum + events.length, 0);
  const opening_turn = keeps === undefined ? null : story.turnOf(story.seqOf(keeps));
  const event = { type: "history_compaction", to_seq: end, to_turn: turn, previous_checkpoint: null };
  const text = { opening_turn, strategy: "deterministic", summary: "So far", limitations: [] };
  story.add({ kind: "compaction", pins: PINS, events: [{ ...event, ...text }] });
};

/** A result that requests hold in part only. */
export const shortens = (call: string, kept: string): Beat => (story) => {
  const event = { type: "result_elided", result_seq: story.seqOf(`out ${call}`), kept };
  story.add({ kind: "compaction", pins: PINS, events: [event] });
};

/** Takes back the checkpoint, the shortening or the omission that began `turnsAgo`. */
export const undoes = (turnsAgo = 1): Beat => (story) => {
  const at = story.turns.length - turnsAgo;
  const seq = story.turns.slice(0, at).reduce((sum, { events }) => sum + events.length, 0) + 1;
  const event = story.turns[at]?.events[0].type === "items_omitted"
    ? { type: "omission_withdrawn", omission: seq }
    : { type: "compaction_withdrawn", checkpoint: seq, restored: null };
  story.add({ kind: "harness", events: [event] });
};

/** Takes items out, by id. */
export const omits = (...names: readonly string[]): Beat => (story) => {
  const seqs = names.map((name) => story.seqOf(name));
  story.add({ kind: "harness", events: [{ type: "items_omitted", seqs, reason: "user_request" }] });
};

/** Sends calls as text with their results, by id. */
export const tells = (...names: readonly string[]): Beat => (story) => {
  const call_seqs = names.map((name) => story.seqOf(name));
  story.add({ kind: "harness", events: [{ type: "calls_as_text", call_seqs }] });
};

/** A thinking block; its signature is its name. */
export const thinking = (name: string): Json => ({ type: "thinking", thinking: name, signature: name });
export const text = (words: string): Json => ({ type: "text", text: words });
export const use = (id: string): Json => ({ type: "tool_use", id, name: "read_file", input: { path: "a" } });
/** A call of a tool that the server runs, and its result. */
export const search = (id: string): Json => ({ type: "server_tool_use", id, name: "web_search", input: {} });
export const found = (id: string): Json => ({ type: "web_search_tool_result", tool_use_id: id, content: [] });
