/** The README and docs/promises.md name what is there. */
import assert from "node:assert/strict";
import { checkSeal } from "../../../src/domain/seal.ts";

const ROOT = new URL("../../../", import.meta.url);
const README = Deno.readTextFileSync(new URL("README.md", ROOT));

Deno.test("the turn file that the README shows is a real one: its checksum fits", () => {
  const shown = /```text\n(\{"format":"reprise\.turn\/1"[\s\S]*?\n)```/.exec(README)?.[1];
  assert.ok(shown !== undefined, "the README shows no turn file");
  assert.ok(checkSeal(new TextEncoder().encode(shown)) !== null, "it does not fit its own sum");
});

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

Deno.test("every promise of docs/promises.md names tests that are there", () => {
  const page = Deno.readTextFileSync(new URL("docs/promises.md", ROOT));
  const rows = page.split("\n").filter((line) => /^\| [^-]/.test(line) && !line.startsWith("| promise "));
  assert.ok(rows.length >= 24, String(rows.length));
  for (const row of rows) {
    const paths = [...row.matchAll(/`(tests\/[\w./-]+)`/g)].map(([, path = ""]) => path);
    assert.ok(paths.length > 0, row);
    for (const path of paths) assert.ok(Deno.statSync(new URL(path, ROOT)), path);
  }
});
