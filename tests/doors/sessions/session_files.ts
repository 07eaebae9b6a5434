/** Sessions on disk, written as docs/format.md says, by code that shares nothing with the program. */
import { type Json, sha256 } from "../../support/files.ts";

/** A file with its seal; `open` is a JSON object without its closing brace, with a comma at its end. */
export function sealed(open: string): string {
  return `${open}"sum":"${sha256(open)}"}\n`;
}

/** A turn as a test gives it: `seq` of the events, `prev`, `at` and the seal are added. */
export interface GivenTurn {
  readonly kind: string;
  /** @default {1} */
  readonly run?: number;
  readonly session?: string;
  readonly events: readonly Json[];
  /** Members that its kind needs, such as `pins`. */
  readonly [member: string]: Json;
}

/** Content of the blobs that {@linkcode PINS} names. */
export const INSTRUCTIONS = "You are a careful agent.";
export const TOOLS = "[]";
/** Of `https://api.openai.com/v1`: the first digits of its sha256. */
export const FINGERPRINT = { provider: "openai", endpoint: "d9617135", account: null };
/** The pins of a run. */
export const PINS = {
  fingerprint: FINGERPRINT,
  model: "gpt-5.6",
  instructions: sha256(INSTRUCTIONS),
  tools: sha256(TOOLS),
  permissions: ["read"],
  workspace: "/workspace",
};

const USAGE = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

/** A prompt, which opens a run. */
export const user = (text: string, run = 1): GivenTurn => ({
  kind: "user",
  run,
  pins: PINS,
  events: [{ type: "user_message", content: [{ type: "input_text", text }] }],
});

/** A run that continues without a prompt. */
export const continued = (run: number): GivenTurn => ({
  kind: "harness",
  run,
  pins: PINS,
  events: [{ type: "run_continued", run }],
});

/** A completed response with these items. */
export const model = (items: readonly Json[], run = 1, members: Json = {}): GivenTurn => ({
  kind: "model",
  run,
  model: { asked: "gpt-5.6", answered: "gpt-5.6-2026-08-01" },
  fingerprint: { ...FINGERPRINT, account: "7be1000000000000" },
  response: { id: "resp_1", status: "completed" },
  request: {
    body_sha256: "0".repeat(64),
    fold: 1,
    fields: { model: "gpt-5.6", instructions: { blob: PINS.instructions } },
    guard: { sent: 0, dropped: [] },
  },
  ...members,
  events: [
    ...items.map((item) => ({ type: EVENT_OF[item.type] ?? "provider_item", item })),
    { type: "provider_usage", usage: { input_tokens: 1, output_tokens: 1 } },
  ],
});

const EVENT_OF: Readonly<Record<string, string>> = {
  reasoning: "reasoning",
  function_call: "tool_call",
  message: "assistant_message",
};

export const reasoning = (id: string, blob = "gAAAA"): Json => ({
  id,
  type: "reasoning",
  summary: [],
  encrypted_content: blob,
});

export const call = (id: string): Json => ({
  id: `fc_${id}`,
  type: "function_call",
  call_id: id,
  name: "read_file",
  arguments: "{}",
});

export const message = (id: string, text: string): Json => ({
  id,
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

/** The results of calls, each with the `seq` of its call. */
export const results = (calls: Readonly<Record<string, number>>, run = 1): GivenTurn => ({
  kind: "tools",
  run,
  events: Object.entries(calls).map(([call_id, call_seq]) => ({
    type: "tool_result",
    call_id,
    call_seq,
    tool: "read_file",
    status: "ok",
    output: `output of ${call_id}`,
  })),
});

/** The end of a run. */
export const ended = (run = 1, state = "completed", exit_code = 0): GivenTurn => ({
  kind: "harness",
  run,
  events: [{ type: "run_ended", run, state, exit_code, usage: USAGE }],
});

/** A prompt, two calls, their results, an answer and the end: ten events in five turns. */
export const FIVE_TURNS: readonly GivenTurn[] = [
  user("Read both."),
  model([reasoning("rs_1"), call("call_a"), call("call_b")]),
  results({ call_a: 3, call_b: 4 }),
  model([message("msg_1", "Done.")]),
  ended(),
];

/** A checkpoint of everything up to the end of a turn. */
export const checkpoint = (
  to: { readonly turn: number; readonly seq: number },
  opening: number | null,
  { run = 2, ...members }: { readonly run?: number; readonly [member: string]: Json } = {},
): GivenTurn => ({
  kind: "compaction",
  run,
  pins: PINS,
  events: [{
    ...{ type: "history_compaction", to_seq: to.seq, to_turn: to.turn, previous_checkpoint: null },
    ...{ opening_turn: opening, strategy: "deterministic", summary: `Up to ${to.seq}.`, limitations: [] },
    ...members,
  }],
});

/** The withdrawal of the checkpoint at a seq; `restored` is then in force again. */
export const withdrawal = (seq: number, restored: Json, run = 2): GivenTurn => ({
  kind: "harness",
  run,
  events: [{ type: "compaction_withdrawn", checkpoint: seq, restored }],
});

/** The directory of a session. */
export class SessionFiles {
  readonly path: string;
  readonly id: string;
  readonly #turns: Json[] = [];

  /** Writes a session with the blobs of {@linkcode PINS}, these turns, and the manifest that fits them. */
  constructor(home: string, id: string, turns: readonly GivenTurn[]) {
    this.id = id;
    this.path = `${home}/sessions/${id}`;
    for (const directory of ["turns", "blobs"]) {
      Deno.mkdirSync(`${this.path}/${directory}`, { recursive: true, mode: 0o700 });
    }
    this.blob(INSTRUCTIONS);
    this.blob(TOOLS);
    for (const turn of turns) this.add(turn);
    this.writeManifest();
  }

  /** Path of a turn's file. */
  turn(number: number): string {
    return `${this.path}/turns/${String(number).padStart(6, "0")}.json`;
  }

  get manifest(): string {
    return `${this.path}/manifest.json`;
  }

  /** Writes a blob; returns its name. */
  blob(content: string): string {
    const name = sha256(content);
    write(`${this.path}/blobs/${name}`, content);
    return name;
  }

  /** Adds a turn after the last one. */
  add({ kind, run = 1, session = this.id, events, ...members }: GivenTurn): this {
    const number = this.#turns.length + 1;
    const last = this.#turns.at(-1);
    const first = (last?.seq[1] ?? 0) + 1;
    const lines = events.map((event, index) => `  ${JSON.stringify({ seq: first + index, ...event })}`);
    const head = JSON.stringify({
      format: "reprise.turn/1",
      session,
      turn: number,
      kind,
      run,
      seq: [first, first + events.length - 1],
      prev: last?.sum ?? null,
      at: new Date(Date.UTC(2026, 10, 21, 20, 18) + number * 1000).toISOString(),
      ...members,
    });
    const text = sealed(`${head.slice(0, -1)},\n "events":[\n${lines.join(",\n")}],\n `);
    this.#turns.push(JSON.parse(text));
    write(this.turn(number), text);
    return this;
  }

  /** Writes the manifest of the turns; returns its members. */
  writeManifest(): Json {
    const events = this.#turns.flatMap(({ events }) => events);
    const [first, last] = [this.#turns[0], this.#turns.at(-1)];
    const ends = events.filter(({ type }) => type === "run_ended");
    const withdrawn = events.filter(({ type }) => type === "compaction_withdrawn");
    const checkpoint = this.#turns.findLast(({ kind, seq }) =>
      kind === "compaction" && !withdrawn.some((event) => event.checkpoint === seq[0])
    );
    const title = events.find(({ type }) => type === "user_message")?.content
      .map(({ text }: Json) => text).join(" ").replaceAll(/\s+/g, " ").trim().slice(0, 80);
    const manifest = {
      format: "reprise.manifest/1",
      session: this.id,
      family: first.session,
      title: title ?? "",
      created_at: first.at,
      updated_at: last.at,
      head: { turn: last.turn, seq: last.seq[1], sum: last.sum },
      run: last.run,
      state: ends.find(({ run }: Json) => run === last.run)?.state ?? "open",
      pins: this.#turns.findLast(({ pins }) => pins !== undefined).pins,
      usage: ends.reduce((sum, { usage }) => added(sum, usage), USAGE),
      checkpoint: checkpoint === undefined ? null : {
        turn: checkpoint.turn,
        seq: checkpoint.seq[0],
        to_turn: checkpoint.events[0].to_turn,
        to_seq: checkpoint.events[0].to_seq,
        opening_turn: checkpoint.events[0].opening_turn,
      },
      bytes: { turns: this.#sizeOf("turns"), blobs: this.#sizeOf("blobs") },
    };
    write(this.manifest, sealed(`${JSON.stringify(manifest).slice(0, -1)},\n `));
    return manifest;
  }

  #sizeOf(directory: string): number {
    return [...Deno.readDirSync(`${this.path}/${directory}`)]
      .reduce((sum, { name }) => sum + Deno.statSync(`${this.path}/${directory}/${name}`).size, 0);
  }

  /** Edits the text of a sealed file and seals it again, as a careful vandal would. */
  edit(path: string, change: (text: string) => string): void {
    const text = Deno.readTextFileSync(path);
    const changed = change(text);
    if (changed === text) throw new Error(`Nothing to change in ${path}`);
    write(path, sealed(changed.slice(0, changed.lastIndexOf('"sum"'))));
  }

  /** Puts another last turn in place, which fits the turns before it. */
  replaceLast(turn: GivenTurn): void {
    this.#turns.pop();
    this.add(turn);
  }
}

function added(a: Json, b: Json): Json {
  return Object.fromEntries(Object.keys(a).map((name) => [name, a[name] + b[name]]));
}

/** Writes a file as the program does: for its owner alone. */
export function write(path: string, content: string): void {
  Deno.writeTextFileSync(path, content, { mode: 0o600 });
  Deno.chmodSync(path, 0o600);
}
