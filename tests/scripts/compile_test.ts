import assert from "node:assert/strict";
import { resolve } from "node:path";
import { endOfSectionHeaders } from "../../scripts/compile/elf.ts";
import { isVisible, PERMISSION_FLAGS, VISIBLE_VARIABLES } from "../../scripts/compile/permissions.ts";
import { cutRuntime, verifyTarball } from "../../scripts/compile/runtime_from_npm.ts";
import { hostTarget, parseTarget, TARGETS } from "../../scripts/compile/targets.ts";
import { withoutComments } from "../../scripts/house/source_text.ts";
import { readTree } from "../../scripts/house/tree.ts";
import { ReprError } from "../../src/domain/errors.ts";

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
  return (error: unknown) => error instanceof ReprError && error.code === code && pattern.test(error.message);
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

Deno.test("what is no whole 64-bit ELF file is refused", () => {
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

Deno.test("the binary gets no permission to load libraries, and no whole environment", () => {
  const names = PERMISSION_FLAGS.map((flag) => flag.split("=")[0]);
  assert.deepEqual(names, [
    "--no-prompt",
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-env",
    "--ignore-env",
    "--allow-run",
    "--allow-sys",
  ]);
  assert.ok(PERMISSION_FLAGS.includes(`--allow-env=${VISIBLE_VARIABLES.join(",")}`));
  assert.ok(!VISIBLE_VARIABLES.includes("*"));
});

Deno.test("each variable that a source asks for by name is visible to the binary", async () => {
  const files = await readTree(resolve(import.meta.dirname ?? ".", "../.."));
  const sources = files.filter((file) => file.path.startsWith("src/") && file.path.endsWith(".ts"));
  const name =
    /"((?:REPRISE|OPENAI|ANTHROPIC|AZURE|XDG|DENO|NODE)_[A-Z_]+|[A-Z]+_PROXY)"|\benv(?:\.get)?\("(\w+)"\)/g;
  const asked = sources.flatMap((file) =>
    [...withoutComments(file.text).matchAll(name)].map((match) => match[1] ?? match[2] ?? "")
  );
  assert.ok(asked.includes("HOME"), "found no source that asks for HOME: the pattern is stale");
  assert.deepEqual(asked.filter((name) => !isVisible(name)), []);
  assert.equal(isVisible("AWS_SECRET_ACCESS_KEY"), false);
});
