/**
 * Answers that are compressed although `identity` was asked for. Whether the runtime has undone it already
 * differs between its versions, and the header does not tell: the first bytes do.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import { discard } from "./http.ts";

/** The body as the server meant it. What `content-encoding` names beside gzip cannot be undone: `bad_stream`. */
export function decoded(body: AsyncIterable<Uint8Array>, headers: Headers): AsyncIterable<Uint8Array> {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return body;
  const decoding = decodeGzip(body, encoding);
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => decoding.next(),
      async return() {
        await decoding.return(undefined);
        // A generator that never started does not get to release what it would have read.
        await discard(body);
        return { done: true, value: undefined };
      },
    }),
  };
}

async function* decodeGzip(body: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => iterator };
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    await discard(rest);
    throw new RepriseError("bad_stream", `The server answered in the encoding ${JSON.stringify(encoding)}`, {
      hint: "Only plain text was asked for: a proxy in between may be compressing it",
    });
  }
  const first = await iterator.next();
  if (first.done) return;
  const source = ReadableStream.from(withFirst(first.value, rest));
  if (first.value[0] !== 0x1f) {
    yield* source;
    return;
  }
  try {
    yield* source.pipeThrough(
      new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>,
    );
  } catch (error) {
    if (error instanceof RepriseError || !(error instanceof TypeError)) throw error;
    throw new RepriseError("bad_stream", "The compressed answer of the server is damaged", { cause: error });
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
