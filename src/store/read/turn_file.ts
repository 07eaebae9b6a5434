/**
 * The envelope of a turn file: safe open, seal, depth, JSON, format. Nothing here depends on the content of a turn, so that
 * `show` reads turns of any version without a schema.
 */
import { RepriseError } from "../../domain/errors.ts";
import { decodeLatin1, decodeUtf8Exactly } from "../../domain/bytes.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../../domain/json_depth.ts";
import { exactValue } from "../../domain/exact_json.ts";
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
import { orStorageError, sessionDamaged } from "../fs_errors.ts";
import { insideSession, type SessionPaths, turnPath } from "../layout.ts";
import { BRIEF_BYTES, type Looked, lookForFile, readSafely, type SafeBytes } from "./safe_open.ts";

/** The largest turn file that is read or written, in bytes. Larger texts belong in `blobs/`. */
export const MAX_TURN_BYTES = 64 * 1024 * 1024;

/** A turn file whose bytes fit its seal, parsed and not yet checked. */
export interface Envelope {
  readonly status: "ok";
  readonly value: JsonObject;
  readonly sum: string;
  /** Length of the file in bytes. */
  readonly size: number;
  /** True if the file names a later version of the turn format than this one. */
  readonly newer: boolean;
}

interface UnusableTurn {
  readonly status: "damaged";
  /** `bad_sum`, `bad_json`, `too_deep`, `bad_format`, or a code of `Refused` (safe_open.ts). */
  readonly code: string;
  readonly message: string;
}

/** A turn file that was opened, the reason why it is not used, or that there is none. */
type OpenedFile = Envelope | UnusableTurn | { readonly status: "missing" };

/**
 * Inspects and reads the bytes of a turn file, which are valid until the next one is read; `looked` is an earlier
 * inspection. Throws the runtime's errors.
 */
export function peekTurnFile(ports: Ports, path: string, looked = lookForFile(ports, path)): SafeBytes {
  return readSafely(ports, path, { maxBytes: MAX_TURN_BYTES, looked, into: BRIEF_BYTES });
}

/** Reads a turn file as {@linkcode peekTurnFile} does, and opens it. */
export function readEnvelope(ports: Ports, path: string, looked?: Looked): OpenedFile {
  const read = peekTurnFile(ports, path, looked);
  if (read.status === "refused") return { ...read, status: "damaged" };
  return read.status === "missing" ? read : openEnvelope(read.bytes);
}

/** Checks the bytes of a turn file: the seal first, so that no part of a torn or edited file is used. */
export function openEnvelope(bytes: Uint8Array): Envelope | UnusableTurn {
  const sum = checkSeal(bytes);
  if (sum === null) return unusable("bad_sum", whyUnsealed(bytes));
  let value: unknown;
  let text: string;
  try {
    text = decodeUtf8Exactly(bytes);
    if (isTooDeep(text)) return unusable("too_deep", `nests deeper than ${MAX_JSON_DEPTH} levels`);
    value = JSON.parse(text);
  } catch {
    return unusable("bad_json", "is not JSON in UTF-8");
  }
  if (!isJsonObject(value)) return unusable("bad_json", "is not a JSON object");
  const version = value.format === TURN_FORMAT ? 1 : formatVersion(value, "reprise.turn");
  if (version === null) return unusable("bad_format", `does not name the format "${TURN_FORMAT}"`);
  const size = bytes.length;
  return { status: "ok", value: withExactItems(value, text), sum, size, newer: version > 1 };
}

/** Members of a turn's events that hold a provider's data verbatim. */
const PROVIDERS_OWN = ["item", "items", "usage"] as const;

/**
 * Keeps the spelling of numbers in the provider's members. All other numbers are ours, which JavaScript spells the
 * same.
 */
function withExactItems(turn: JsonObject, text: string): JsonObject {
  if (turn.kind !== "model" && turn.kind !== "compaction") return turn;
  const exact = exactValue(turn, text);
  if (exact === turn || !Array.isArray(turn.events)) return turn;
  const exactEvents = exact.events as readonly JsonValue[];
  const events = (turn.events as readonly JsonValue[]).map((event, index) => {
    const exactEvent = exactEvents[index];
    if (!isJsonObject(event) || !isJsonObject(exactEvent)) return event;
    const said = PROVIDERS_OWN.filter((name) => Object.hasOwn(event, name)).map((
      name,
    ) => [name, exactEvent[name]]);
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

/** Describes bytes that do not fit their seal. */
function whyUnsealed(bytes: Uint8Array): string {
  if (bytes.length === 0) return "is empty";
  if (bytes.every((byte) => byte === 0)) return "holds nothing but zero bytes";
  const end = decodeLatin1(bytes.subarray(-3));
  return end === '"}\n'
    ? "does not fit its checksum: it was altered"
    : "does not end with its checksum: it was cut short or overwritten";
}

/** The number in `"format": "<name>/<number>"`, or `null` for any other value. */
export function formatVersion(value: JsonObject, name: string): number | null {
  const match = /^([a-z.]+)\/([1-9]\d{0,8})$/.exec(stringMember(value, "format") ?? "");
  return match !== null && match[1] === name ? Number(match[2]) : null;
}

function unusable(code: string, message: string): UnusableTurn {
  return { status: "damaged", code, message };
}

/**
 * Reads the bytes of one turn file, whether or not they fit their checksum: for the inspection of damage.
 *
 * @throws {RepriseError} `no_such_session` if there is no such turn; `session_damaged` for anything but a file of
 * ours; `storage_*`.
 */
export function readTurnBytes(ports: Ports, paths: SessionPaths, turn: number): Uint8Array {
  const { id } = paths;
  const path = turnPath(paths, turn);
  const read = orStorageError(`read turn ${turn} of session "${id}"`, path, () => {
    return readSafely(ports, path, { maxBytes: MAX_TURN_BYTES });
  });
  if (read.status === "refused") throw sessionDamaged(paths, path, read);
  if (read.status === "missing") {
    throw new RepriseError(
      "no_such_session",
      `Cannot show turn ${turn} of session "${id}": there is no ${insideSession(paths, path)}`,
      {
        hint: `List the turns with "reprise show ${id} --turns"`,
      },
    );
  }
  return read.bytes;
}
