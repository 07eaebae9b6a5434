/**
 * A turn file's envelope: trust, seal, depth, JSON, format. Nothing here knows what a turn must hold, so that
 * `show` reads turns of any version without a schema.
 *
 * @module
 */
import { exactly } from "../../domain/exact_json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  stringMember,
} from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import { checkSeal } from "../../domain/seal.ts";
import { TURN_FORMAT } from "../../domain/turn.ts";
import { type Looked, readTrusted, type Refused } from "./safe_open.ts";

/** The largest turn file that is read or written, in bytes. Larger texts belong into `blobs/`. */
export const MAX_TURN_BYTES = 64 * 1024 * 1024;
/** The deepest nesting of arrays and objects in a turn file. */
export const MAX_DEPTH = 512;

/** A turn file whose bytes fit its seal, parsed and not yet judged. */
export interface Envelope {
  readonly status: "ok";
  readonly value: JsonObject;
  readonly sum: string;
  /** True when the file names a later version of the turn format than this one. */
  readonly newer: boolean;
}

/** Why a turn file is not believed. */
export interface Unbelieved {
  readonly status: "damaged";
  /** `bad_sum`, `bad_json`, `too_deep`, `bad_format`, or a code of {@linkcode Refused}. */
  readonly code: string;
  readonly message: string;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads one turn file, after a look at it unless that was done already. Throws the runtime's errors. */
export function readEnvelope(
  ports: Ports,
  path: string,
  { looked }: { readonly looked?: Looked } = {},
): Envelope | Unbelieved | { readonly status: "missing" } {
  const read = readTrusted(ports, path, { maxBytes: MAX_TURN_BYTES, looked });
  if (read.status === "refused") return unbelieved(read);
  if (read.status === "missing") return read;
  return openEnvelope(read.bytes);
}

/** Judges the bytes of a turn file: seal first, so that nothing of a torn or edited file is believed. */
export function openEnvelope(bytes: Uint8Array): Envelope | Unbelieved {
  const sum = checkSeal(bytes);
  if (sum === null) return damaged("bad_sum", whyUnsealed(bytes));
  if (isTooDeep(bytes)) return damaged("too_deep", `nests deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  let text: string;
  try {
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return damaged("bad_json", "is not JSON in UTF-8");
  }
  if (!isJsonObject(value)) return damaged("bad_json", "is not a JSON object");
  const version = formatVersion(value, "reprise.turn");
  if (version === null) return damaged("bad_format", `does not name the format "${TURN_FORMAT}"`);
  return { status: "ok", value: withExactItems(value, text), sum, newer: version > 1 };
}

/** Members of a turn's events that are a provider's own words. */
const PROVIDERS_OWN = ["item", "items", "usage"] as const;

/**
 * The turn with what the provider said kept to the letter, in the turns that hold such things. Every other number is
 * ours, and is an ordinary one.
 */
function withExactItems(turn: JsonObject, text: string): JsonObject {
  if (turn.kind !== "model" && turn.kind !== "compaction") return turn;
  const exact = exactly(turn, text);
  if (exact === turn || !Array.isArray(turn.events)) return turn;
  const exactEvents = exact.events as readonly JsonValue[];
  const events = (turn.events as readonly JsonValue[]).map((event, index) => {
    const own = exactEvents[index];
    if (!isJsonObject(event) || !isJsonObject(own)) return event;
    const said = PROVIDERS_OWN.filter((name) => Object.hasOwn(event, name)).map((name) => [name, own[name]]);
    return { ...event, ...Object.fromEntries(said) };
  });
  const response = objectMember(turn, "response");
  const { input_transformations } = objectMember(exact, "response") ?? {};
  return {
    ...turn,
    ...(input_transformations === undefined ? {} : { response: { ...response, input_transformations } }),
    events,
  };
}

/** What is wrong with bytes that do not fit their seal, as far as a look at them tells. */
function whyUnsealed(bytes: Uint8Array): string {
  if (bytes.length === 0) return "is empty";
  if (bytes.every((byte) => byte === 0)) return "holds nothing but zero bytes";
  const end = new TextDecoder("latin1").decode(bytes.subarray(-3));
  return end === '"}\n'
    ? "does not fit its checksum: it was altered"
    : "does not end with its checksum: it was cut short or overwritten";
}

/** The number in `"format": "<name>/<number>"`, or `null` when the member says anything else. */
export function formatVersion(value: JsonObject, name: string): number | null {
  const match = /^([a-z.]+)\/([1-9]\d{0,8})$/.exec(stringMember(value, "format") ?? "");
  return match !== null && match[1] === name ? Number(match[2]) : null;
}

const QUOTE = 0x22, BACKSLASH = 0x5c, OPEN_ARRAY = 0x5b, CLOSE_ARRAY = 0x5d, OPEN = 0x7b, CLOSE = 0x7d;

/** True when arrays and objects nest deeper than {@linkcode MAX_DEPTH}: found by scan, before any parser recurses. */
export function isTooDeep(bytes: Uint8Array): boolean {
  // A nest needs an opening and a closing byte for each level, so small files cannot be deep.
  if (bytes.length <= 2 * MAX_DEPTH) return false;
  // Searching for one byte is native: most files hold too few openers in all to be deep.
  if (countUpTo(bytes, OPEN, MAX_DEPTH) + countUpTo(bytes, OPEN_ARRAY, MAX_DEPTH) <= MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (inString) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN || byte === OPEN_ARRAY) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === CLOSE || byte === CLOSE_ARRAY) depth--;
  }
  return false;
}

/** How often `byte` occurs, counted no further than one past `limit`. */
function countUpTo(bytes: Uint8Array, byte: number, limit: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1 && count <= limit; at = bytes.indexOf(byte, at + 1)) count++;
  return count;
}

function unbelieved(refused: Refused): Unbelieved {
  return { status: "damaged", code: refused.code, message: refused.message };
}

function damaged(code: string, message: string): Unbelieved {
  return { status: "damaged", code, message };
}
