/** Content codings (RFC 9110 §8.4) of bodies: whole ones, streams, and live answers. Decoded lengths are bounded. */
import { pipeline, type Transform } from "node:stream";
import zlib from "node:zlib";
import { concatBytes } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { discard, releasedBody } from "./http.ts";
import { ZstdFrames, type ZstdPiece } from "./zstd_frames.ts";

/** Factor by which a body longer than its free allowance may grow. */
const MAX_RATIO = 200;
/** Limits of any stream, in bytes. */
const STREAM_LIMITS: DecodedLimits = { maxBytes: 1024 * 1024 * 1024, freeBytes: 16 * 1024 * 1024 };
const MAX_CODINGS = 5;
/** Most frames of a whole body in zstd: each takes some time to decode, however short it is. */
const MAX_FRAMES = 16 * 1024;
/** First byte of gzip. Some tools and runtimes decode gzip and leave the header in place. */
const GZIP_MARK = 0x1f;

/** Parses `content-encoding`: lower-case names, the coding applied last at the end; `identity` is left out. */
export function contentCodings(header: string | null | undefined): string[] {
  return (header ?? "").split(",").map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
}

type Chunks = AsyncIterable<Uint8Array>;

interface Coding {
  readonly decode: (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;
  /** Decodes a stream that begins with the byte `first`. */
  readonly stream: (source: Chunks, first: number) => Chunks;
}

const GZIP: Coding = {
  decode: zlib.gunzipSync,
  stream: (source, first) => first === GZIP_MARK ? transformed(source, zlib.createGunzip()) : source,
};
const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ["gzip", GZIP],
  ["x-gzip", GZIP],
  ["deflate", {
    decode: (bytes, options) =>
      (isInflatable(bytes[0] ?? 0) ? zlib.inflateSync : zlib.inflateRawSync)(bytes, options),
    stream: (source, first) =>
      transformed(source, isInflatable(first) ? zlib.createInflate() : zlib.createInflateRaw()),
  }],
  ["br", { decode: decodeBrotli, stream: brotliStream }],
  ["zstd", { decode: decodeZstd, stream: zstdStream }],
]);

/** True for the first byte of zlib's header, of method 8. Many servers omit that header. */
function isInflatable(first: number): boolean {
  return (first & 0x0f) === 8;
}

/** Limits of a decoded body, in bytes. */
interface DecodedLimits {
  readonly maxBytes: number;
  /** Length that any body may decode to, however short its encoded form is. */
  readonly freeBytes: number;
}

/** A decoded body, or the reason why it was not decoded; `limit` in bytes. */
type DecodedBody =
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly flaw: "unknown" | "damaged"; readonly cause?: unknown }
  | { readonly flaw: "too_long"; readonly limit: number };

/** Decodes a whole body; `name` is one coding in lower case. */
export function decodeBody(
  encoded: Uint8Array,
  name: string,
  { maxBytes, freeBytes }: DecodedLimits,
): DecodedBody {
  const coding = CODINGS.get(name);
  if (coding === undefined) return { flaw: "unknown" };
  if (encoded.length === 0) return { bytes: new Uint8Array() };
  const limit = Math.min(maxBytes, Math.max(freeBytes, encoded.length * MAX_RATIO));
  try {
    return { bytes: withoutBuffer(coding.decode(encoded, { maxOutputLength: limit })) };
  } catch (cause) {
    return cause instanceof RangeError ? { flaw: "too_long", limit } : { flaw: "damaged", cause };
  }
}

/** Returns the same memory as a plain array: other code would treat the runtime's `Buffer` differently from an array. */
function withoutBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

/** True if every named coding is known, and they are few. */
export function canDecode(codings: readonly string[]): boolean {
  return codings.length <= MAX_CODINGS && codings.every((name) => CODINGS.has(name));
}

/**
 * Decodes a stream, each chunk as early as possible. {@linkcode canDecode} must hold for `codings`.
 *
 * @throws {RepriseError} while it is read: `bad_stream` for damaged bytes and for a body over the limits, `stream_cut`
 * for a body that breaks off.
 */
export function decodeStream(body: Chunks, codings: readonly string[], limits = STREAM_LIMITS): Chunks {
  return codings.reduceRight(
    (encoded, name) => decodeOne(encoded, CODINGS.get(name) as Coding, limits),
    body,
  );
}

async function* decodeOne(body: Chunks, coding: Coding, limits: DecodedLimits): AsyncGenerator<Uint8Array> {
  let [received, decoded, broke] = [0, 0, false];
  const iterator = body[Symbol.asyncIterator]();
  const rest: Chunks = { [Symbol.asyncIterator]: () => iterator };
  let first = await iterator.next();
  while (!first.done && first.value.length === 0) first = await iterator.next();
  if (first.done) return;
  const start = first.value;
  const source = (async function* () {
    try {
      for await (const chunk of withFirst(start, rest)) {
        received += chunk.length;
        yield chunk;
      }
    } catch (error) {
      broke = true;
      throw error;
    }
  })();
  try {
    for await (const chunk of coding.stream(source, start[0] as number)) {
      decoded += chunk.length;
      if (decoded > Math.min(limits.maxBytes, Math.max(limits.freeBytes, received * MAX_RATIO))) {
        throw new RepriseError(
          "bad_stream",
          `The compressed answer of the server has grown to ${decoded} bytes`,
          { hint: "No model answers like this: check the upstream URL" },
        );
      }
      yield withoutBuffer(chunk);
    }
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    // Z_BUF_ERROR: the bytes ended before the data.
    if (broke || (error as { code?: unknown }).code === "Z_BUF_ERROR") throw cut(error);
    throw new RepriseError("bad_stream", "The compressed answer of the server is damaged", { cause: error });
  }
}

/** Passes a stream through a decoder, as it comes. Bytes after the end of what it decodes are not taken. */
function transformed(source: Chunks, decoder: Transform): Chunks {
  return pipeline(source, decoder, () => {});
}

/** A byte after the end of a stream of brotli: its decoder reports no cut, but takes this byte if it needs more. */
const AFTER_END = new Uint8Array(1);

function decodeBrotli(bytes: Uint8Array, options: { readonly maxOutputLength: number }): Uint8Array {
  const { buffer, engine } = zlib.brotliDecompressSync(concatBytes([bytes, AFTER_END]), {
    ...options,
    info: true,
  }) as unknown as { buffer: Uint8Array; engine: { bytesWritten: number } };
  if (engine.bytesWritten > bytes.length) throw cut();
  return buffer;
}

async function* brotliStream(source: Chunks): AsyncGenerator<Uint8Array> {
  const decoder = zlib.createBrotliDecompress();
  let [received, isOver] = [0, false];
  const marked = (async function* () {
    for await (const chunk of source) {
      received += chunk.length;
      yield chunk;
    }
    isOver = true;
    yield AFTER_END;
  })();
  try {
    for await (const chunk of transformed(marked, decoder)) {
      if (isOver && decoder.bytesWritten > received) break;
      yield chunk;
    }
  } catch (error) {
    throw isOver ? cut(error) : error;
  }
  if (decoder.bytesWritten > received) throw cut();
}

function decodeZstd(
  bytes: Uint8Array,
  { maxOutputLength }: { readonly maxOutputLength: number },
): Uint8Array {
  const frames = new ZstdFrames();
  const decoded: Uint8Array[] = [];
  let [left, start, end] = [maxOutputLength, 0, 0];
  for (const { bytes: piece, isLast } of frames.split(bytes)) {
    // Skippable frames are between the pieces.
    if (start === end) start = piece.byteOffset - bytes.byteOffset;
    end = piece.byteOffset - bytes.byteOffset + piece.length;
    if (!isLast) continue;
    const frame = zlib.zstdDecompressSync(bytes.subarray(start, end), { maxOutputLength: Math.max(left, 1) });
    left -= frame.length;
    if (left < 0) throw new RangeError("more bytes than allowed");
    if (decoded.push(frame) > MAX_FRAMES) throw new TypeError("too many frames of zstd");
    start = end;
  }
  if (!frames.isWhole) throw cut();
  return concatBytes(decoded);
}

async function* zstdStream(source: Chunks): AsyncGenerator<Uint8Array> {
  const frames = new ZstdFrames();
  const pieces = (async function* () {
    for await (const chunk of source) yield* frames.split(chunk);
    if (!frames.isWhole) throw cut();
  })();
  // Pieces are passed one at a time: the runtime throws an error in a later block where nothing can catch it.
  async function* oneFrame(piece: ZstdPiece): AsyncGenerator<Uint8Array> {
    yield piece.bytes;
    while (!piece.isLast) {
      piece = (await pieces.next()).value as ZstdPiece;
      yield piece.bytes;
    }
  }
  try {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      yield* transformed(oneFrame(next.value), zlib.createZstdDecompress());
    }
  } finally {
    await pieces.return(undefined);
  }
}

function cut(cause?: unknown): RepriseError {
  return new RepriseError("stream_cut", "The compressed answer of the server broke off", { cause });
}

/**
 * Decodes a live answer that is compressed although `identity` was requested. Versions of the runtime differ in whether
 * they decode gzip already, and the header does not show it: the first byte does. Any other coding is `bad_stream`.
 */
export function decodeAnswer(body: AsyncIterable<Uint8Array>, headers: Headers): AsyncIterable<Uint8Array> {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return body;
  return releasedBody(decodeGzip(body, coding), () => discard(body));
}

async function* decodeGzip(body: Chunks, coding: string): AsyncGenerator<Uint8Array> {
  if (CODINGS.get(coding) === GZIP) return yield* decodeOne(body, GZIP, STREAM_LIMITS);
  await discard(body);
  throw new RepriseError("bad_stream", `The server answered in the encoding ${JSON.stringify(coding)}`, {
    hint: "The request accepts only plain text: a proxy in between may compress the answer",
  });
}

async function* withFirst(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* rest;
  } finally {
    await discard(rest);
  }
}
