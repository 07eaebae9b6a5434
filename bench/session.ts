/** Sessions of any length. */
import { encodeEntry } from "../src/apis/responses/items.ts";
import { livePorts } from "../src/cli/live_ports.ts";
import { decodeUtf8Leniently } from "../src/domain/bytes.ts";
import type { EventDraft } from "../src/domain/event.ts";
import { endpointHashes, type Fingerprint, parseBaseUrl } from "../src/domain/fingerprint.ts";
import type { FoldedEntry } from "../src/domain/folded.ts";
import { GrowingSha256, sha256Hex } from "../src/domain/hash.ts";
import { parseSessionId, type SessionId } from "../src/domain/ids.ts";
import { callIdOf } from "../src/domain/item.ts";
import { advanceManifest, encodeManifest, type Manifest } from "../src/domain/manifest.ts";
import type { Files } from "../src/domain/ports.ts";
import { encodeTurn, type Pins, type TurnDraft, turnFileName } from "../src/domain/turn.ts";
import { FOLD_VERSION } from "../src/fold/fold.ts";
import { denoFiles } from "../src/store/deno_files.ts";
import { openHome } from "../src/store/home.ts";
import { SessionWriter } from "../src/store/write/writer.ts";

/** The endpoint that sessions and fixtures name; nothing is sent there. */
export const BASE_URL = "https://api.example.com/v1";
export const MODEL = "gpt-5.6";
/** The id of a session that is alone in its home. */
export const ID: SessionId = parseSessionId("bench");

const HASHES = endpointHashes(parseBaseUrl(BASE_URL));
export const FINGERPRINT: Fingerprint = { provider: "openai", ...HASHES, account: null };
/** Instructions and tools. */
const BLOBS = ["You are an engineer.", "[]"].map((text) => new TextEncoder().encode(text));
const [instructions = "", tools = ""] = BLOBS.map((blob) => sha256Hex(blob));
const PLACE = { permissions: ["read"], workspace: "/workspace" } as const;
const PINS: Pins = { fingerprint: FINGERPRINT, model: MODEL, instructions, tools, ...PLACE };
const AT = "2026-11-21T20:18:00.000Z";
const TEXT = "The sum of order 17 is wrong because the tax is added before the discount. ".repeat(30);

/** Files that are not durable: thousands of fsyncs would take longer than what is measured. */
export const filesWithoutSync: Files = {
  ...denoFiles,
  createExclusive: (path, mode) => ({ ...denoFiles.createExclusive(path, mode), sync: () => {} }),
  syncDirectory: () => {},
};

/**
 * Creates a session of `turns` turns of 2 KB, in a new home or beside others. With `tail`, a checkpoint precedes the last
 * `tail` of them. Returns the names of the turn files, in order, and their bytes together.
 */
export async function makeSession(
  homePath: string,
  turns: number,
  { id = ID, tail = 0 }: { readonly id?: SessionId; readonly tail?: number } = {},
) {
  const ports = { ...livePorts(), files: filesWithoutSync };
  const writer = await SessionWriter.create(ports, openHome(ports, homePath, { create: true }), { id });
  for (const blob of BLOBS) writer.putBlob(blob);
  writer.close();
  const turnsPath = `${writer.path}/turns`;
  const files: string[] = [];
  let bytes = 0;
  let manifest: Manifest | null = null;
  const sums = new RequestSums();
  // Not by the writer, which replaces the manifest with each run.
  const write = (draft: TurnDraft) => {
    draft = sums.recorded(draft);
    const { turn, seq, sum } = manifest?.head ?? { turn: 0, seq: 0, sum: null };
    const place = { session: id, turn: turn + 1, firstSeq: seq + 1, prev: sum, at: AT };
    const encoded = encodeTurn(draft, place);
    const name = turnFileName(turn + 1);
    Deno.writeFileSync(`${turnsPath}/${name}`, encoded.bytes, { mode: 0o600, createNew: true });
    files.push(name);
    bytes += encoded.bytes.length;
    return manifest = advanceManifest(manifest, id, encoded.turn);
  };
  let last = write(promptDraft(1));
  for (let turn = 2; turn <= turns; turn++) {
    if (turn === turns - tail + 1) last = write(checkpointOf(last));
    last = write(draftOf(turn, last.head.seq));
  }
  const sizes = { turns: bytes, blobs: BLOBS.reduce((sum, { length }) => sum + length, 0) };
  const sealed = encodeManifest({ ...last, bytes: sizes });
  Deno.writeFileSync(`${writer.path}/manifest.json`, sealed.bytes, { mode: 0o600 });
  return { homePath, turnsPath, files, bytes };
}

/** Sums of the requests of a session without checkpoints, each computed from the text that was added to the one before. */
class RequestSums {
  readonly #body = new GrowingSha256();
  #comma = "";

  constructor() {
    const fields = {
      model: MODEL,
      instructions: decodeUtf8Leniently(BLOBS[0] ?? new Uint8Array()),
      tools: [],
    };
    this.#body.append(`${JSON.stringify(fields).slice(0, -1)},"input":[`);
  }

  /** Returns a turn with the sum of its request, and adds the turn to the later requests. */
  recorded(draft: TurnDraft): TurnDraft {
    const sum = this.#body.hex("]}");
    let afterReasoning = false;
    for (const event of draft.events) {
      const entry = entryOf(event, afterReasoning);
      afterReasoning = event.type === "reasoning";
      if (entry === null) continue;
      this.#body.append(`${this.#comma}${encodeEntry(entry)}`);
      this.#comma = ",";
    }
    return draft.kind === "model" ? { ...draft, request: { ...draft.request, body_sha256: sum } } : draft;
  }
}

function entryOf(event: EventDraft, keepId: boolean): FoldedEntry | null {
  switch (event.type) {
    case "user_message":
      return { kind: "user_message", content: event.content };
    case "reasoning":
      return { kind: "reasoning", item: event.item };
    case "assistant_message":
      return { kind: "assistant_message", item: event.item, keepId };
    case "tool_call":
      return { kind: "tool_call", item: event.item, callId: callIdOf(event.item) };
    case "tool_result": {
      const { call_id: callId, output = "" } = event;
      return { kind: "tool_result", callId, callType: "function_call", output };
    }
    default:
      return null;
  }
}

/** Creates `count` sessions of `turns` turns in a new home. */
export async function makeSessions(homePath: string, count: number, turns: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await makeSession(homePath, turns, { id: parseSessionId(`${ID}-${String(number).padStart(6, "0")}`) });
  }
}

/** Opens a session of `turns` turns for more, in a run that has begun. */
export async function openWriter(homePath: string, turns: number): Promise<SessionWriter> {
  await makeSession(homePath, turns);
  const ports = livePorts();
  const writer = await SessionWriter.open(ports, openHome(ports, homePath), { id: ID });
  writer.append(promptDraft(writer.end.run + 1));
  return writer;
}

/** The next model turns of a writer, each of 2 KB. */
export function nextAnswers({ end: { run, turn } }: SessionWriter, count: number): TurnDraft[] {
  return Array.from({ length: count }, (_, index) => answerDraft(run, turn + index));
}

/** The next model turn of a writer, with `count` calls of commands, and their results. */
export function nextBatch({ end: { run, seq } }: SessionWriter, count: number) {
  // A reasoning item is before the calls.
  const numbers = Array.from({ length: count }, (_, index) => seq + 2 + index);
  const calls = numbers.map((number): EventDraft => {
    const item = {
      type: "function_call",
      id: `fc_${number}`,
      call_id: `call_${number}`,
      status: "completed",
    };
    return { type: "tool_call", item: { ...item, name: "shell", arguments: '{"command":"make"}' } };
  });
  const results = numbers.map((call_seq): EventDraft => {
    const result = { type: "tool_result", call_seq, call_id: `call_${call_seq}`, tool: "shell" } as const;
    return { ...result, status: "ok", output: prose(1900) };
  });
  return { calls: modelDraft(run, seq, ...calls), results };
}

/** A turn that opens run `run`. */
export function promptDraft(run: number): TurnDraft {
  const content = [{ type: "input_text", text: prose(1900) } as const];
  return { kind: "user", run, pins: PINS, events: [{ type: "user_message", content }] };
}

function answerDraft(run: number, number: number): TurnDraft {
  const content = [{ type: "output_text", text: prose(400), annotations: [] }];
  const item = { id: `msg_${number}`, type: "message", role: "assistant", status: "completed", content };
  return modelDraft(run, number, { type: "assistant_message", item });
}

/** Turn `turn` of whole runs after the event `lastSeq`: a prompt, a call, its result, an answer, the end. */
function draftOf(turn: number, lastSeq: number): TurnDraft {
  const run = Math.ceil(turn / 5);
  const tool = "read_file";
  switch (turn % 5) {
    case 1:
      return promptDraft(run);
    case 2: {
      const place = { id: `fc_${turn}`, call_id: `call_${turn}`, status: "completed" };
      const item = { ...place, type: "function_call", name: tool, arguments: `{"path":"${prose(400)}"}` };
      return modelDraft(run, turn, { type: "tool_call", item });
    }
    case 3: {
      const call = { call_id: `call_${turn - 1}`, call_seq: lastSeq - 1, tool };
      const event = { type: "tool_result", ...call, status: "ok", output: prose(2100) } as const;
      return { kind: "tools", run, events: [event] };
    }
    case 4:
      return answerDraft(run, turn);
    default: {
      const usage = { input_tokens: 1624, cached_tokens: 0, output_tokens: 192, reasoning_tokens: 128 };
      const end = { type: "run_ended", run, state: "completed", exit_code: 0, usage } as const;
      return { kind: "harness", run, events: [end] };
    }
  }
}

/** A model turn with reasoning and `event`. */
function modelDraft(run: number, number: number, ...events: readonly EventDraft[]): TurnDraft {
  const blob = `gAAAA${prose(900)}`;
  const item = { id: `rs_${number}`, type: "reasoning", summary: [], encrypted_content: blob };
  const usage = { input_tokens: 812, output_tokens: 96, output_tokens_details: { reasoning_tokens: 64 } };
  const fields = { model: MODEL, instructions: { blob: instructions }, tools: { blob: tools } };
  const hash = sha256Hex(String(number));
  return {
    kind: "model",
    run,
    model: { asked: MODEL, answered: `${MODEL}-2026-08-01` },
    fingerprint: FINGERPRINT,
    response: { id: `resp_${number}`, status: "completed" },
    request: { body_sha256: hash, fold: FOLD_VERSION, fields, guard: { sent: 0, dropped: [] } },
    events: [{ type: "reasoning", item }, ...events, { type: "provider_usage", usage }],
  };
}

/** A checkpoint of all turns of `manifest`. */
function checkpointOf({ run, head }: Manifest): TurnDraft {
  const place = { to_seq: head.seq, to_turn: head.turn, previous_checkpoint: null, opening_turn: null };
  const text = { strategy: "deterministic", summary: prose(1000), limitations: [] } as const;
  const event = { type: "history_compaction", ...place, ...text } as const;
  return { kind: "compaction", run, pins: PINS, events: [event] };
}

/** `length` characters of text. */
function prose(length: number): string {
  return TEXT.slice(0, length);
}
