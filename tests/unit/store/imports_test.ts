import assert from "node:assert/strict";

/** Everything that a module imports at run time, itself and what those import. Types cost nothing and are left out. */
function importsOf(module: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(module.href)) return seen;
  seen.add(module.href);
  const text = Deno.readTextFileSync(module);
  for (const match of text.matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)";$/gms)) {
    const name = match[1] as string;
    if (name.startsWith(".")) importsOf(new URL(name, module), seen);
    else seen.add(name);
  }
  return seen;
}

for (const name of ["home.ts", "read/show.ts", "read/session.ts", "write/writer.ts", "check/fsck.ts"]) {
  Deno.test(`store/${name} loads no schema library: building schemas takes longer than reading a session`, () => {
    const loaded = importsOf(new URL(`../../../src/store/${name}`, import.meta.url));
    assert.ok(!loaded.has("zod"), [...loaded].join("\n"));
    assert.ok(loaded.size > 3);
  });
}

Deno.test("the search for imports finds a schema library", () => {
  assert.ok(importsOf(new URL("../../../src/fixture/read.ts", import.meta.url)).has("zod"));
});
