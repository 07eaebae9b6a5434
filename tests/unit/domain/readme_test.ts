/** The README and docs/guarantees.md name what is there. */
import assert from "node:assert/strict";

const ROOT = new URL("../../../", import.meta.url);
const README = Deno.readTextFileSync(new URL("README.md", ROOT));

Deno.test("the README shows the picture of a terminal before its first heading, with a text for screen readers", () => {
  const [top = ""] = README.split(/^## /m);
  assert.match(top, /!\[[^\]]{20,}\]\(docs\/terminal\.svg\)/);
});

Deno.test("the README has about 150 lines, names the demo and the gate, and installs in its second section", () => {
  assert.ok(README.trimEnd().split("\n").length <= 165);
  assert.match(README.split(/^## /m)[2] ?? "", /^Install\n/);
  for (const task of ["demo", "test", "compile"]) {
    assert.ok(README.includes(`npx -y deno@2.9.6 task ${task}`));
  }
});

/** Names of the files below a folder. */
function namesBelow(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? namesBelow(new URL(`${name}/`, folder)) : [name]
  );
}

Deno.test("every promise of docs/guarantees.md names tests that are there, in whatever folder", () => {
  const page = Deno.readTextFileSync(new URL("docs/guarantees.md", ROOT));
  const names = new Set(namesBelow(new URL("tests/", ROOT)));
  for (const [, name = ""] of page.matchAll(/`([\w/-]+_test\.ts)`/g)) {
    assert.ok(names.has(name), `${name}: name the test that shows this promise now`);
  }
  const rows = [...page.matchAll(/^\| promise .*\n\|[ -|]+\n((?:\|.*\n)+)/gm)]
    .flatMap(([, table = ""]) => table.trimEnd().split("\n"));
  assert.ok(rows.length >= 40, String(rows.length));
  for (const row of rows) assert.match(row, /_test\.ts`|`tests\/\w/);
});
