import assert from "node:assert/strict";
import * as fc from "fast-check";
import { decodeUtf8, decodeUtf8Exactly } from "../../../src/domain/bytes.ts";
import { test } from "../../support/test.ts";

/** Bytes that are UTF-8 often enough, with marks, U+FFFD itself, and pieces of longer characters. */
const PIECES = [
  [0x41],
  [0xef, 0xbb, 0xbf],
  [0xef, 0xbf, 0xbd],
  [0xc3, 0xa9],
  [0xf0, 0x9f, 0x98, 0x80],
  [0xc3],
  [
    0xed,
    0xa0,
    0x80,
  ],
  [0xff],
  [0x80],
  [0xc0, 0x80],
];

function textOrError(decode: (bytes: Uint8Array) => string, bytes: Uint8Array): string | null {
  try {
    return decode(bytes);
  } catch (error) {
    assert.ok(error instanceof TypeError);
    return null;
  }
}

test.long("decoding accepts and returns the same as a strict decoder", () => {
  const strict = new TextDecoder("utf-8", { fatal: true });
  const strictWithMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), (pieces) => {
      const bytes = new Uint8Array(pieces.flat());
      assert.equal(textOrError(decodeUtf8, bytes), textOrError((it) => strict.decode(it), bytes));
      assert.equal(
        textOrError(decodeUtf8Exactly, bytes),
        textOrError((it) => strictWithMark.decode(it), bytes),
      );
    }),
    { numRuns: 2000 },
  );
});
