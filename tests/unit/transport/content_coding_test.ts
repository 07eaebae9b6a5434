/** Content codings: whole, cut, damaged and overlong bodies, in chunks of any size. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import zlib from "node:zlib";
import fc from "fast-check";
import { concatBytes } from "../../../src/domain/bytes.ts";
import { decodeAnswer, decodeBody, decodeStream } from "../../../src/transport/content_coding.ts";
import { readText } from "../../../src/transport/http.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";

function bodyOf(bytes: Uint8Array, size = bytes.length) {
  let released = false;
  async function* chunks() {
    try {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    } finally {
      released = true;
    }
  }
  return { body: chunks(), released: () => released };
}

Deno.test("gzip that the runtime has undone is not undone again", async () => {
  const { body } = bodyOf(new TextEncoder().encode("data: plain\n\n"));
  const decoded = decodeAnswer(body, new Headers({ "content-encoding": "GZIP" }));
  assert.equal(await readText(decoded, 1000), "data: plain\n\n");
});

const LIMITS = { maxBytes: 32 * 1024 * 1024, freeBytes: 32 * 1024 * 1024 };
const TEXT = new TextEncoder().encode(
  Array.from({ length: 9000 }, (_, n) => `data: ${Math.sin(n).toString(36)}\n\n`).join(""),
);
const SKIPPABLE = new Uint8Array([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
const CHECKED = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } };

/** Ways to encode {@linkcode TEXT} that a decoder of one piece would get wrong. */
const ENCODED:
  readonly (readonly [coding: string, what: string, encode: (bytes: Uint8Array) => Uint8Array])[] = [
    ["gzip", "a member", zlib.gzipSync],
    ["gzip", "two members", (bytes) => inHalves(bytes, zlib.gzipSync)],
    ["deflate", "zlib's header", zlib.deflateSync],
    ["deflate", "no header", zlib.deflateRawSync],
    ["br", "a stream", zlib.brotliCompressSync],
    ["zstd", "a frame", zlib.zstdCompressSync],
    ["zstd", "a frame with a checksum", (bytes) => zlib.zstdCompressSync(bytes, CHECKED)],
    ["zstd", "two frames", (bytes) => inHalves(bytes, zlib.zstdCompressSync)],
    ["zstd", "a skippable frame first", (bytes) => concatBytes([SKIPPABLE, zlib.zstdCompressSync(bytes)])],
    ["zstd", "a skippable frame last", (bytes) => concatBytes([zlib.zstdCompressSync(bytes), SKIPPABLE])],
  ];

function inHalves(bytes: Uint8Array, encode: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  const half = bytes.length >> 1;
  return concatBytes([encode(bytes.subarray(0, half)), encode(bytes.subarray(half))]);
}

function bytesOf(encoded: Uint8Array, coding: string): Uint8Array | null {
  const decoded = decodeBody(encoded, coding, LIMITS);
  return "bytes" in decoded ? decoded.bytes : null;
}

/** Compares bytes, or two failures; a difference of long arrays would take the runner minutes to show. */
function isSame(found: Uint8Array | string | null, expected: Uint8Array | null): boolean {
  if (!(found instanceof Uint8Array) || expected === null) {
    return !(found instanceof Uint8Array) && expected === null;
  }
  return Buffer.compare(found, expected) === 0;
}

/** Decodes a body in chunks; bytes, or the code of the error. */
async function streamed(encoded: Uint8Array, coding: string, size: number): Promise<Uint8Array | string> {
  const { body, released } = bodyOf(encoded, size);
  try {
    return concatBytes(await Array.fromAsync(decodeStream(body, [coding])));
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    assert.ok(released());
  }
}

for (const [coding, what, encode] of ENCODED) {
  test.long(`${coding} with ${what} is decoded whole, and an error wherever it is cut`, async () => {
    const encoded = new Uint8Array(encode(TEXT));
    assert.ok(isSame(bytesOf(encoded, coding), TEXT));
    for (const size of [7, 1000, encoded.length]) {
      assert.ok(isSame(await streamed(encoded, coding, size), TEXT), `${size}`);
    }
    for (
      const left of [0.3, 0.8].map((part) => Math.floor(encoded.length * part)).concat(encoded.length - 1)
    ) {
      const cut = encoded.subarray(0, left);
      assert.equal((decodeBody(cut, coding, LIMITS) as { flaw?: string }).flaw, "damaged", `${left}`);
      for (const size of [1000, left]) {
        assert.equal(await streamed(cut, coding, size), "stream_cut", `${left}`);
      }
    }
  });
}

test.long("damage late in a large piece of any coding is an error that can be caught", async () => {
  const noise = TEXT.map((byte, at) => byte ^ at * at >> 3);
  for (const [coding, what, encode] of ENCODED.filter(([coding]) => coding !== "br")) {
    const encoded = new Uint8Array(encode(concatBytes(Array(8).fill(noise))));
    for (let at = Math.floor(encoded.length * 0.7); at < encoded.length - 12; at++) encoded[at] = 0x5a;
    for (const size of [1000, encoded.length]) {
      const found = await streamed(encoded, coding, size);
      assert.ok(
        found === "bad_stream" || found === "stream_cut" && coding !== "zstd",
        `${coding} with ${what}`,
      );
    }
  }
});

test.long("a body of zstd that grows without measure, in one frame or in many, is refused", async () => {
  const zeros = zlib.zstdCompressSync(new Uint8Array(24 * 1024 * 1024));
  const small = { maxBytes: 1024 * 1024, freeBytes: 1024 };
  assert.equal((decodeBody(zeros, "zstd", small) as { flaw?: string }).flaw, "too_long");
  assert.equal(await streamed(zeros, "zstd", 1000), "bad_stream");
  const frame = zlib.zstdCompressSync(new Uint8Array(1000));
  const frames = concatBytes(Array(2000).fill(frame));
  assert.equal((decodeBody(frames, "zstd", small) as { flaw?: string }).flaw, "too_long");
  const empty = concatBytes(Array(100_000).fill(zlib.zstdCompressSync(new Uint8Array())));
  assert.equal((decodeBody(empty, "zstd", small) as { flaw?: string }).flaw, "damaged");
});

/** Runs Debian's `zstd` on bytes; `null` if it fails. */
async function zstd(bytes: Uint8Array, ...args: readonly string[]): Promise<Uint8Array | null> {
  const child = new Deno.Command("zstd", {
    args: ["-q", "-c", ...args],
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  const sent = (async () => {
    const writer = child.stdin.getWriter();
    await writer.write(bytes as Uint8Array<ArrayBuffer>);
    await writer.close();
  })().catch(() => {/* it failed before it read all */});
  const { success, stdout } = await child.output();
  await sent;
  return success ? stdout : null;
}

const hasZstd = await zstd(new Uint8Array(), "--version").then((said) => said !== null, () => false);
const Content = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }),
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 9000 }))
    .map(([bytes, times]) => concatBytes(Array(times).fill(bytes))),
);
const Options = fc.constantFrom("-1", "-19", "--fast=5", "--no-check", "--long=27", "--no-content-size");
const Frames = fc.array(
  fc.oneof({ weight: 4, arbitrary: fc.tuple(Content, Options) }, { weight: 1, arbitrary: fc.constant(null) }),
  { minLength: 1, maxLength: 4 },
);
/** Part of the bytes that stays, or the bit that is flipped. */
const Change = fc.oneof(
  fc.constant({}),
  fc.record({ cut: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ flip: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), bit: fc.nat(7) }),
);

(hasZstd ? test.long : Deno.test.ignore)(
  `zstd decodes what the program zstd decodes, and refuses what it refuses${hasZstd ? "" : ": no zstd here"}`,
  async () => {
    await fc.assert(
      fc.asyncProperty(Frames, Change, fc.integer({ min: 1, max: 5000 }), async (frames, change, size) => {
        const whole = concatBytes(
          await Promise.all(
            frames.map(async (frame) =>
              frame === null ? SKIPPABLE : await zstd(frame[0], frame[1]) ?? assert.fail()
            ),
          ),
        );
        const encoded = "cut" in change ? whole.slice(0, 1 + change.cut * (whole.length - 1)) : whole;
        if ("flip" in change) {
          (encoded[Math.floor(change.flip * encoded.length)] as number) ^= 1 << change.bit;
        }
        const expected = await zstd(encoded, "-d");
        for (const found of [bytesOf(encoded, "zstd"), await streamed(encoded, "zstd", size)]) {
          // Versions of the library differ in the flipped bits that they forgive: refusing is right as well.
          const isRefused = "flip" in change && !(found instanceof Uint8Array);
          assert.ok(isRefused || isSame(found, expected));
        }
      }),
      { numRuns: samples(200) },
    );
  },
);
