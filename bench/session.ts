/**
 * Sessions of any length for the benches, written by the store's own writer.
 *
 * @module
 */
import { DEFAULT_INSTRUCTIONS } from "../src/cli/run/resolve_run.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import type { EventDraft } from "../src/domain/event.ts";
import { endpointHashes, type Fingerprint, parseBaseUrl } from "../src/domain/fingerprint.ts";
import { sha256Hex } from "../src/domain/hash.ts";
import { parseSessionId, type SessionId } from "../src/domain/ids.ts";
import { advanceManifest, encodeManifest, type Manifest } from "../src/domain/manifest.ts";
import type { Files, Ports } from "../src/domain/ports.ts";
import { encodeTurn, type Pins, type TurnDraft, turnFileName } from "../src/domain/turn.ts";
import { FOLD_VERSION } from "../src/fold/fold.ts";
import { denoFiles } from "../src/store/deno_files.ts";
import { openHome } from "../src/store/home.ts";
import type { HistoryEnd } from "../src/store/read/validate.ts";
import { SessionWriter } from "../src/store/write/writer.ts";
import { READING_TOOLS, toolSchemas } from "../src/tools/registry.ts";

/** The endpoint that the sessions and fixtures of the benches name; nothing is ever sent there. */
export const BASE_URL = "https://api.example.com/v1";
/** The model that they name. */
export const MODEL = "gpt-5.6";
/** Fingerprint of the model turns. */
export const FINGERPRINT: Fingerprint = {
  provider: "openai",
  ...endpointHashes(parseBaseUrl(BASE_URL)),
  account: null,
};
/** The id of every session here. */
export const ID: SessionId = parseSessionId("bench");

/** A run is a user turn, a call, its result, an answer, and the end. */
export const TURNS_A_RUN = 5;
/** Bytes of each turn but the last of a run, which is short: so the average is 2 KB. */
const PADDED_BYTES = 2430;
/** Bytes of the turn that {@linkcode answerDraft} makes. */
const ANSWER_BYTES = 2048;

const encoder = new TextEncoder();
const INSTRUCTIONS = encoder.encode(DEFAULT_INSTRUCTIONS);
const TOOLS = encoder.encode(JSON.stringify(toolSchemas(READING_TOOLS)));
const PINS: Pins = {
  fingerprint: FINGERPRINT,
  model: MODEL,
  instructions: sha256Hex(INSTRUCTIONS),
  tools: sha256Hex(TOOLS),
  permissions: ["read"],
  workspace: "/workspace",
};

/** Paths of a session of a bench. */
export interface BenchSession {
  readonly homePath: string;
  /** Its directory with the turn files. */
  readonly turnsPath: string;
  /** The names of the turn files, in order. */
  readonly files: readonly string[];
  /** Bytes of all turn files together. */
  readonly bytes: number;
}

/** Differences from a plain session. */
export interface SessionOptions {
  /** Turns that follow a checkpoint; the session has its turn as a further one. @default {no checkpoint} */
  readonly tail?: number;
}

/**
 * Makes a home with one session of `turns` turns. Most of them are written as files, which the store's writer then opens
 * and so checks: 100,000 turns would take it minutes, as each one replaces the manifest. Not durable.
 */
export async function makeSession(
  homePath: string,
  turns: number,
  { tail = 1 }: SessionOptions = {},
): Promise<BenchSession> {
  const ports = portsWithoutSync();
  const home = openHome(ports, homePath, { create: true });
  const turnsPath = `${homePath}/sessions/${ID}/turns`;
  const first = await SessionWriter.create(ports, home, { id: ID });
  putPinned(first);
  first.append(draftOf(1, 0));
  first.close();
  writeTurns(turnsPath, first.end, turns - tail);
  const writer = await SessionWriter.open(ports, home, { id: ID });
  try {
    if (tail > 1) writer.append(checkpointDraft(writer.end));
    for (let place = turns - tail + 1; place > 1 && place <= turns; place++) {
      writer.append(draftOf(place, writer.end.seq));
    }
  } finally {
    writer.close();
  }
  const files = [...Deno.readDirSync(turnsPath)].map(({ name }) => name).sort();
  const bytes = files.reduce((sum, name) => sum + Deno.statSync(`${turnsPath}/${name}`).size, 0);
  return { homePath, turnsPath, files, bytes };
}

/** Makes a home with `count` sessions of `turns` turns each, at least one. */
export async function makeSessions(homePath: string, count: number, turns: number): Promise<void> {
  await makeSession(homePath, turns);
  for (let number = 2; number <= count; number++) {
    const id = `${ID}-${String(number).padStart(6, "0")}`;
    const directory = `${homePath}/sessions/${id}`;
    for (const path of ["turns", "blobs"]) {
      Deno.mkdirSync(`${directory}/${path}`, { recursive: true, mode: 0o700 });
    }
    let manifest: Manifest | null = null;
    let bytes = 0;
    for (let turn = 1; turn <= turns; turn++) {
      const { seq = 0, sum = null } = manifest?.head ?? {};
      const at = new Date(Date.UTC(2026, 10, 21) + number * 1000).toISOString();
      const place = { session: id, turn, firstSeq: seq + 1, prev: sum, at };
      const encoded = encodeTurn(draftOf(turn, seq), place);
      Deno.writeFileSync(`${directory}/turns/${turnFileName(turn)}`, encoded.bytes, { mode: 0o600 });
      manifest = advanceManifest(manifest, id, encoded.turn);
      bytes += encoded.bytes.length;
    }
    if (manifest === null) throw new Error("A session with a turn has a manifest");
    const sealed = encodeManifest({ ...manifest, bytes: { turns: bytes, blobs: 0 } });
    Deno.writeFileSync(`${directory}/manifest.json`, sealed.bytes, { mode: 0o600 });
  }
}

/** Writes the files of the turns after `end`, up to turn `last`. */
function writeTurns(turnsPath: string, end: HistoryEnd, last: number): void {
  let { seq, sum: prev } = end;
  for (let turn = end.turn + 1; turn <= last; turn++) {
    const place = { session: ID, turn, firstSeq: seq + 1, prev, at: "2026-11-21T20:18:00.000Z" };
    const encoded = encodeTurn(draftOf(turn, seq), place);
    Deno.writeFileSync(`${turnsPath}/${turnFileName(turn)}`, encoded.bytes, { mode: 0o600, createNew: true });
    seq = encoded.turn.seq[1];
    prev = encoded.sum;
  }
}

/** A checkpoint of everything up to `end`, between two runs. */
function checkpointDraft(end: HistoryEnd): TurnDraft {
  return {
    kind: "compaction",
    run: end.run,
    pins: PINS,
    events: [{
      type: "history_compaction",
      to_seq: end.seq,
      to_turn: end.turn,
      previous_checkpoint: null,
      opening_turn: null,
      strategy: "deterministic",
      summary: prose(1000),
      limitations: [],
    }],
  };
}

/**
 * A second home with the same session, as `fork` makes one: immutable files are linked, the others copied. So
 * thousands of turns need no writing, and what is measured next does not wait for them to reach the disk.
 */
export function cloneHome(from: string, to: string): void {
  Deno.mkdirSync(to, { mode: 0o700 });
  for (const entry of Deno.readDirSync(from)) {
    const [source, target] = [`${from}/${entry.name}`, `${to}/${entry.name}`];
    if (entry.isDirectory) cloneHome(source, target);
    else if (/\/(turns|blobs)$/.test(from)) Deno.linkSync(source, target);
    else Deno.copyFileSync(source, target);
  }
}

/** Puts the blobs that the turns name. */
export function putPinned(writer: SessionWriter): void {
  writer.putBlob(INSTRUCTIONS);
  writer.putBlob(TOOLS);
}

/** A user turn that opens run `run`. */
export function userDraft(run: number): TurnDraft {
  return padded(PADDED_BYTES, (padding) => ({
    kind: "user",
    run,
    pins: PINS,
    events: [{ type: "user_message", content: [{ type: "input_text", text: prose(padding) }] }],
  }));
}

/** A model turn of 2 KB with reasoning and an answer; any number of them can follow each other. */
export function answerDraft(run: number, number: number): TurnDraft {
  return padded(ANSWER_BYTES, (padding) => answer(run, { number, padding }));
}

/** The draft of turn `turn` in a session of whole runs, after the event `lastSeq`. */
function draftOf(turn: number, lastSeq: number): TurnDraft {
  const run = Math.ceil(turn / TURNS_A_RUN);
  switch ((turn - 1) % TURNS_A_RUN) {
    case 0:
      return userDraft(run);
    case 1:
      return padded(PADDED_BYTES, (padding) => call(run, { number: turn, padding }));
    case 2:
      return padded(PADDED_BYTES, (padding) => result(run, { number: turn, padding, lastSeq }));
    case 3:
      return padded(PADDED_BYTES, (padding) => answer(run, { number: turn, padding }));
    default:
      return endDraft(run);
  }
}

interface Filling {
  /** Makes ids unique. */
  readonly number: number;
  /** Characters of filler. */
  readonly padding: number;
}

function call(run: number, { number, padding }: Filling): TurnDraft {
  return response(run, number, [reasoning(number, padding), {
    type: "tool_call",
    item: {
      id: `fc_${number}`,
      type: "function_call",
      call_id: `call_${number}`,
      name: "read_file",
      arguments: JSON.stringify({ path: `src/part_${number}.ts` }),
      status: "completed",
    },
  }]);
}

/** The result of the call in the turn before, whose last two events are the call and a usage. */
function result(
  run: number,
  { number, padding, lastSeq }: Filling & { readonly lastSeq: number },
): TurnDraft {
  return {
    kind: "tools",
    run,
    events: [{
      type: "tool_result",
      call_id: `call_${number - 1}`,
      call_seq: lastSeq - 1,
      tool: "read_file",
      status: "ok",
      output: prose(padding),
    }],
  };
}

function answer(run: number, { number, padding }: Filling): TurnDraft {
  const half = padding >> 1;
  return response(run, number, [reasoning(number, half), {
    type: "assistant_message",
    item: {
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: prose(padding - half), annotations: [] }],
    },
  }]);
}

function endDraft(run: number): TurnDraft {
  return {
    kind: "harness",
    run,
    events: [{
      type: "run_ended",
      run,
      state: "completed",
      exit_code: 0,
      usage: { input_tokens: 1624, cached_tokens: 0, output_tokens: 192, reasoning_tokens: 128 },
    }],
  };
}

function reasoning(number: number, padding: number): EventDraft {
  return {
    type: "reasoning",
    item: { id: `rs_${number}`, type: "reasoning", summary: [], encrypted_content: `gAAAA${prose(padding)}` },
  };
}

function response(run: number, number: number, items: readonly EventDraft[]): TurnDraft {
  return {
    kind: "model",
    run,
    model: { asked: MODEL, answered: `${MODEL}-2026-08-01` },
    fingerprint: FINGERPRINT,
    response: { id: `resp_${number}`, status: "completed" },
    request: {
      body_sha256: sha256Hex(String(number)),
      fold: FOLD_VERSION,
      fields: { model: MODEL, instructions: { blob: PINS.instructions }, tools: { blob: PINS.tools } },
      guard: { sent: 0, dropped: [] },
    },
    events: [...items, {
      type: "provider_usage",
      usage: {
        input_tokens: 812,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 96,
        output_tokens_details: { reasoning_tokens: 64 },
        total_tokens: 908,
      },
    }],
  };
}

/** The draft whose file has `bytes` bytes, give or take a digit or two of its numbers. */
function padded(bytes: number, make: (padding: number) => TurnDraft): TurnDraft {
  const place = {
    session: ID,
    turn: 1000,
    firstSeq: 10_000,
    prev: "0".repeat(64),
    at: "2026-11-21T20:18:00.000Z",
  };
  return make(bytes - encodeTurn(make(0), place).bytes.length);
}

const SENTENCE = "The sum of order 17 is wrong because the tax is added before the discount is taken off. ";

/** `length` characters of ASCII prose. */
function prose(length: number): string {
  return SENTENCE.repeat(Math.ceil(length / SENTENCE.length)).slice(0, length);
}

function portsWithoutSync(): Ports {
  return { ...livePorts(), files: denoFilesWithoutSync() };
}

/** Files that are not durable: thousands of fsyncs would take longer than what is measured. */
export function denoFilesWithoutSync(): Files {
  return {
    ...denoFiles,
    createExclusive: (path, mode) => ({ ...denoFiles.createExclusive(path, mode), sync: () => {} }),
    syncDirectory: () => {},
  };
}
