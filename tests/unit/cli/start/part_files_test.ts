import assert from "node:assert/strict";
import { isIntact, withSum } from "../../../../src/cli/start/executable_sum.ts";
import { readFromExecutable, withFiles } from "../../../../src/cli/start/part_files.ts";

const ignore = Deno.build.os !== "linux";
const bytesOf = (text: string) => new TextEncoder().encode(text);
const FILES = new Map([["a.js", bytesOf("first")], ["empty", bytesOf("")], ["a.code", bytesOf("second")]]);

/** An executable of Linux: a header, some content, a table of two sections, and the bytes that a tool appended. */
function executable(appended: string): Uint8Array<ArrayBuffer> {
  const [tableAt, entryBytes, entries] = [100, 64, 2];
  const image = new Uint8Array(tableAt + entryBytes * entries).fill(7);
  const view = new DataView(image.buffer);
  view.setUint32(0, 0x7f454c46);
  view.setBigUint64(0x28, BigInt(tableAt), true);
  view.setUint16(0x3a, entryBytes, true);
  view.setUint16(0x3c, entries, true);
  return new Uint8Array([...image, ...bytesOf(appended)]);
}

async function withPath(test: (path: string) => void): Promise<void> {
  const directory = Deno.makeTempDirSync();
  try {
    test(`${directory}/file`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test({
  name:
    "files after the image of an executable are read from it, and earlier bytes after the image stay at the end",
  ignore,
  fn: () =>
    withPath((path) => {
      const before = executable("embedded by the compiler");
      const pieces = withFiles(before, FILES);
      Deno.writeFileSync(path, new Uint8Array(pieces.flatMap((piece) => [...piece])));
      const written = Deno.readFileSync(path);
      assert.deepEqual(written.subarray(0, 228), before.subarray(0, 228));
      assert.deepEqual(written.subarray(-24), bytesOf("embedded by the compiler"));
      const read = readFromExecutable(["a.code", "empty", "a.js"], path);
      assert.deepEqual(read, [bytesOf("second"), bytesOf(""), bytesOf("first")]);
    }),
});

Deno.test({
  name: "an executable with a checksum is intact until any byte of it is changed, missing or added",
  ignore,
  fn: () =>
    withPath((path) => {
      const pieces = withSum(withFiles(executable("embedded by the compiler"), FILES));
      const whole = new Uint8Array(pieces.flatMap((piece) => [...piece]));
      const found = (bytes: Uint8Array) => {
        Deno.writeFileSync(path, bytes);
        return isIntact(path);
      };
      assert.equal(found(whole), true);
      // The header tells where the index is, and the format that there is one.
      for (const at of [70, 227, 228 + 20, 228 + 120, 228 + 1000, 228 + 1024, whole.length - 1]) {
        assert.equal(found(whole.with(at, whole[at]! ^ 1)), false, `byte ${at}`);
      }
      for (const bytes of [whole.subarray(0, -1), whole.subarray(0, 900), new Uint8Array([...whole, 0])]) {
        assert.equal(found(bytes), false);
      }
      assert.equal(found(executable("embedded by the compiler")), null);
    }),
});

Deno.test({
  name: "an executable without files, one that is cut short, and one of another system have none",
  ignore,
  fn: () =>
    withPath((path) => {
      for (
        const bytes of [executable("embedded by the compiler"), executable(""), bytesOf("MZ"), bytesOf("")]
      ) {
        Deno.writeFileSync(path, bytes);
        assert.equal(readFromExecutable(["a.js"], path), null);
      }
      assert.throws(() => withFiles(bytesOf("MZ".repeat(100)), FILES), TypeError);
    }),
});
