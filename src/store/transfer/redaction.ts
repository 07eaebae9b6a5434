/**
 * Redacts a session: replaces secrets in texts of turns and blobs, leaves opaque items untouched, seals every turn again
 * and marks each changed turn.
 */
import type { RedactionReport } from "../../schemas/maintenance.ts";
import { encodeUtf8 } from "../../domain/bytes.ts";
import { GrowingSha256 } from "../../domain/hash.ts";
import { objectOf } from "../../domain/exact_json.ts";
import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  numberMember,
  objectMember,
} from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import {
  addCounts,
  RedactingStream,
  redactText,
  type SecretCounts,
  totalCount,
  type ValueRedactor,
} from "../../domain/redact.ts";
import { seal } from "../../domain/seal.ts";
import type { Redaction, Turn } from "../../domain/turn.ts";
import { blobPath, blobsOf, foreignContent } from "../blobs.ts";
import { ANY_LINEAGE } from "../read/lineage.ts";
import { HistoryValidator, parseCandidate } from "../read/validate.ts";
import { chunksOf } from "../read/safe_open.ts";
import type { SessionPaths } from "../layout.ts";

/** A blob that replaces another. */
interface RedactedBlob {
  readonly sha256: string;
  readonly bytes: number;
  readonly counts: SecretCounts;
}

export interface RedactedSession {
  readonly report: RedactionReport;
  /** Each turn with the bytes of its file, in order. */
  readonly turns: readonly { readonly turn: Turn; readonly bytes: Uint8Array }[];
  /** Replacements, by the name of the replaced blob. */
  readonly blobs: ReadonlyMap<string, RedactedBlob>;
}

/** Members that only their provider can read: their bytes stay unchanged. */
const OPAQUE: ReadonlySet<string> = new Set(["encrypted_content", "signature", "data"]);
/** Members with identifiers: a change on one side would break the reference. */
const NAMES: ReadonlySet<string> = new Set([
  "format",
  "session",
  "kind",
  "type",
  "prev",
  "at",
  "sum",
  "id",
  "call_id",
  "sha256",
  "blob",
  "body_sha256",
  "fingerprint",
  "parent",
  "lineage",
]);

/** Redacts a whole history, `known` secrets included. `there` are the existing blobs. Throws the runtime's errors. */
export function redactSession(
  ports: Ports,
  paths: SessionPaths,
  { turns, whole, there, known }: {
    readonly turns: readonly Turn[];
    /** The same turns with the content of omitted items. */
    readonly whole: readonly Turn[];
    readonly there: ReadonlySet<string>;
    readonly known: ValueRedactor | null;
  },
): RedactedSession {
  const kinds: SecretCounts = {};
  const blobs = new Map<string, RedactedBlob>();
  for (const sha256 of there) {
    const blob = redactBlob(ports, paths, { sha256, known });
    if (blob === null) continue;
    blobs.set(sha256, blob);
    addCounts(kinds, blob.counts);
  }
  const validator = new HistoryValidator(paths.id, { lineage: () => ANY_LINEAGE });
  const touched: { turn: number; kinds: SecretCounts }[] = [];
  const redacted = turns.map((turn, index) => {
    const inTurn: SecretCounts = {};
    const keyless = withoutKeys(turn as unknown as JsonObject);
    const before = known?.counts.known ?? 0;
    const texts = redactedValue(keyless, inTurn, known) as JsonObject;
    addKnown(inTurn, known, before);
    addCounts(kinds, inTurn);
    for (const sha256 of new Set(blobsOf(turn).map((use) => use.sha256))) {
      addCounts(inTurn, blobs.get(sha256)?.counts ?? {});
    }
    if (totalCount(inTurn) > 0) touched.push({ turn: turn.turn, kinds: inTurn });
    const value = withBlobs(texts, blobs);
    const bytes = resealed(value, {
      prev: validator.end.sum,
      replaced: totalCount(inTurn),
      mark: keyless !== whole[index] as unknown,
    });
    const judged = parseCandidate(validator, bytes, `redact turn ${turn.turn} of session "${paths.id}"`);
    validator.advance(judged);
    return { turn: judged, bytes };
  });
  return { report: { replaced: totalCount(kinds), kinds, turns: touched }, turns: redacted, blobs };
}

/** The text of a blob without its secrets, in pieces. Throws a `TypeError` if it is not UTF-8. */
export function* redactedChunks(
  chunks: Iterable<Uint8Array>,
  known: ValueRedactor | null,
  stream = new RedactingStream(),
): Generator<Uint8Array> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const chunk of withoutKnown(chunks, known)) {
    yield encodeUtf8(stream.feed(decoder.decode(chunk, { stream: true })));
  }
  yield encodeUtf8(stream.feed(decoder.decode()) + stream.end());
}

function* withoutKnown(chunks: Iterable<Uint8Array>, known: ValueRedactor | null): Generator<Uint8Array> {
  if (known === null) return yield* chunks;
  const stream = known.stream();
  for (const chunk of chunks) yield stream.feed(chunk);
  yield stream.end();
}

/** Adds the number of known secrets that were replaced since the count was `before`. */
function addKnown(counts: SecretCounts, known: ValueRedactor | null, before: number): void {
  const replaced = (known?.counts.known ?? 0) - before;
  if (replaced > 0) addCounts(counts, { known: replaced });
}

/** Returns the replacement of a blob, or `null` if the blob holds no secret or is not text. */
function redactBlob(
  ports: Ports,
  paths: SessionPaths,
  { sha256, known }: { readonly sha256: string; readonly known: ValueRedactor | null },
): RedactedBlob | null {
  const knownBefore = known?.counts.known ?? 0;
  const path = blobPath(paths, sha256);
  const stream = new RedactingStream();
  const [before, after] = [new GrowingSha256(), new GrowingSha256()];
  let bytes = 0;
  try {
    for (const chunk of redactedChunks(before.appending(chunksOf(ports, path)), known, stream)) {
      after.append(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    // The decoder's error for bytes that are not UTF-8.
    if (error instanceof TypeError) return null;
    throw error;
  }
  const { counts } = stream;
  addKnown(counts, known, knownBefore);
  if (totalCount(counts) === 0) return null;
  if (before.hex() !== sha256) {
    throw foreignContent(paths, path);
  }
  return { sha256: after.hex(), bytes, counts };
}

/** A value with its texts redacted; adds the secrets that it recognises by their shape to `counts`. */
function redactedValue(value: JsonValue, counts: SecretCounts, known: ValueRedactor | null): JsonValue {
  if (typeof value === "string") {
    const redacted = redactText(known === null ? value : known.text(value));
    addCounts(counts, redacted.counts);
    return redacted.text;
  }
  if (Array.isArray(value)) return value.map((each) => redactedValue(each, counts, known));
  if (!isJsonObject(value) || isRawNumber(value)) return value;
  return objectOf(
    Object.entries(value).map(([name, member]) => {
      const kept = member === undefined || OPAQUE.has(name) || NAMES.has(name);
      return [name, kept ? member : redactedValue(member, counts, known)];
    }),
  );
}

/**
 * Removes the hashes of keys: with a hash, the holder of a key could find out that it was used. Returns `turn` itself
 * if it has no such hash.
 */
function withoutKeys(turn: JsonObject): JsonObject {
  const fingerprint = withoutKey(turn.fingerprint);
  const events = (turn.events as readonly JsonObject[]).map((event) => {
    const scope = withoutKey(event.scope);
    if (scope === null && event.accounts === undefined) return event;
    const { accounts: _, ...rest } = event;
    return { ...rest, ...(scope === null ? {} : { scope }) };
  });
  const same = fingerprint === null && events.every((event, index) => event === (turn.events as [])[index]);
  return same ? turn : { ...turn, ...(fingerprint === null ? {} : { fingerprint }), events };
}

/** Returns a fingerprint or scope without its key; `null` if it has no key. */
function withoutKey(value: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(value) || value.key === undefined) return null;
  const { key: _, ...rest } = value;
  return rest;
}

/** Returns the turn with the new names of its blobs, in every member that may name a blob. */
function withBlobs(turn: JsonObject, blobs: ReadonlyMap<string, RedactedBlob>): JsonObject {
  if (blobs.size === 0) return turn;
  const renamed = (name: JsonValue | undefined) =>
    typeof name === "string" ? blobs.get(name)?.sha256 ?? name : name;
  const pins = objectMember(turn, "pins");
  const request = objectMember(turn, "request");
  const fields = request === undefined ? undefined : objectMember(request, "fields");
  return {
    ...turn,
    ...(pins === undefined
      ? {}
      : { pins: { ...pins, instructions: renamed(pins.instructions), tools: renamed(pins.tools) } }),
    ...(fields === undefined ? {} : {
      request: {
        ...request,
        fields: Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [
            name,
            isJsonObject(value) && typeof value.blob === "string"
              ? { ...value, blob: renamed(value.blob) }
              : value,
          ]),
        ),
      },
    }),
    events: (turn.events as readonly JsonObject[]).map((event) => {
      const mayNameBlob = event.type === "tool_result" || event.type === "attachment";
      const blob = mayNameBlob ? objectMember(event, "blob") : undefined;
      const now = blob === undefined ? undefined : blobs.get(String(blob.sha256));
      return now === undefined
        ? event
        : { ...event, blob: { ...blob, sha256: now.sha256, bytes: now.bytes } };
    }),
  };
}

/** Returns the bytes of a changed turn's file, with a new `prev` and seal. */
function resealed(
  turn: JsonObject,
  { prev, replaced, mark }: {
    readonly prev: string | null;
    readonly replaced: number;
    /** Mark the turn even if no text was replaced. */
    readonly mark: boolean;
  },
): Uint8Array {
  const { sum, events, redacted: before, ...rest } = turn;
  const earlier = isJsonObject(before) ? before : undefined;
  const count = replaced + (earlier === undefined ? 0 : numberMember(earlier, "replaced") ?? 0);
  const redacted: Redaction = { replaced: count, sum: String(earlier?.sum ?? sum) };
  const head = { ...rest, prev, ...(count > 0 || mark || earlier !== undefined ? { redacted } : {}) };
  const lines = (events as readonly JsonObject[]).map((event) => {
    return `  ${JSON.stringify(event.type === "session_fork" ? { ...event, sum: prev } : event)}`;
  });
  return seal(`${JSON.stringify(head).slice(0, -1)},\n "events":[\n${lines.join(",\n")}],\n `).bytes;
}
