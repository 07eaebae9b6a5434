import assert from "node:assert/strict";
import { join } from "node:path";
import { cutRuntime, verifyTarball } from "../../../scripts/compile/runtime_from_npm.ts";
import { putInPlace, requireLeftOut } from "../../../scripts/compile/build.ts";
import { whyUnreachable } from "../../../scripts/compile/official_runtime.ts";
import { test } from "../../support/test.ts";
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

Deno.test("a part that does not import what it leaves out is refused: the file has moved", () => {
  requireLeftOut("running", 'import("./far.ts")', ["./far.ts"]);
  assert.throws(
    () => requireLeftOut("running", 'import("./elsewhere/far.ts")', ["./far.ts"]),
    failsWith("unexpected", /\.\/far\.ts out of the part "running"/),
  );
});

/** Servers of the runtime, with the reason why nothing can be downloaded there. */
const SERVERS: Readonly<
  Record<string, readonly [answer: ((request: Request) => Promise<Response>) | null, why: RegExp | null]>
> = {
  "has the runtime": [() => Promise.resolve(new Response("")), null],
  "does not have it": [() => Promise.resolve(new Response("", { status: 404 })), /^status 404$/],
  "answers nothing": [(request) =>
    new Promise((resolve) => {
      // It answers when its client has left, so that the server can end.
      request.signal.addEventListener("abort", () => resolve(new Response()), { once: true });
    }), /time(?:d )?out/],
  "is not there": [null, /refused/],
};
for (const [what, [answer, why]] of Object.entries(SERVERS)) {
  test.long(`a build looks for at most a moment for a server that ${what}`, async () => {
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      answer ?? (() => new Response()),
    );
    const url = `http://127.0.0.1:${server.addr.port}/denort.zip`;
    if (answer === null) await server.shutdown();
    const began = performance.now();
    const found = await whyUnreachable(url, 300);
    assert.ok(performance.now() - began < 10_000);
    if (why === null) assert.equal(found, null);
    else assert.match(found ?? "", why);
    if (answer !== null) await server.shutdown();
  });
}
