import assert from "node:assert/strict";
import { join } from "node:path";
import { cutRuntime, verifyTarball } from "../../../scripts/compile/runtime_from_npm.ts";
import { PERMISSION_FLAGS, putInPlace } from "../../../scripts/compile/build.ts";
import { hostTarget, parseTarget, TARGETS } from "../../../scripts/compile/targets.ts";
import { RepriseError } from "../../../src/domain/errors.ts";

function failsWith(code: string, pattern: RegExp) {
  return (error: unknown) =>
    error instanceof RepriseError && error.code === code && pattern.test(error.message);
}

Deno.test("a package with other bytes than the pinned ones is refused", () => {
  assert.throws(
    () => verifyTarball(new TextEncoder().encode("other")),
    failsWith("unexpected", /sha512 is .+, expected kp5Q/),
  );
});

Deno.test("a runtime with other bytes than the pinned one is refused, even from a whole executable", () => {
  assert.throws(
    () => cutRuntime(new Uint8Array(300)),
    failsWith("unexpected", /sha256 is .+, expected f12d5d38/),
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
