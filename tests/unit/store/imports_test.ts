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

for (const name of ["home.ts", "read/show.ts", "read/turn_file.ts"]) {
  Deno.test(`${name} loads no schema library, so that ls and show start quickly`, () => {
    const loaded = importsOf(new URL(`../../../src/store/${name}`, import.meta.url));
    assert.ok(!loaded.has("zod"), [...loaded].join("\n"));
    assert.ok(loaded.size > 3);
  });
}

Deno.test("reading for a request does load it", () => {
  assert.ok(importsOf(new URL("../../../src/store/read/session.ts", import.meta.url)).has("zod"));
});
