/**
 * Content codings (RFC 9110 §8.4) of bodies: whole ones, streams, and live answers. Decoded lengths are bounded.
 *
 * @module
 */
import { pipeline, Readable, type Transform } from "node:stream";
import zlib from "node:zlib";
import { RepriseError } from "../domain/errors.ts";
import { discard } from "./http.ts";

/** Factor by which a body longer than its free allowance may grow. */
const MAX_RATIO = 200;
/** Largest decoded stream, in bytes. */
const MAX_DECODED_STREAM = 1024 * 1024 * 1024;
/** Length that any stream may decode to, in bytes. */
const FREE_STREAM_BYTES = 16 * 1024 * 1024;
/** First byte of gzip. Some tools and runtimes decode gzip and leave the header in place. */
const GZIP_MARK = 0x1f;

/** Parses `content-encoding`: lower-case names, the coding applied last at the end; `identity` is left out. */
export function contentCodings(header: string | null | undefined): string[] {
  return (header ?? "").split(",").map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
}

interface Coding {
  readonly decode: (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;
  /** Creates a decoder for a stream that begins with the byte `first`; `null` if there is nothing to decode. */
  readonly stream: (first: number) => Transform | null;
}

const GZIP: Coding = {
  decode: zlib.gunzipSync,
  stream: (first) => first === GZIP_MARK ? zlib.createGunzip() : null,
};
const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ["gzip", GZIP],
  ["x-gzip", GZIP],
  ["deflate", {
    decode: zlib.inflateSync,
    // Many servers omit the two bytes of the zlib header, which begins with method 8.
    stream: (first) => (first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw(),
  }],
  ["br", { decode: zlib.brotliDecompressSync, stream: () => zlib.createBrotliDecompress() }],
  ["zstd", { decode: zlib.zstdDecompressSync, stream: () => zlib.createZstdDecompress() }],
]);

/** Limits of a decoded body, in bytes. */
export interface DecodedLimits {
  readonly maxBytes: number;
  /** Length that any body may decode to, however short its encoded form is. */
  readonly freeBytes: number;
}

/** A decoded body, or the reason why it was not decoded; `limit` in bytes. */
export type DecodedBody =
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

/** True if every named coding is known. */
export function canDecode(codings: readonly string[]): boolean {
  return codings.every((name) => CODINGS.has(name));
}

/**
 * Decodes a stream, each chunk as early as possible. {@linkcode canDecode} must hold for `codings`.
 *
 * @throws {RepriseError} while it is read: `bad_stream` for damaged bytes and for a body over the limits, `stream_cut`
 * for a body that breaks off.
 */
export function decodeStream(
  body: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): AsyncIterable<Uint8Array> {
  return codings.reduceRight((encoded, name) => decodeOne(encoded, CODINGS.get(name) as Coding), body);
}

async function* decodeOne(body: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  let [received, decoded, broke] = [0, 0, false];
  const iterator = body[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return;
  const source = (async function* () {
    try {
      for (let next: IteratorResult<Uint8Array> = first; !next.done; next = await iterator.next()) {
        received += next.value.length;
        yield next.value;
      }
    } catch (error) {
      broke = true;
      throw error;
    }
  })();
  const decoder = coding.stream(first.value[0] ?? 0);
  if (decoder === null) return yield* source;
  pipeline(Readable.from(source, { objectMode: false }), decoder, () => {
    // The loop below reports errors.
  });
  try {
    for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
      decoded += chunk.length;
      if (decoded > Math.min(MAX_DECODED_STREAM, Math.max(FREE_STREAM_BYTES, received * MAX_RATIO))) {
        throw grown(decoded);
      }
      yield withoutBuffer(chunk);
    }
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    // Z_BUF_ERROR: the bytes ended before the data.
    if (broke || (error as { code?: unknown }).code === "Z_BUF_ERROR") {
      throw new RepriseError("stream_cut", "The compressed answer of the server broke off", { cause: error });
    }
    throw damagedAnswer(error);
  } finally {
    decoder.destroy();
  }
}

function grown(bytes: number): RepriseError {
  return new RepriseError("bad_stream", `The compressed answer of the server has grown to ${bytes} bytes`, {
    hint: "No model answers like this: check the upstream URL",
  });
}

function damagedAnswer(cause: unknown): RepriseError {
  return new RepriseError("bad_stream", "The compressed answer of the server is damaged", { cause });
}

/**
 * Decodes a live answer that is compressed although `identity` was requested. Versions of the runtime differ in whether
 * they decode gzip already, and the header does not show it: the first byte does. Any other coding is `bad_stream`.
 */
export function decodeAnswer(body: AsyncIterable<Uint8Array>, headers: Headers): AsyncIterable<Uint8Array> {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return body;
  const decoding = decodeGzip(body, coding);
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => decoding.next(),
      async return() {
        await decoding.return(undefined);
        // A generator that never started does not release its source.
        await discard(body);
        return { done: true, value: undefined };
      },
    }),
  };
}

async function* decodeGzip(body: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => iterator };
  if (CODINGS.get(coding) !== GZIP) {
    await discard(rest);
    throw new RepriseError("bad_stream", `The server answered in the encoding ${JSON.stringify(coding)}`, {
      hint: "The request accepts only plain text: a proxy in between may compress the answer",
    });
  }
  const first = await iterator.next();
  if (first.done) return;
  const source = ReadableStream.from(withFirst(first.value, rest));
  if (first.value[0] !== GZIP_MARK) {
    yield* source;
    return;
  }
  try {
    yield* source.pipeThrough(
      new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>,
    );
  } catch (error) {
    if (error instanceof RepriseError || !(error instanceof TypeError)) throw error;
    throw damagedAnswer(error);
  }
}

async function* withFirst(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* rest;
  } finally {
    await discard(rest);
  }
}
