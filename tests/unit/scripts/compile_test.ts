import assert from "node:assert/strict";
import { join } from "node:path";
import { cutRuntime, endOfSectionHeaders, verifyTarball } from "../../../scripts/compile/runtime_from_npm.ts";
import { PERMISSION_FLAGS, putInPlace } from "../../../scripts/compile/build.ts";
import { hostTarget, parseTarget, TARGETS } from "../../../scripts/compile/targets.ts";
import { RepriseError } from "../../../src/domain/errors.ts";

/** A 64-bit little-endian ELF header that announces `entries` section headers of 64 bytes at `tableOffset`. */
function elfHeader(tableOffset: number, entries: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0x28, BigInt(tableOffset), true);
  view.setUint16(0x3a, 64, true);
  view.setUint16(0x3c, entries, true);
  return bytes;
}

function failsWith(code: string, pattern: RegExp) {
  return (error: unknown) =>
    error instanceof RepriseError && error.code === code && pattern.test(error.message);
}

Deno.test("the runtime ends where the section header table ends, whatever follows", () => {
  assert.equal(endOfSectionHeaders(elfHeader(128, 2, 128 + 2 * 64)), 256);
  assert.equal(endOfSectionHeaders(elfHeader(128, 2, 5000)), 256);
});

Deno.test("the end is found in a view that does not start at its buffer's first byte", () => {
  const shifted = new Uint8Array(1000);
  shifted.set(elfHeader(128, 2, 300), 7);
  assert.equal(endOfSectionHeaders(shifted.subarray(7)), 256);
});

Deno.test("a file that is no whole 64-bit ELF file is refused", () => {
  const bits32 = elfHeader(128, 2, 256);
  bits32[4] = 1;
  assert.throws(() => endOfSectionHeaders(bits32), failsWith("unexpected", /not a 64-bit/));
  assert.throws(() => endOfSectionHeaders(new Uint8Array(10)), failsWith("unexpected", /not a 64-bit/));
  assert.throws(
    () => endOfSectionHeaders(elfHeader(128, 2, 255)),
    failsWith("unexpected", /byte 256, the file has 255/),
  );
});

Deno.test("a package with other bytes than the pinned ones is refused", () => {
  assert.throws(
    () => verifyTarball(new TextEncoder().encode("other")),
    failsWith("unexpected", /sha512 is .+, expected mBnQ/),
  );
});

Deno.test("a runtime with other bytes than the pinned one is refused, even from a whole executable", () => {
  assert.throws(
    () => cutRuntime(elfHeader(128, 2, 300)),
    failsWith("unexpected", /sha256 is .+, expected 1b136202/),
  );
});

Deno.test("a target is known by its short name and by its triple", () => {
  for (const [name, triple] of Object.entries(TARGETS)) {
    assert.equal(parseTarget(name), name);
    assert.equal(parseTarget(triple), name);
    assert.equal(hostTarget(triple), name);
  }
  assert.throws(() => parseTarget("amiga"), failsWith("usage", /"amiga"/));
  assert.equal(hostTarget("sparc-sun-solaris"), null);
});

Deno.test("the binary gets all permissions, so that no path is resolved before the kernel gets it", () => {
  assert.deepEqual(PERMISSION_FLAGS, ["--allow-all"]);
});

Deno.test("--out may name a folder that does not exist yet, and replaces an executable", () => {
  const directory = Deno.makeTempDirSync({ prefix: "reprise-out-" });
  try {
    const out = join(directory, "new/folder/reprise");
    for (const text of ["first", "second"]) {
      Deno.writeTextFileSync(join(directory, "fresh"), text);
      putInPlace(join(directory, "fresh"), out);
      assert.equal(Deno.readTextFileSync(out), text);
    }
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
